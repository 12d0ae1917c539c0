// Calls an `LlmClient` in tests and collects its events.
import type { LlmClient, LlmEvent, LlmRequest, ToolCall } from '../../../server/llm/client.ts'

export interface ReadResponse {
  text: string
  thinking: string
  calls: ToolCall[]
  /** The `finished` or `failed` event, always the last one. */
  end: Extract<LlmEvent, { type: 'finished' | 'failed' }>
  retries: Extract<LlmEvent, { type: 'retrying' }>[]
  batches: (readonly LlmEvent[])[]
}

/** A request with one user message; `more` overrides its fields. */
export const llmRequest = (more: Partial<LlmRequest> = {}): LlmRequest => ({
  messages: [{ role: 'user', content: 'hello' }],
  tools: [],
  signal: new AbortController().signal,
  ...more,
})

/** Consumes a response and checks what every client guarantees: exactly one final event, and nothing after it. */
export async function readResponse(
  client: LlmClient,
  request: LlmRequest = llmRequest(),
  onBatch: (batch: readonly LlmEvent[]) => void = () => {},
): Promise<ReadResponse> {
  const batches: (readonly LlmEvent[])[] = []
  for await (const batch of client.stream(request)) {
    batches.push(batch)
    onBatch(batch)
  }
  const events = batches.flat()
  const ends = events.filter((event) => event.type === 'finished' || event.type === 'failed')
  const end = ends[0]
  if (end === undefined || ends.length !== 1 || events.at(-1) !== end)
    throw new Error(`a stream must have one end, as its last event: ${JSON.stringify(events)}`)
  const joined = (type: 'text_delta' | 'thinking_delta') =>
    events.map((event) => (event.type === type ? event.text : '')).join('')
  return {
    text: joined('text_delta'),
    thinking: joined('thinking_delta'),
    calls: events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : [])),
    end,
    retries: events.flatMap((event) => (event.type === 'retrying' ? [event] : [])),
    batches,
  }
}

/** The failure's code, or `finished:<reason>`. */
export const outcome = (response: ReadResponse): string =>
  response.end.type === 'failed' ? response.end.error.code : `finished:${response.end.reason}`
