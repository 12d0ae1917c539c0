// Conversations that LibreChat exported, one per file: a flat list or a tree of messages.
import { z } from 'zod'
import { looseList } from '../../lib/loose-list.ts'
import {
  argumentsText,
  createMessageReader,
  createUnknownKinds,
  type Draft,
  type DraftFile,
  type DraftNode,
  type DraftStep,
  draftNode,
  looseFlag,
  looseName,
  looseText,
  type MessageReader,
  resultText,
  timeOf,
  type UnknownKinds,
} from '../draft.ts'

/** The parent of a first message. */
const ROOT = '00000000-0000-0000-0000-000000000000'

const Text = z.union([
  z.string(),
  z.looseObject({ value: looseText }).transform(({ value }) => value),
])
/** A call of an agent or, within `function` or `code_interpreter`, of an assistant. */
const ToolCall = z.looseObject({
  id: looseName,
  type: looseText,
  name: looseText,
  args: z.unknown().optional(),
  output: looseName,
  function: z
    .looseObject({ name: looseText, arguments: z.unknown().optional(), output: looseName })
    .nullish()
    .catch(null),
  code_interpreter: z
    .looseObject({ input: looseText, outputs: z.array(z.unknown()).nullish().catch(null) })
    .nullish()
    .catch(null),
})
type ToolCall = z.output<typeof ToolCall>
/** The types are those of `TMessageContentParts` in LibreChat. */
const Part = z.looseObject({
  type: z.string(),
  text: Text.catch(''),
  think: Text.catch(''),
  error: looseText,
  tool_call: ToolCall.nullish().catch(null),
  image_file: z.looseObject({ filename: looseText }).nullish().catch(null),
  image_url: z
    .union([z.string(), z.looseObject({ url: looseText }).transform(({ url }) => url)])
    .catch(''),
})
type Part = z.output<typeof Part>
/** Marks of sources, such as `\ue202turn0search3`; as characters or, from some models, written out. The export has no sources. */
const SOURCE =
  /[ \t]?(?:\ue200|\\ue200)?(?:[ \t]?(?:\ue202|\\ue202)turn\d{1,6}[a-z]{1,10}\d{1,6})+(?:\ue201|\\ue201)?/g
/** What stands around the words that they belong to. */
const AROUND = /[\ue200\ue201\ue203\ue204\ue206]|\\ue20[01346]/g
/** The lines around an artifact. What it holds is a block of code. */
const ARTIFACT = /^:::artifact\{([^{}\n]{0,2000})\}[ \t]*$/gm
const ARTIFACT_END = /^:::[ \t]*$/gm
/** Parts that say nothing of the conversation. */
const SILENT = new Set(['agent_update'])
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
  const unknownKinds = createUnknownKinds()
  const model = given.options?.model ?? null
  const reader = createMessageReader(Message)
  const nodes = flatten(given.messagesTree ?? given.messages ?? [], model, reader, unknownKinds)
  return {
    origin: `librechat:${given.conversationId}`,
    title: given.title,
    model,
    systemPrompt: given.options?.promptPrefix ?? null,
    pinned: false,
    archived: false,
    tags: [],
    createdAt: null,
    updatedAt: null,
    nodes,
    leaf: nodes.at(-1)?.id ?? null,
    skipped: [
      ...reader.skipped,
      ...unknownKinds.skipped(given.title.trim() || given.conversationId, 'import_parts_unknown'),
    ],
  }
}

/** The messages of a list or a tree, parents first. A tree may be nested deeper than any call stack. */
function flatten(
  messages: readonly unknown[],
  model: string | null,
  reader: MessageReader<typeof Message>,
  unknownKinds: UnknownKinds,
): DraftNode[] {
  const nodes: DraftNode[] = []
  const open: { message: unknown; parent: string | null }[] = messages
    .map((message) => ({ message, parent: null }))
    .reverse()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const message = reader.read(next.message, '')
    if (message === null) continue
    const { children, parentMessageId, messageId } = message
    const parent = next.parent ?? (parentMessageId === ROOT ? null : parentMessageId)
    nodes.push(toNode(message, parent, model, unknownKinds))
    for (const child of [...(children ?? [])].reverse())
      open.push({ message: child, parent: messageId })
  }
  return nodes
}

