// Turns of the scripted provider in the format of Anthropic's Messages API.
import { type Action, dataLine, type Turn } from './upstream-turns.ts'

type Block = Record<string, unknown>

const event = (value: Block & { type: string }): string =>
  `event: ${value.type}\n${dataLine(value)}`

/** The events of one content block, with its text split into two deltas. */
function eventsOf(block: Block, index: number): string[] {
  const delta = (value: Block) => event({ type: 'content_block_delta', index, delta: value })
  const halves = (text: string) => [text.slice(0, 3), text.slice(3)]
  const begin = (start: Block) =>
    event({ type: 'content_block_start', index, content_block: start })
  const citations: unknown[] = Array.isArray(block.citations) ? block.citations : []
  const middle = (): string[] => {
    if (block.type === 'text')
      return [
        begin({ type: 'text', text: '' }),
        ...citations.map((citation) => delta({ type: 'citations_delta', citation })),
        ...halves(String(block.text)).map((text) => delta({ type: 'text_delta', text })),
      ]
    if (block.type === 'thinking')
      return [
        begin({ type: 'thinking', thinking: '', signature: '' }),
        ...halves(String(block.thinking)).map((thinking) =>
          delta({ type: 'thinking_delta', thinking }),
        ),
        delta({ type: 'signature_delta', signature: block.signature }),
      ]
    if (block.type === 'tool_use' && block.input === undefined)
      return [begin({ ...block, input: {} })]
    if (block.type === 'tool_use' || block.type === 'server_tool_use')
      return [
        begin({ ...block, input: {} }),
        ...halves(JSON.stringify(block.input)).map((partial_json) =>
          delta({ type: 'input_json_delta', partial_json }),
        ),
      ]
    return [begin(block)]
  }
  return [...middle(), event({ type: 'content_block_stop', index })]
}

const usage = { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 2 }

interface MessagesEnd {
  stop_reason?: string
  stop_details?: unknown
  /** Tokens of the input that no cache had. */
  input?: number
}

/** A response with these content blocks. */
export function messagesTurn(
  blocks: readonly Block[],
  { input = usage.input_tokens, ...more }: MessagesEnd = {},
): Turn {
  const hasCalls = blocks.some(({ type }) => type === 'tool_use')
  const stop_reason = more.stop_reason ?? (hasCalls ? 'tool_use' : 'end_turn')
  const message = {
    id: 'msg_test',
    type: 'message',
    role: 'assistant',
    content: [],
    usage: { ...usage, input_tokens: input },
  }
  const start = event({ type: 'message_start', message }) + event({ type: 'ping' })
  const pieces = blocks.flatMap(eventsOf)
  // The first events are sent together, so that even a turn cut after one send contains some content.
  const sends = [start + pieces.slice(0, 2).join(''), ...pieces.slice(2)]
  const actions: Action[] = [
    ...sends.map((send) => ({ send })),
    {
      send: event({
        type: 'message_delta',
        delta: { ...more, stop_reason },
        usage: { output_tokens: 20 },
      }),
    },
    { send: event({ type: 'message_stop' }) },
    { finish: 'end' },
  ]
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, actions }
}
