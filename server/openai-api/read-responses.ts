// Translates a request for a response into a request to the chat.
import type { ProgramRequest } from '../chat/program-runs.ts'
import { RunId } from '../protocol/ids.ts'
import type { ResponseBody, ResponseInput } from '../protocol/openai/responses.ts'
import { readModelName } from './names.ts'
import { calledName, customArguments, readTools, toolsOfAnswer } from './offered-tools.ts'
import { audioFile, type PastEntry, readPast } from './past.ts'
import type { CallerWishes } from './read-chat.ts'
import { readFormat } from './read-format.ts'

type Content = string | readonly ({ text: string } | { refusal: string } | object)[]

const textOf = (content: Content): string =>
  typeof content === 'string'
    ? content
    : content
        .map((part) => ('text' in part ? part.text : 'refusal' in part ? part.refusal : ''))
        .join('')

/** The entries of an input item in a conversation. `resolve` replaces references beforehand. */
export async function entriesOfInput(
  input: ResponseBody['input'],
  resolve: (itemId: string, isRequired: boolean) => Promise<readonly PastEntry[]>,
): Promise<PastEntry[]> {
  if (typeof input === 'string') return [{ kind: 'user', text: input, images: [], files: [] }]
  const entries: PastEntry[] = []
  for (const item of input)
    if (item.type === 'item_reference') entries.push(...(await resolve(item.id, true)))
    // Its results are only here, for as long as the run is.
    else if (item.type === 'web_search_call')
      entries.push(...(item.id === undefined ? [] : await resolve(item.id, false)))
    else entries.push(...entriesOfItem(item))
  return entries
}

function entriesOfItem(item: ResponseInput): PastEntry[] {
  if ('role' in item) {
    const text = textOf(item.content)
    if (item.role === 'assistant') return [{ kind: 'answer', text }]
    if (item.role !== 'user') return [{ kind: 'system', text }]
    const images =
      typeof item.content === 'string'
        ? []
        : item.content.flatMap((part) => (part.type === 'input_image' ? [part.image_url] : []))
    const files =
      typeof item.content === 'string'
        ? []
        : item.content.flatMap((part) => {
            if (part.type === 'input_audio') return [audioFile(part.input_audio)]
            if (part.type !== 'input_file') return []
            const { filename: name, file_data: data, file_id: id } = part
            return [{ name, data, id }]
          })
    return [{ kind: 'user', text, images, files }]
  }
  switch (item.type) {
    case 'function_call':
    case 'custom_tool_call': {
      const { call_id: id, namespace } = item
      const name = calledName(item.name, namespace)
      const text = item.type === 'function_call' ? item.arguments : customArguments(item.input)
      return [{ kind: 'call', id, name, arguments: text }]
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [{ kind: 'result', id: item.call_id, text: textOf(item.output) }]
    case 'mcp_call': {
      const { id, name, error } = item
      const text = item.output ?? (error === undefined ? '' : JSON.stringify({ error }))
      return [
        { kind: 'call', id, name, arguments: item.arguments },
        { kind: 'result', id, text },
      ]
    }
    default:
      return []
  }
}

const leftOutItems = (input: ResponseBody['input']): string[] =>
  typeof input === 'string'
    ? []
    : [...new Set(input.flatMap((item) => ('kind' in item ? [item.kind] : [])))].map(
        (kind) => `Left out: items of the kind ${kind}. The server does not read them.`,
      )

/** @throws AppError as `readPast`. */
export function readResponseRequest(
  body: ResponseBody,
  entries: readonly PastEntry[],
  wishes: CallerWishes,
): ProgramRequest {
  const previousId = body.previous_response_id
  const { system, ...past } = readPast(
    entries,
    previousId === undefined ? null : RunId.parse(previousId),
  )
  const isStored = body.store !== false
  const background = body.background === true
  const model = readModelName(body.model)
  const format = body.text?.format
  const offered = readTools(body.tools, body.tool_choice)
  offered.warnings.push(...leftOutItems(body.input))
  const instructions = [body.instructions, system].filter((text) => text !== undefined)
  return {
    ...past,
    model: model.id,
    systemPrompt: instructions.length === 0 ? undefined : instructions.join('\n\n'),
    temperature: body.temperature,
    maxTokens: body.max_output_tokens,
    thinking: body.reasoning?.effort === undefined ? undefined : body.reasoning.effort !== 'none',
    projectId: body.nanoclaw?.project_id,
    ownFiles: body.nanoclaw?.files ?? false,
    isTemporary: !isStored && !wishes.waitsForApproval,
    ...toolsOfAnswer(offered, body.nanoclaw?.server_tools, model.tools ?? wishes.tools),
    ...readFormat(format?.type, format?.type === 'json_schema' ? format : undefined),
    // Nobody waits for a background response, and so nobody repeats it.
    ...(wishes.retries === undefined || background ? {} : { retries: wishes.retries }),
    refusesApprovals: !wishes.waitsForApproval,
    onDisconnect: background ? 'continue' : isStored || wishes.isRepeatable ? 'grace' : 'stop',
    response: {
      previousId: previousId ?? null,
      background,
      isStored,
      metadata: body.metadata ?? {},
      instructions: body.instructions ?? null,
      temperature: body.temperature ?? null,
      maxTokens: body.max_output_tokens ?? null,
    },
  }
}
