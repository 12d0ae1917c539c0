// Translates a request in Anthropic's format into a request to the chat.
import type { ProgramRequest } from '../chat/program-runs.ts'
import type { CountTokensBody, MessageBlock, MessagesBody } from '../protocol/anthropic/messages.ts'
import { estimateTokens } from '../protocol/models/token-estimate.ts'
import { AnyToolChoice, type ResponseTool } from '../protocol/openai/tools.ts'
import { readModelName } from './names.ts'
import { readTools, toolsOfAnswer } from './offered-tools.ts'
import {
  type PastEntry,
  readPast,
  type SentFile,
  type UploadSentFile,
  withStoredFiles,
} from './past.ts'
import type { CallerWishes } from './read-chat.ts'
import { readFormat } from './read-format.ts'

type Blocks = readonly MessageBlock[]
type ResultBlock = Extract<MessageBlock, { type: 'tool_result' }>

/** Thinking belongs to the server that wrote it; it is left out without a word, because every program sends it back. */
const THINKING: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking'])

const blocksOf = (content: string | Blocks): Blocks =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

function textOf(blocks: readonly { type: string }[]): string {
  const texts = blocks.flatMap((block) => {
    const { type, text, title, source } = Object(block)
    if (type === 'text') return [String(text)]
    return type === 'document' && source.type === 'text'
      ? [`${title === undefined ? '' : `${title}\n`}${source.data}`]
      : []
  })
  return texts.join('\n')
}

const imagesOf = (blocks: readonly { type: string }[]): string[] =>
  blocks.flatMap((block) => {
    const { type, source } = Object(block)
    return type === 'image' ? [`data:${source.media_type};base64,${source.data}`] : []
  })

const filesOf = (blocks: readonly { type: string }[]): SentFile[] =>
  blocks.flatMap((block) => {
    const { type, title, source } = Object(block)
    if (type !== 'document' || source.type !== 'base64') return []
    return [
      {
        name: title ?? `document.${String(source.media_type).split('/').at(-1)}`,
        data: source.data,
      },
    ]
  })

const resultBlocks = ({ content }: ResultBlock) =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])

/** Results come first in a message, and their images and documents with the text that follows them: results themselves hold only text. */
function userEntries(blocks: Blocks): PastEntry[] {
  const results = blocks.filter((block) => block.type === 'tool_result')
  const others = blocks.filter((block) => block.type !== 'tool_result')
  const ofResults = results.flatMap((result) => imagesOf(resultBlocks(result)))
  const images = [...ofResults, ...imagesOf(others)]
  const fromResults = results.flatMap((result) => filesOf(resultBlocks(result)))
  const files = [...fromResults, ...filesOf(others)]
  const text = textOf(others)
  const entries: PastEntry[] = results.map((result) => {
    const said = textOf(resultBlocks(result))
    return {
      kind: 'result',
      id: result.tool_use_id,
      text: result.is_error === true ? `Error: ${said}` : said,
    }
  })
  if (text === '' && images.length + files.length === 0 && results.length > 0) return entries
  const isOfResults = text === '' && ofResults.length + fromResults.length > 0
  const said = isOfResults ? 'These are the images and documents of the results.' : text
  return [...entries, { kind: 'user', text: said, images, files }]
}

const answerEntries = (blocks: Blocks): PastEntry[] =>
  blocks.flatMap((block): PastEntry[] => {
    if (block.type === 'text') return [{ kind: 'answer', text: block.text }]
    if (block.type !== 'tool_use') return []
    const { id, name, input } = block
    return [{ kind: 'call', id, name, arguments: JSON.stringify(input) }]
  })

/** The conversation of the request, as entries. */
function entriesOf({ system, messages }: Pick<MessagesBody, 'system' | 'messages'>): PastEntry[] {
  const instructions: PastEntry[] =
    system === undefined ? [] : [{ kind: 'system', text: textOf(blocksOf(system)) }]
  return [
    ...instructions,
    ...messages.flatMap(({ role, content }): PastEntry[] => {
      const blocks = blocksOf(content)
      if (role === 'system') return [{ kind: 'system', text: textOf(blocks) }]
      return role === 'user' ? userEntries(blocks) : answerEntries(blocks)
    }),
  ]
}

const toTool = (tool: NonNullable<MessagesBody['tools']>[number]): ResponseTool => {
  const { type, name, description, input_schema: parameters } = tool
  return type === undefined || type === 'custom'
    ? { type: 'function', name, description, parameters }
    : { type: 'other', kind: type }
}

function toChoice(choice: MessagesBody['tool_choice']): AnyToolChoice | undefined {
  if (choice === undefined) return undefined
  if (choice.type === 'tool') return AnyToolChoice.parse({ type: 'function', name: choice.name })
  return choice.type === 'any' ? 'required' : choice.type
}

const leftOutBlocks = ({ messages }: Pick<MessagesBody, 'messages'>): string[] => {
  const kinds = messages.flatMap(({ content }) =>
    blocksOf(content).flatMap((block) => (block.type === 'other' ? [block.kind] : [])),
  )
  return [...new Set(kinds)]
    .filter((kind) => !THINKING.has(kind))
    .map((kind) => `Left out: blocks of the kind ${kind}. The server does not read them.`)
}

/** @throws AppError as `withStoredFiles` and `readPast`. */
export async function readMessagesRequest(
  body: MessagesBody,
  wishes: CallerWishes,
  upload: UploadSentFile,
): Promise<ProgramRequest> {
  const { system, ...past } = readPast(await withStoredFiles(entriesOf(body), upload))
  const model = readModelName(body.model)
  const offered = readTools(body.tools?.map(toTool), toChoice(body.tool_choice))
  offered.warnings.push(...leftOutBlocks(body))
  const format = body.output_config?.format
  return {
    ...past,
    model: model.id,
    systemPrompt: system,
    temperature: body.temperature,
    maxTokens: body.max_tokens,
    thinking: body.thinking === undefined ? undefined : body.thinking.type !== 'disabled',
    projectId: body.nanoclaw?.project_id,
    ownFiles: body.nanoclaw?.files ?? false,
    isTemporary: !wishes.waitsForApproval,
    ...toolsOfAnswer(offered, body.nanoclaw?.server_tools, model.tools ?? wishes.tools),
    ...readFormat(format?.type, format === undefined ? undefined : { ...format, name: 'answer' }),
    ...(wishes.retries === undefined ? {} : { retries: wishes.retries }),
    refusesApprovals: !wishes.waitsForApproval,
    onDisconnect: wishes.isRepeatable || wishes.waitsForApproval ? 'grace' : 'stop',
  }
}

/** An average for one image. */
const IMAGE_TOKENS = 800

/** Estimates the tokens of what the request says. */
export function countTokens(body: CountTokensBody): number {
  const entries = entriesOf(body)
  const tools = estimateTokens(JSON.stringify(body.tools ?? []))
  return entries.reduce((sum, entry) => {
    const text = entry.kind === 'call' ? entry.name + entry.arguments : entry.text
    const images = entry.kind === 'user' ? entry.images.length : 0
    return sum + estimateTokens(text) + images * IMAGE_TOKENS
  }, tools)
}
