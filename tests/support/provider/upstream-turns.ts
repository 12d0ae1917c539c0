// Responses that the scripted provider can play: whole answers, exact chunks, raw bytes and faults.

/**
 * One step of a response. `wait` is in milliseconds (0: one turn of the event loop); `until` pauses the response until
 * the promise settles.
 */
export type Action =
  | { send: string | Uint8Array }
  | { wait: number }
  | { until: Promise<unknown> }
  /** `end` completes the body; `fin` and `reset` close the connection in mid-body; `stall` sends nothing more. */
  | { finish: 'end' | 'fin' | 'reset' | 'stall' }

/** One scripted response. The headers are sent first, then the actions run in order. */
export interface Turn {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly actions: readonly Action[]
  /** The body for a request with `stream: false`, if the turn has one. */
  readonly whole?: unknown
  /** Fails in this way without sending anything, not even headers. */
  readonly beforeHeaders?: 'fin' | 'reset' | 'stall'
}

export interface ScriptedCall {
  id?: string
  name: string
  /** A value that is not a string is sent as JSON. */
  arguments?: unknown
}

export interface AnswerOptions {
  /** Characters per chunk; default 5. */
  chunkSize?: number
  /** Delay before each chunk, in milliseconds. */
  delayMs?: number
  /** Awaited before the first chunk of content. */
  until?: Promise<unknown>
  finishReason?: string
  /** null reports no usage; the default is computed from the text. */
  usage?: {
    prompt_tokens: number
    completion_tokens: number
    total_tokens: number
    prompt_tokens_details?: { cached_tokens: number }
    completion_tokens_details?: { reasoning_tokens: number }
  } | null
  model?: string
}

const eventStream = { 'content-type': 'text/event-stream; charset=utf-8' }

/** One `data:` line, followed by a blank line. */
export const dataLine = (value: unknown): string =>
  `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`

/** A chunk in the OpenAI format with one delta. */
export const chunk = (
  delta: Record<string, unknown>,
  finishReason: string | null = null,
  more: Record<string, unknown> = {},
): Record<string, unknown> => ({
  id: 'chatcmpl-test',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'test-model',
  choices: [{ index: 0, delta, finish_reason: finishReason }],
  ...more,
})

const pieces = (text: string, size: number): string[] => {
  const characters = [...text]
  const found: string[] = []
  for (let at = 0; at < characters.length; at += size)
    found.push(characters.slice(at, at + size).join(''))
  return found
}

let callNumber = 0
const openAiCall = (call: ScriptedCall) => ({
  id: call.id ?? `call_${++callNumber}`,
  type: 'function' as const,
  function: {
    name: call.name,
    arguments:
      typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {}),
  },
})

interface AnswerParts extends AnswerOptions {
  thinking?: string
  text?: string
  toolCalls?: readonly ScriptedCall[]
}

function answer(parts: AnswerParts): Turn {
  const { thinking = '', text = '', toolCalls = [], chunkSize = 5, delayMs = 0 } = parts
  const calls = toolCalls.map(openAiCall)
  const finishReason = parts.finishReason ?? (calls.length > 0 ? 'tool_calls' : 'stop')
  const completion = Math.max(1, Math.ceil((thinking.length + text.length) / 4))
  const usage =
    parts.usage === undefined
      ? { prompt_tokens: 10, completion_tokens: completion, total_tokens: 10 + completion }
      : parts.usage
  const model = parts.model ?? 'test-model'
  const deltas: Record<string, unknown>[] = [
    ...pieces(thinking, chunkSize).map((piece) => ({ reasoning_content: piece })),
    ...pieces(text, chunkSize).map((piece) => ({ content: piece })),
    ...calls.map((call, index) => ({ tool_calls: [{ index, ...call }] })),
  ]
  const actions: Action[] = []
  const send = (value: unknown) => {
    if (delayMs > 0) actions.push({ wait: delayMs })
    actions.push({ send: dataLine(value) })
  }
  send(chunk({ role: 'assistant', content: '' }, null, { model }))
  if (parts.until !== undefined) actions.push({ until: parts.until })
  for (const delta of deltas) send(chunk(delta, null, { model }))
  send(chunk({}, finishReason, { model }))
  if (usage !== null)
    actions.push({ send: dataLine({ ...chunk({}, null, { model }), choices: [], usage }) })
  actions.push({ send: dataLine('[DONE]') }, { finish: 'end' })
  return {
    status: 200,
    headers: eventStream,
    actions,
    whole: {
      id: 'chatcmpl-test',
      object: 'chat.completion',
      created: 1_700_000_000,
      model,
      choices: [
        {
          index: 0,
          finish_reason: finishReason,
          message: {
            role: 'assistant',
            content: text,
            ...(thinking === '' ? {} : { reasoning_content: thinking }),
            ...(calls.length === 0 ? {} : { tool_calls: calls }),
          },
        },
      ],
      ...(usage === null ? {} : { usage }),
    },
  }
}

