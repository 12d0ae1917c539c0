// Server-sent events in tests: sends a request and reads the events as a client would.
import { createParser } from 'eventsource-parser'

export interface ReceivedEvent {
  id: number
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every kind and fail by themselves where they are wrong
  data: any
}

export interface EventReader {
  status: number
  headers: Headers
  /** Everything received so far. */
  readonly events: readonly ReceivedEvent[]
  /** The first event (received already or not yet) that fits; rejects when the stream ends without it. */
  next(fits: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent>
  /** All events, when the stream has ended. */
  all(): Promise<readonly ReceivedEvent[]>
  /** Hangs up. */
  leave(): void
}

/** Opens a stream; the answer may also be an error, then `status` says so and there are no events. */
export async function openEvents(
  url: string,
  options: {
    method?: string
    body?: unknown
    token?: string
    headers?: Record<string, string>
  } = {},
): Promise<EventReader> {
  const controller = new AbortController()
  const response = await fetch(url, {
    method: options.method ?? (options.body === undefined ? 'GET' : 'POST'),
    signal: controller.signal,
    headers: {
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  })
  const events: ReceivedEvent[] = []
  const waiting = new Set<() => void>()
  let ended = false
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      events.push({ id: Number(id), event: event ?? 'message', data: JSON.parse(data) })
    },
  })
  const finished = (async () => {
    const decoder = new TextDecoder()
    try {
      for await (const chunk of response.body ?? []) {
        parser.feed(decoder.decode(chunk, { stream: true }))
        for (const wake of [...waiting]) wake()
      }
    } catch {
      // Hung up, by us or by the server: what came before stands.
    }
    ended = true
    for (const wake of [...waiting]) wake()
  })()
  return {
    status: response.status,
    headers: response.headers,
    events,
    next: (fits) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = events.find(fits)
          if (found === undefined && !ended) return
          waiting.delete(look)
          if (found !== undefined) resolve(found)
          else reject(new Error(`the stream ended without it: ${JSON.stringify(events.slice(-5))}`))
        }
        waiting.add(look)
        look()
      }),
    async all() {
      await finished
      return events
    },
    leave: () => controller.abort(),
  }
}
