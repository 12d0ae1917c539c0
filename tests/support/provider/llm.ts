// Calls an `LlmClient` in tests and collects its events.
import type { LlmClient, LlmEvent, LlmRequest, ToolCall } from '../../../server/llm/client.ts'
import { type Delta, gatherProse, handOver, type ProseSink } from '../../../server/llm/prose.ts'

/** What a response consists of, in order: pieces of prose, and events. */
export type Said = Delta | LlmEvent

export interface ReadResponse {
  text: string
  thinking: string
  calls: ToolCall[]
  /** The `finished` or `failed` event, always the last one. */
  end: Extract<LlmEvent, { type: 'finished' | 'failed' }>
  retries: Extract<LlmEvent, { type: 'retrying' }>[]
  /** Everything, in the order in which it came. */
  said: Said[]
}

const isProse = (said: Said): said is Delta =>
  said.type === 'text_delta' || said.type === 'thinking_delta' || said.type === 'text_was_thinking'

/** Says it as clients do: hands the prose over, and yields the events. */
export async function* say(said: Iterable<Said>, prose: ProseSink): AsyncGenerator<LlmEvent> {
  for (const one of said)
    if (isProse(one)) await handOver([one], prose)
    else yield one
}

/** A request with one user message; `more` overrides its fields. */
export const llmRequest = (more: Partial<LlmRequest> = {}): LlmRequest => ({
  messages: [{ role: 'user', content: 'hello' }],
  tools: [],
  prose: gatherProse(),
  signal: new AbortController().signal,
  ...more,
})

/** Consumes a response and checks what every client guarantees: exactly one final event, and nothing after it. */
export async function readResponse(
  client: LlmClient,
  request: LlmRequest = llmRequest(),
  onSaid: (one: Said) => void = () => {},
): Promise<ReadResponse> {
  const said: Said[] = []
  const note = (one: Said): undefined => {
    said.push(one)
    onSaid(one)
  }
  const prose: ProseSink = {
    append: (kind, text) => note({ type: kind === 'text' ? 'text_delta' : 'thinking_delta', text }),
    textWasThinking: () => note({ type: 'text_was_thinking' }),
  }
  for await (const event of client.stream({ ...request, prose })) note(event)
  const ends = said.filter((event) => event.type === 'finished' || event.type === 'failed')
  const end = ends[0]
  if (end === undefined || ends.length !== 1 || said.at(-1) !== end)
    throw new Error(`a stream must have one end, as its last event: ${JSON.stringify(said)}`)
  const joined = (type: 'text_delta' | 'thinking_delta') =>
    said.map((event) => (event.type === type ? event.text : '')).join('')
  return {
    text: joined('text_delta'),
    thinking: joined('thinking_delta'),
    calls: said.flatMap((event) => (event.type === 'tool_call' ? [event.call] : [])),
    end,
    retries: said.flatMap((event) => (event.type === 'retrying' ? [event] : [])),
    said,
  }
}

/** The failure's code, or `finished:<reason>`. */
export const outcome = (response: ReadResponse): string =>
  response.end.type === 'failed' ? response.end.error.code : `finished:${response.end.reason}`
