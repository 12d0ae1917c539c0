// Chats of Open WebUI's export: an array of chats, each with its whole tree of messages.
import { z } from 'zod'
import { looseList } from '../../lib/loose-list.ts'
import { asRecord, asText } from '../../lib/records.ts'
import {
  argumentsText,
  createMessageReader,
  createUnknownKinds,
  type Draft,
  type DraftFile,
  type DraftNode,
  type DraftStep,
  draftNode,
  linkTo,
  looseFlag,
  looseName,
  looseText,
  resultText,
  timeOf,
  type UnknownKinds,
} from '../draft.ts'

const Texts = looseList(z.looseObject({ text: looseText }))
/** The form of an output item of OpenAI's Responses API. */
const Output = z.looseObject({
  type: z.string(),
  call_id: looseName,
  name: looseText,
  arguments: z.unknown().optional(),
  content: Texts,
  summary: Texts,
  output: z.union([z.string(), Texts]).catch(''),
})
type Output = z.output<typeof Output>
/** Pages and documents that an answer refers to as `[1]`, `[2]`. */
const Source = z.looseObject({
  source: z.looseObject({ name: looseText, url: looseText }).nullish().catch(null),
  metadata: looseList(z.looseObject({ source: looseText, url: looseText, name: looseText })),
})
type Source = z.output<typeof Source>
const Message = z.looseObject({
  id: z.string().min(1),
  parentId: looseName,
  role: looseText,
  content: z
    .union([z.string(), Texts.transform((all) => all.map(({ text }) => text).join('\n'))])
    .catch(''),
  model: looseName,
  timestamp: z.unknown().optional(),
  output: looseList(Output),
  sources: looseList(Source),
  files: looseList(
    z.looseObject({
      type: looseText,
      name: looseText,
      url: looseText,
      file: z
        .looseObject({
          filename: looseText,
          data: z.looseObject({ content: looseText }).nullish().catch(null),
        })
        .nullish()
        .catch(null),
    }),
  ),
})
type Message = z.output<typeof Message>
const OpenWebUiChat = z.looseObject({
  id: looseName,
  title: looseText,
  created_at: z.unknown().optional(),
  updated_at: z.unknown().optional(),
  pinned: looseFlag,
  archived: looseFlag,
  meta: z
    .looseObject({ tags: looseList(z.string()) })
    .nullish()
    .catch(null),
  chat: z.looseObject({
    title: looseText,
    models: looseList(z.string()),
    params: z.looseObject({ system: looseName }).nullish().catch(null),
    history: z.looseObject({
      currentId: looseName,
      messages: z.record(z.string(), z.unknown()),
    }),
  }),
})

/** Only what a person and a model said is shown. */
const ROLES = new Set(['user', 'assistant', 'system', 'developer', 'tool'])

/** @throws ZodError for anything but a chat. */
export function readOpenWebUi(value: unknown): Draft {
  const given = OpenWebUiChat.parse(value)
  const { history, models, params } = given.chat
  const unknownKinds = createUnknownKinds()
  const reader = createMessageReader(Message)
  const nodes = Object.values(history.messages).flatMap((one) => {
    const message = reader.read(one, asText(asRecord(one)?.id))
    if (message === null) return []
    if (!ROLES.has(message.role)) reader.unknownRole(message.id)
    return toNode(message, unknownKinds)
  })
  const title = given.title || given.chat.title
  return {
    origin: `open-webui:${given.id ?? nodes[0]?.id ?? ''}`,
    title,
    model: models[0] ?? null,
    systemPrompt: params?.system ?? null,
    pinned: given.pinned,
    archived: given.archived,
    tags: given.meta?.tags ?? [],
    createdAt: timeOf(given.created_at),
    updatedAt: timeOf(given.updated_at),
    nodes,
    leaf: history.currentId,
    skipped: [...reader.skipped, ...unknownKinds.skipped(title, 'import_parts_unknown')],
  }
}

function toNode(message: Message, unknownKinds: UnknownKinds): DraftNode {
  const { id, parentId, role, content } = message
  const common = {
    id,
    parentId,
    createdAt: timeOf(message.timestamp),
    files: message.files.map(toFile),
  }
  if (role === 'user') return draftNode({ ...common, role, text: content })
  if (role !== 'assistant') return draftNode({ ...common, role: 'hidden' })
  const output = message.output.flatMap((item) => toSteps(item, unknownKinds))
  // The content repeats reasoning and calls as `<details>`; `output` has the originals.
  const steps = output.length > 0 ? output : splitDetails(content)
  const links = linksOf(message.sources)
  return draftNode({
    ...common,
    role,
    steps: links === '' ? steps : [...steps, { type: 'text', content: `\n\n${links}` }],
    model: message.model,
  })
}

