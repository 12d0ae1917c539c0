// Turns of the scripted provider in the format of OpenAI's Responses API.
import { type Action, dataLine, type Turn } from './upstream-turns.ts'

type Item = Record<string, unknown>

const list = (value: unknown): Item[] => (Array.isArray(value) ? value : [])
const halves = (text: unknown): string[] => [String(text).slice(0, 3), String(text).slice(3)]

/** A message item with this text. */
export const said = (text: string, more: Item = {}): Item => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
  ...more,
})

/** A reasoning item with a summary and encrypted content. */
export const reasoned = (summary: string, encrypted = 'sealed-1'): Item => ({
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: summary }],
  encrypted_content: encrypted,
})

/** A function call item. */
export const called = (call_id: string, name: string, input: unknown = {}): Item => ({
  type: 'function_call',
  id: `fc_${call_id}`,
  call_id,
  name,
  arguments: JSON.stringify(input),
  status: 'completed',
})

/** The events of one output item, with its text split into two deltas. */
function eventsOf(item: Item, output_index: number): Item[] {
  const event = (type: string, more: Item): Item => ({
    type: `response.${type}`,
    ...more,
    output_index,
  })
  const deltas = (): Item[] => {
    if (item.type === 'function_call')
      return halves(item.arguments).map((delta) =>
        event('function_call_arguments.delta', { delta }),
      )
    if (item.type === 'reasoning')
      return list(item.summary).flatMap(({ text }, summary_index) =>
        halves(text).map((delta) =>
          event('reasoning_summary_text.delta', { summary_index, delta }),
        ),
      )
    return list(item.content).flatMap(({ text, refusal }, content_index) =>
      halves(text ?? refusal).map((delta) =>
        event(refusal === undefined ? 'output_text.delta' : 'refusal.delta', {
          content_index,
          delta,
        }),
      ),
    )
  }
  const begun = {
    ...item,
    content: [],
    summary: [],
    arguments: '',
    encrypted_content: 'unfinished',
  }
  return [
    event('output_item.added', { item: begun }),
    ...deltas(),
    event('output_item.done', { item }),
  ]
}

const usage = {
  input_tokens: 17,
  input_tokens_details: { cached_tokens: 5 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 8 },
  total_tokens: 37,
}

/** A complete response with these output items, as sent without streaming. */
export const completeResponse = (items: readonly Item[], more: Item = {}) => ({
  id: 'resp_1',
  object: 'response',
  output: items,
  usage,
  error: null,
  status: 'completed',
  ...more,
})

/** A streamed response with these output items. `more` holds further fields of the response, such as `status`. */
export function responsesTurn(items: readonly Item[], more: Item = {}): Turn {
  const response = completeResponse(items, more)
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...items.flatMap(eventsOf),
    { type: `response.${response.status}`, response },
  ].map(
    (value, sequence_number) => `event: ${value.type}\n${dataLine({ ...value, sequence_number })}`,
  )
  // The first events are sent together, so that even a turn cut after one send contains some content.
  const sends = [events.slice(0, 3).join(''), ...events.slice(3)]
  const actions: Action[] = [...sends.map((send) => ({ send })), { finish: 'end' }]
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    actions,
    whole: response,
  }
}