/** The words of an answer. Without marks of sources, the other marks are part of what it is about. */
const withoutMarks = (text: string): string => {
  const words = text.replaceAll(SOURCE, '')
  return words === text ? text : words.replaceAll(AROUND, '')
}

/** The text with the title of each artifact above its code. */
const withTitles = (text: string): string => {
  const titled = text.replaceAll(ARTIFACT, (_line, attributes: string) => {
    const title = /\btitle="([^"]*)"/.exec(attributes)?.[1] ?? ''
    return title === '' ? '' : `**${title}**\n`
  })
  return titled === text ? text : titled.replaceAll(ARTIFACT_END, '')
}

function toNode(
  message: Message,
  parentId: string | null,
  model: string | null,
  unknownKinds: UnknownKinds,
): DraftNode {
  const { messageId: id, text } = message
  const createdAt = timeOf(message.createdAt)
  const files = [
    ...message.files.map(({ filename: name }) => ({ name, missing: true as const })),
    ...message.content.flatMap(toFile),
  ]
  const steps = message.content.flatMap((part) => toSteps(part, unknownKinds))
  const said = steps.flatMap((step) => (step.type === 'text' ? [step.content] : []))
  if (message.isCreatedByUser)
    return draftNode({
      id,
      parentId,
      role: 'user',
      text: text || said.join('\n'),
      files,
      createdAt,
    })
  const answered: DraftStep[] =
    steps.length > 0 || text === '' ? steps : [{ type: 'text', content: text }]
  const hasFailed = message.error || message.content.some(({ type }) => type === 'error')
  return draftNode({
    id,
    parentId,
    role: 'assistant',
    steps: answered.map((step) =>
      step.type === 'text' ? { ...step, content: withTitles(withoutMarks(step.content)) } : step,
    ),
    files,
    model: message.model ?? model,
    status: hasFailed ? 'failed' : 'completed',
    createdAt,
  })
}

function toSteps(part: Part, unknownKinds: UnknownKinds): DraftStep[] {
  const { type, text, think, tool_call: call } = part
  if (type === 'think') return [{ type: 'thinking', content: think }]
  if (type === 'error') return [{ type: 'text', content: text || part.error }]
  if (type === 'text' || text !== '') return [{ type: 'text', content: text }]
  if (type === 'tool_call' && call != null) return callSteps(call)
  if (!SILENT.has(type) && toFile(part).length === 0) unknownKinds.add(type)
  return []
}

function callSteps({ id: callId, type, function: own, code_interpreter: code, ...call }: ToolCall) {
  const name = call.name || own?.name || type || 'tool'
  const input = code == null ? (call.args ?? own?.arguments) : { code: code.input }
  const output = call.output ?? own?.output ?? code?.outputs ?? null
  const steps: DraftStep[] = [
    { type: 'tool_call', callId, name, arguments: argumentsText(input ?? {}) },
  ]
  if (output !== null)
    steps.push({ type: 'tool_result', callId, name, content: resultText(output) })
  return steps
}

/** The picture of a part: the export names files of the server, and holds the bytes of others. */
function toFile({ type, image_file: file, image_url: url }: Part): DraftFile[] {
  if (type === 'image_file') return [{ name: file?.filename || 'image', missing: true }]
  if (type !== 'image_url' || url === '') return []
  const found = /^data:image\/([a-z]+);base64,/.exec(url.slice(0, 100))
  return found === null
    ? [{ name: url.slice(0, 200), missing: true }]
    : [{ name: `image.${found[1]}`, base64: url.slice(found[0].length) }]
}
