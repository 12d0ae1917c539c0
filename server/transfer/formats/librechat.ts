// Conversations that LibreChat exported, one per file: a flat list or a tree of messages.
import { z } from 'zod'
import {
  argumentsText,
  type Draft,
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
const ROOT = '00000000-0000-0000-0000-000000000000'

const Text = z.union([
  z.string(),
  z.looseObject({ value: looseText }).transform(({ value }) => value),
])
const Part = z.looseObject({
  type: z.string(),
  text: Text.catch(''),
  think: Text.catch(''),
  tool_call: z
    .looseObject({
      id: looseName,
      name: looseText,
      args: z.unknown().optional(),
      output: looseName,
    })
    .nullish()
    .catch(null),
})
type Part = z.output<typeof Part>
const Message = z.looseObject({
  messageId: z.string().min(1),
  parentMessageId: looseName,
  isCreatedByUser: looseFlag,
  text: looseText,
  content: looseList(Part),
  model: looseName,
  error: looseFlag,
  createdAt: z.unknown().optional(),
  files: looseList(z.looseObject({ filename: looseText })),
  children: z.array(z.unknown()).nullish().catch(null),
})
type Message = z.output<typeof Message>
const LibreChatConversation = z
  .looseObject({
    conversationId: z.string().min(1),
    title: looseText,
    options: z
      .looseObject({
        model: looseName,
        promptPrefix: looseName,
        temperature: z.unknown().optional(),
      })
      .nullish()
      .catch(null),
    messages: z.array(z.unknown()).nullish(),
    messagesTree: z.array(z.unknown()).nullish(),
  })
  .refine(({ messages, messagesTree }) => (messages ?? messagesTree) != null)

/** @throws ZodError for anything but a conversation. */
export function readLibreChat(value: unknown): Draft {
  const given = LibreChatConversation.parse(value)
  const nodes = flatten(given.messagesTree ?? given.messages ?? [], given.options?.model ?? null)
  return {
    origin: `librechat:${given.conversationId}`,
    title: given.title,
    model: given.options?.model ?? null,
    systemPrompt: given.options?.promptPrefix ?? null,
    pinned: false,
    archived: false,
    tags: [],
    createdAt: null,
    updatedAt: null,
    nodes,
    leaf: nodes.at(-1)?.id ?? null,
    skipped: [],
  }
}

/** The messages of a list or a tree, parents first. A tree may be nested deeper than any call stack. */
function flatten(messages: readonly unknown[], model: string | null): DraftNode[] {
  const nodes: DraftNode[] = []
  const open: { message: unknown; parent: string | null }[] = messages
    .map((message) => ({ message, parent: null }))
    .reverse()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const read = Message.safeParse(next.message)
    if (!read.success) continue
    const { children, parentMessageId, messageId } = read.data
    const parent = next.parent ?? (parentMessageId === ROOT ? null : parentMessageId)
    nodes.push(toNode(read.data, parent, model))
    for (const child of [...(children ?? [])].reverse())
      open.push({ message: child, parent: messageId })
  }
  return nodes
}

function toNode(message: Message, parentId: string | null, model: string | null): DraftNode {
  const { messageId: id, text } = message
  const createdAt = timeOf(message.createdAt)
  const files = message.files.map(({ filename: name }) => ({ name, missing: true as const }))
  const said = message.content.flatMap(({ type, text: part }) => (type === 'text' ? [part] : []))
  if (message.isCreatedByUser)
    return draftNode({
      id,
      parentId,
      role: 'user',
      text: text || said.join('\n'),
      files,
      createdAt,
    })
  const steps = message.content.flatMap(toSteps)
  return draftNode({
    id,
    parentId,
    role: 'assistant',
    steps: steps.length > 0 || text === '' ? steps : [{ type: 'text', content: text }],
    files,
    model: message.model ?? model,
    status: message.error ? 'failed' : 'completed',
    createdAt,
  })
}

function toSteps({ type, text, think, tool_call: call }: Part): DraftStep[] {
  if (type === 'text') return [{ type: 'text', content: text }]
  if (type === 'think') return [{ type: 'thinking', content: think }]
  if (type !== 'tool_call' || call == null) return []
  const { id: callId, name } = call
  return [
    { type: 'tool_call', callId, name, arguments: argumentsText(call.args) },
    ...(call.output === null
      ? []
      : [{ type: 'tool_result' as const, callId, name, content: resultText(call.output) }]),
  ]
}
