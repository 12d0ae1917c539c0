// Conversations of Claude's data export: an array in `conversations.json`.
import { z } from 'zod'
import { looseList } from '../../lib/loose-list.ts'
import { asRecord, asText } from '../../lib/records.ts'
import { markFor } from '../../protocol/markdown/nested-fences.ts'
import {
  argumentsText,
  createMessageReader,
  createUnknownKinds,
  type Draft,
  type DraftFile,
  type DraftNode,
  type DraftStep,
  draftNode,
  failureText,
  linkTo,
  looseFlag,
  looseName,
  looseText,
  resultText,
  timeOf,
  type UnknownKinds,
} from '../draft.ts'

/** The parent of a first message. */
const ROOT = '00000000-0000-4000-8000-000000000000'

/** Blocks that say nothing of the conversation. */
const SILENT = new Set(['flag', 'token_budget', 'redacted_thinking'])

/** Where a source belongs in the text, and its address. */
const Citation = z.looseObject({
  end_index: z.int().min(0).nullish().catch(null),
  url: looseText,
  title: looseText,
  details: z.looseObject({ url: looseText, title: looseText }).nullish().catch(null),
})
const Block = z.looseObject({
  type: z.string(),
  id: looseName,
  tool_use_id: looseName,
  name: looseText,
  text: looseText,
  thinking: looseText,
  input: z.unknown().optional(),
  content: z.unknown().optional(),
  is_error: looseFlag,
  citations: looseList(Citation),
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
  const reader = createMessageReader(Message)
  const messages = given.chat_messages.flatMap((one) => {
    const uuid = asText(asRecord(one)?.uuid)
    return reader.read(one, uuid) ?? []
  })
  // Older exports have no parents: the order is then the branch.
  const isLinked = messages.some(({ parent_message_uuid: parent }) => parent !== null)
  const unknownKinds = createUnknownKinds()
  const nodes = messages.map((message, index): DraftNode => {
    const parent = isLinked ? message.parent_message_uuid : (messages[index - 1]?.uuid ?? null)
    return toNode(message, parent === ROOT ? null : parent, given.model, unknownKinds)
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
    skipped: [
      ...reader.skipped,
      ...unknownKinds.skipped(given.name.trim() || given.uuid, 'import_parts_unknown'),
    ],
  }
}

function toNode(
  message: Message,
  parentId: string | null,
  model: string | null,
  unknownKinds: UnknownKinds,
): DraftNode {
  const { uuid: id } = message
  const createdAt = timeOf(message.created_at)
  const files: DraftFile[] = [
    ...message.attachments.map(({ file_name: name, extracted_content: text }) => ({
      name: name || 'attachment.txt',
      text,
    })),
    ...message.files.map(({ file_name: name }) => ({ name, missing: true as const })),
  ]
  const steps = message.content.flatMap((block) => toSteps(block, unknownKinds))
  if (message.sender === 'human') {
    const said = steps.flatMap((step) => (step.type === 'text' ? [step.content] : []))
    const text = said.join('\n\n') || message.text
    return draftNode({ id, parentId, role: 'user', text, files, createdAt })
  }
  const answered: DraftStep[] =
    steps.length > 0 || message.text === '' ? steps : [{ type: 'text', content: message.text }]
  return draftNode({
    id,
    parentId,
    role: 'assistant',
    steps: answered.flatMap((step) => (step.type === 'text' ? textSteps(step.content) : [step])),
    files,
    model,
    createdAt,
  })
}

/** Artifacts and the thoughts about them, as Claude wrote them into its texts before artifacts were calls. */
const WRITTEN = /<(antArtifact|antThinking)\b([^<>]{0,2000})>/g

/** The text of an answer, with artifacts as code below their titles, and what it thought. */
function textSteps(text: string): DraftStep[] {
  const thoughts: DraftStep[] = []
  let shown = ''
  let from = 0
  for (const { 0: tag, 1: name = '', 2: attributes = '', index } of text.matchAll(WRITTEN)) {
    if (index < from) continue
    const close = `</${name}>`
    const end = text.indexOf(close, index)
    if (end === -1) break
    const content = text.slice(index + tag.length, end).trim()
    shown += text.slice(from, index)
    if (name === 'antThinking') thoughts.push({ type: 'thinking', content })
    else shown += artifactText(attributes, content)
    from = end + close.length
  }
  return [...thoughts, { type: 'text', content: shown + text.slice(from) }]
}

function artifactText(attributes: string, content: string): string {
  const attributeOf = (name: string): string =>
    new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? ''
  const title = attributeOf('title')
  const mark = markFor(content)
  const isMarkdown = attributeOf('type') === 'text/markdown' || content.startsWith('```')
  const body = isMarkdown ? content : `${mark}${attributeOf('language')}\n${content}\n${mark}`
  return `\n\n${title === '' ? '' : `**${title}**\n\n`}${body}\n\n`
}

/** The text with a link behind each place for which it names a source. */
function withSources({ text, citations }: Block): string {
  const links = new Map<number, string[]>()
  for (const { end_index: end, details, ...given } of citations) {
    const link = linkTo(details?.url || given.url, details?.title || given.title)
    if (!link.startsWith('[')) continue
    const place = Math.min(end ?? text.length, text.length)
    const before = links.get(place) ?? []
    if (!before.includes(link)) links.set(place, [...before, link])
  }
  let rest = ''
  let from = 0
  for (const [place, found] of [...links].sort(([one], [other]) => one - other)) {
    rest += `${text.slice(from, place)} (${found.join(', ')})`
    from = place
  }
  return rest + text.slice(from)
}

/** What the result of a failed call says. */
function errorText(content: unknown): string {
  if (typeof content === 'string') return content
  const said = looseList(z.looseObject({ text: z.string() })).parse(content)
  return said.map(({ text }) => text).join('\n') || JSON.stringify(content ?? null)
}

function toSteps(block: Block, unknownKinds: UnknownKinds): DraftStep[] {
  switch (block.type) {
    case 'thinking':
      return [{ type: 'thinking', content: block.thinking }]
    case 'text':
      return [{ type: 'text', content: withSources(block) }]
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
          content: block.is_error
            ? failureText(errorText(block.content))
            : resultText(block.content),
        },
      ]
    default:
      // Of blocks that come up in the future, such as `voice_note`, at least the text is kept.
      if (block.text !== '') return [{ type: 'text', content: block.text }]
      if (!SILENT.has(block.type)) unknownKinds.add(block.type)
      return []
  }
}