const failed = (status: number, body: unknown, headers: Record<string, string> = {}): Turn => ({
  status,
  headers: {
    'content-type': typeof body === 'string' ? 'text/html' : 'application/json',
    ...headers,
  },
  actions: [{ send: typeof body === 'string' ? body : JSON.stringify(body) }, { finish: 'end' }],
})

/** Factories for turns. */
export const turn = {
  /** A plain answer in small chunks, with usage and `[DONE]`. */
  text: (text: string, options: AnswerOptions = {}): Turn => answer({ ...options, text }),

  /** Reasoning (`reasoning_content`) before the answer. */
  thinking: (thinking: string, text: string, options: AnswerOptions = {}): Turn =>
    answer({ ...options, thinking, text }),

  /** Tool calls, each complete in one chunk, after `thinking` and `text`. */
  toolCalls: (
    toolCalls: readonly ScriptedCall[],
    options: AnswerOptions & { text?: string; thinking?: string } = {},
  ): Turn => answer({ ...options, toolCalls }),

  /** Exactly these chunks, one `data:` line each, then `[DONE]` unless `done` is false; the body is completed. */
  chunks: (values: readonly unknown[], options: { done?: boolean } = {}): Turn => ({
    status: 200,
    headers: eventStream,
    actions: [
      ...values.map((value) => ({ send: dataLine(value) })),
      ...((options.done ?? true) ? [{ send: dataLine('[DONE]') }] : []),
      { finish: 'end' },
    ],
  }),

  /** Exactly these bytes and actions with status 200; the body is completed unless the last action finishes it. */
  raw: (
    parts: readonly (string | Uint8Array | Action)[],
    headers: Record<string, string> = eventStream,
  ): Turn => ({
    status: 200,
    headers,
    actions: [
      ...parts.map((part) =>
        typeof part === 'string' || part instanceof Uint8Array ? { send: part } : part,
      ),
      { finish: 'end' },
    ],
  }),

  /** A JSON response of any status, for example to a request that is not a chat completion. */
  json: (status: number, body: object, headers: Record<string, string> = {}): Turn =>
    failed(status, body, headers),

  /** An error in the OpenAI format. */
  error: (status: number, message = 'scripted error', headers: Record<string, string> = {}): Turn =>
    failed(status, { error: { message, type: 'scripted', code: null } }, headers),

  /** Status 429; `retryAfter` becomes the `Retry-After` header, seconds if a number. */
  rateLimited: (retryAfter?: number | string): Turn =>
    failed(
      429,
      { error: { message: 'slow down', type: 'rate_limit' } },
      retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
    ),

  /** HTML where JSON was expected, as a wrong URL or a proxy returns. */
  html: (status = 200): Turn => failed(status, '<!doctype html><title>Welcome</title><p>Hello</p>'),

  /** The connection is closed, or stalls, before any header is sent. */
  beforeHeaders: (how: 'fin' | 'reset' | 'stall'): Turn => ({
    status: 200,
    headers: {},
    actions: [],
    beforeHeaders: how,
  }),

  /** The first `after` sends of a turn, then this ending. */
  cut: (whole: Turn, after: number, how: 'end' | 'fin' | 'reset' | 'stall'): Turn => {
    const kept: Action[] = []
    let sent = 0
    for (const action of whole.actions) {
      if (sent >= after) break
      if ('send' in action) sent += 1
      kept.push(action)
    }
    return { ...whole, actions: [...kept, { finish: how }] }
  },

  /** The same bytes in pieces of `bytes`, `everyMs` apart; a piece may split characters and lines. */
  slow: (whole: Turn, bytes: number, everyMs: number): Turn => ({
    ...whole,
    actions: whole.actions.flatMap((action): Action[] => {
      if (!('send' in action)) return [action]
      const data = Buffer.from(action.send)
      const cut: Action[] = []
      for (let at = 0; at < data.length; at += bytes)
        cut.push({ send: data.subarray(at, at + bytes) }, { wait: everyMs })
      return cut
    }),
  }),
}
