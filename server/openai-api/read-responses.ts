// Translates a request for a response into a request to the chat.
import type { ProgramRequest } from '../chat/program-runs.ts'
import { RunId } from '../protocol/ids.ts'
import type { ResponseBody, ResponseInput } from '../protocol/openai/responses.ts'
import { modelIdOf } from './names.ts'
import { type PastEntry, readPast } from './past.ts'
import type { CallerWishes } from './read-chat.ts'

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
  resolve: (itemId: string) => Promise<readonly PastEntry[]>,
): Promise<PastEntry[]> {
  if (typeof input === 'string') return [{ kind: 'user', text: input, images: [] }]
  const entries: PastEntry[] = []
  for (const item of input)
    entries.push(
      ...('id' in item && item.type === 'item_reference'
        ? await resolve(item.id)
        : entriesOfItem(item)),
    )
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
    return [{ kind: 'user', text, images }]
  }
  switch (item.type) {
    case 'function_call':
      return [{ kind: 'call', id: item.call_id, name: item.name, arguments: item.arguments }]
    case 'function_call_output':
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
  const instructions = [body.instructions, system].filter((text) => text !== undefined)
  return {
    ...past,
    model: modelIdOf(body.model),
    systemPrompt: instructions.length === 0 ? undefined : instructions.join('\n\n'),
    temperature: body.temperature,
    maxTokens: body.max_output_tokens,
    thinking: body.reasoning?.effort === undefined ? undefined : body.reasoning.effort !== 'none',
    projectId: body.nanoclaw?.project_id,
    isTemporary: !isStored && !wishes.waitsForApproval,
    toolsEnabled: body.nanoclaw?.server_tools ?? true,
    toolChoice:
      typeof body.tool_choice === 'object'
        ? { type: 'function', function: { name: body.tool_choice.name } }
        : body.tool_choice,
    clientTools: (body.tools ?? []).map(({ name, description, parameters }) => ({
      name,
      description: description ?? '',
      parameters: parameters ?? { type: 'object', properties: {} },
    })),
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
