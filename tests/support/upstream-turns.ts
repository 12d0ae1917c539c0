// What the scriptable model server can be told to answer: whole answers, exact chunks, raw bytes and faults.

/**
 * One thing the server does while it answers. `wait` is in milliseconds (0: one turn of its event loop);
 * `until` holds it back until the test lets go.
 */
export type Action =
  | { send: string | Uint8Array }
  | { wait: number }
  | { until: Promise<unknown> }
  /** `end`: a proper end of the body. `fin`, `reset`: the connection goes in the middle. `stall`: silence for ever. */
  | { finish: 'end' | 'fin' | 'reset' | 'stall' }

/** One answer of the server. Actions run in order; the headers go out before the first of them. */
export interface Turn {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly actions: readonly Action[]
  /** The body for a request with `stream: false`, where the turn has such a form. */
  readonly whole?: unknown
  /** Nothing is sent at all, not even headers. */
  readonly beforeHeaders?: 'fin' | 'reset' | 'stall'
}

export interface ScriptedCall {
  id?: string
  name: string
  /** An object is sent as its JSON text. */
  arguments?: unknown
}

export interface AnswerOptions {
  /** Characters of text a chunk; default 5. */
  chunkSize?: number
  /** Milliseconds before each chunk. */
  delayMs?: number
  /** Waited for before the first chunk of text. */
  until?: Promise<unknown>
  finishReason?: string
  /** null: no usage is reported. */
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number } | null
  model?: string
}

const eventStream = { 'content-type': 'text/event-stream; charset=utf-8' }

/** One `data:` line with the blank line after it. */
export const dataLine = (value: unknown): string =>
  `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`

/** A chunk in the OpenAI form around one delta. */
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

/** The turns that a script is made of. */
export const turn = {
  /** A plain answer in small chunks, with usage and `[DONE]`. */
  text: (text: string, options: AnswerOptions = {}): Turn => answer({ ...options, text }),

  /** Reasoning (`reasoning_content`) before the answer. */
  thinking: (thinking: string, text: string, options: AnswerOptions = {}): Turn =>
    answer({ ...options, thinking, text }),

  /** Tool calls, each whole in one chunk; `text` and `thinking` come before them. */
  toolCalls: (
    toolCalls: readonly ScriptedCall[],
    options: AnswerOptions & { text?: string; thinking?: string } = {},
  ): Turn => answer({ ...options, toolCalls }),

  /** Exactly these chunks, one `data:` line each; ends properly, with `[DONE]` unless told otherwise. */
  chunks: (values: readonly unknown[], options: { done?: boolean } = {}): Turn => ({
    status: 200,
    headers: eventStream,
    actions: [
      ...values.map((value) => ({ send: dataLine(value) })),
      ...((options.done ?? true) ? [{ send: dataLine('[DONE]') }] : []),
      { finish: 'end' },
    ],
  }),

  /** Exactly these bytes and actions under a 200; ends properly unless the last action says otherwise. */
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

  /** A JSON answer of any status, for example to a request that is no chat completion. */
  json: (status: number, body: object, headers: Record<string, string> = {}): Turn =>
    failed(status, body, headers),

  /** An error in the OpenAI form. */
  error: (status: number, message = 'scripted error', headers: Record<string, string> = {}): Turn =>
    failed(status, { error: { message, type: 'scripted', code: null } }, headers),

  /** 429; `retryAfter` in seconds becomes `Retry-After`. */
  rateLimited: (retryAfter?: number | string): Turn =>
    failed(
      429,
      { error: { message: 'slow down', type: 'rate_limit' } },
      retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
    ),

  /** A page where JSON was expected, as a wrong URL or a proxy answers. */
  html: (status = 200): Turn => failed(status, '<!doctype html><title>Welcome</title><p>Hello</p>'),

  /** The connection goes (or stays silent) before any header. */
  beforeHeaders: (how: 'fin' | 'reset' | 'stall'): Turn => ({
    status: 200,
    headers: {},
    actions: [],
    beforeHeaders: how,
  }),

  /** The first `after` sent pieces of a turn, then the end that is named; no `[DONE]`. */
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

  /** The same bytes in pieces of `bytes`, `everyMs` apart, cutting characters and lines where it falls. */
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
