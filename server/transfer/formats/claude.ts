// Conversations of Claude's data export: an array in `conversations.json`.
import { z } from 'zod'
import {
  argumentsText,
  type Draft,
  type DraftFile,
  type DraftNode,
  type DraftStep,
  draftNode,
  looseFlag,
  looseList,
  looseName,
  looseText,
  resultText,
  timeOf,
} from '../draft.ts'

/** The parent of a first message. */
const ROOT = '00000000-0000-4000-8000-000000000000'

const Block = z.looseObject({
  type: z.string(),
  id: looseName,
  tool_use_id: looseName,
  name: looseText,
  text: looseText,
  thinking: looseText,
  input: z.unknown().optional(),
  content: z.unknown().optional(),
})
type Block = z.output<typeof Block>
const Message = z.looseObject({
  uuid: z.string().min(1),
  parent_message_uuid: looseName,
  sender: z.string(),
  text: looseText,
  content: looseList(Block),
  created_at: z.unknown().optional(),
  attachments: looseList(z.looseObject({ file_name: looseText, extracted_content: looseText })),
  files: looseList(z.looseObject({ file_name: looseText })),
})
type Message = z.output<typeof Message>
const ClaudeConversation = z.looseObject({
  uuid: z.string().min(1),
  name: looseText,
  model: looseName,
  is_starred: looseFlag,
  created_at: z.unknown().optional(),
  updated_at: z.unknown().optional(),
  current_leaf_message_uuid: looseName,
  chat_messages: z.array(z.unknown()),
})

/** @throws ZodError for anything but a conversation. */
export function readClaude(value: unknown): Draft {
  const given = ClaudeConversation.parse(value)
  const messages = looseList(Message).parse(given.chat_messages)
  // Older exports have no parents: the order is then the branch.
  const isLinked = messages.some(({ parent_message_uuid: parent }) => parent !== null)
  const nodes = messages.map((message, at): DraftNode => {
    const parent = isLinked ? message.parent_message_uuid : (messages[at - 1]?.uuid ?? null)
    return toNode(message, parent === ROOT ? null : parent, given.model)
  })
  return {
    origin: `claude:${given.uuid}`,
    title: given.name,
    model: given.model,
    pinned: given.is_starred,
    archived: false,
    tags: [],
    createdAt: timeOf(given.created_at),
    updatedAt: timeOf(given.updated_at),
    nodes,
    // If absent, the last branch is shown.
    leaf: given.current_leaf_message_uuid,
    skipped: [],
  }
}

function toNode(message: Message, parentId: string | null, model: string | null): DraftNode {
  const { uuid: id } = message
  const createdAt = timeOf(message.created_at)
  const files: DraftFile[] = [
    ...message.attachments.map(({ file_name: name, extracted_content: text }) => ({
      name: name || 'attachment.txt',
      text,
    })),
    ...message.files.map(({ file_name: name }) => ({ name, missing: true as const })),
  ]
  if (message.sender === 'human') {
    const said = message.content.flatMap(({ type, text }) => (type === 'text' ? [text] : []))
    const text = said.join('\n\n') || message.text
    return draftNode({ id, parentId, role: 'user', text, files, createdAt })
  }
  const steps = message.content.flatMap(toSteps)
  return draftNode({
    id,
    parentId,
    role: 'assistant',
    steps:
      steps.length > 0 || message.text === '' ? steps : [{ type: 'text', content: message.text }],
    files,
    model,
    createdAt,
  })
}

function toSteps(block: Block): DraftStep[] {
  switch (block.type) {
    case 'thinking':
      return [{ type: 'thinking', content: block.thinking }]
    case 'text':
      return [{ type: 'text', content: block.text }]
    case 'tool_use':
      return [
        {
          type: 'tool_call',
          callId: block.id,
          name: block.name,
          arguments: argumentsText(block.input),
        },
      ]
    case 'tool_result':
      return [
        {
          type: 'tool_result',
          callId: block.tool_use_id,
          name: block.name,
          content: resultText(block.content),
        },
      ]
    default:
      return []
  }
}