/** The pages among the sources as a list of links, each once. */
function linksOf(sources: readonly Source[]): string {
  const links = new Map<string, string>()
  for (const { source, metadata } of sources) {
    const title = source?.name ?? ''
    const pages = metadata.map(({ url, source: place }) => url || place)
    for (const url of [...pages, source?.url || title]) {
      const link = linkTo(url, title)
      if (link.startsWith('[') && !links.has(url)) links.set(url, `- ${link}`)
    }
  }
  return [...links.values()].join('\n')
}

const joined = (texts: readonly { text: string }[]): string =>
  texts.map(({ text }) => text).join('')

function toSteps(item: Output, unknownKinds: UnknownKinds): DraftStep[] {
  switch (item.type) {
    case 'reasoning':
      return [{ type: 'thinking', content: joined(item.content) || joined(item.summary) }]
    case 'message':
      return [{ type: 'text', content: joined(item.content) }]
    case 'function_call':
      return [
        {
          type: 'tool_call',
          callId: item.call_id,
          name: item.name,
          arguments: argumentsText(item.arguments),
        },
      ]
    case 'function_call_output': {
      const text = typeof item.output === 'string' ? item.output : joined(item.output)
      return [{ type: 'tool_result', callId: item.call_id, name: '', content: resultText(text) }]
    }
    default:
      unknownKinds.add(item.type)
      return []
  }
}

const DETAILS = /<details type="(reasoning|tool_calls|code_interpreter)"([^<>]*)>/g
const DETAILS_END = '</details>'

/** An answer of an older version: text, with reasoning and calls in between as `<details>`. */
function splitDetails(content: string): DraftStep[] {
  const steps: DraftStep[] = []
  let from = 0
  const addText = (to?: number): void => {
    const text = content.slice(from, to)
    if (text.trim() !== '')
      steps.push({ type: 'text', content: steps.length > 0 ? text.trimStart() : text })
  }
  for (const { 0: tag, 1: type, 2: attributes = '', index } of content.matchAll(DETAILS)) {
    if (index < from) continue
    const end = content.indexOf(DETAILS_END, index)
    if (end === -1) break
    addText(index)
    const inner = withoutSummary(content.slice(index + tag.length, end))
    if (type === 'reasoning')
      steps.push({ type: 'thinking', content: unquoted(unescapeHtml(inner)) })
    else steps.push(...callSteps(type === 'code_interpreter', attributesOf(attributes), inner))
    from = end + DETAILS_END.length
  }
  addText()
  return steps
}

/** A call and, once it had one, its result. The attributes hold escaped JSON. */
function callSteps(
  isCode: boolean,
  attributes: ReadonlyMap<string, string>,
  inner: string,
): DraftStep[] {
  const callId = attributes.get('id') ?? null
  const name = isCode ? 'code_interpreter' : (attributes.get('name') ?? 'tool')
  const input = isCode ? { code: unescapeHtml(inner) } : fromJson(attributes.get('arguments') ?? '')
  const output = attributes.get(isCode ? 'output' : 'result')
  const call = { type: 'tool_call', callId, name, arguments: argumentsText(input) } as const
  return output === undefined || output === ''
    ? [call]
    : [call, { type: 'tool_result', callId, name, content: resultText(fromJson(output)) }]
}

const attributesOf = (text: string): Map<string, string> =>
  new Map(
    [...text.matchAll(/(?<![a-z_])([a-z_]{1,40})="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      unescapeHtml(value),
    ]),
  )

/** The value of a JSON text; the text itself if it is none. */
function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const SUMMARY_END = '</summary>'

function withoutSummary(text: string): string {
  const end = text.indexOf(SUMMARY_END)
  return (end === -1 ? text : text.slice(end + SUMMARY_END.length)).trim()
}

const unescapeHtml = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

/** Reasoning is written as a quotation. */
const unquoted = (text: string): string => text.replaceAll(/^> ?/gm, '')

/** Names of documents of which the export has only the text. */
const DOCUMENT_NAME = /\.(?:pdf|docx?|xlsx?|pptx?|odt|ods|odp|epub)$/i

/** Images are in the export as data URLs; of other files, it has the text that was read from them. */
function toFile({ type, name, url, file }: Message['files'][number]): DraftFile {
  const text = file?.data?.content ?? ''
  if (text !== '') {
    const given = name || file?.filename || 'file.txt'
    return { name: DOCUMENT_NAME.test(given) ? `${given}.txt` : given, text }
  }
  const found = /^data:image\/([a-z]+);base64,/.exec(url.slice(0, 100))
  const shown = name || `${type || 'file'}${found === null ? '' : `.${found[1]}`}`
  return found === null
    ? { name: shown, missing: true }
    : { name: shown, base64: url.slice(found[0].length) }
}
