// A client for server-sent events: sends a request and reads the event stream.
import { createParser } from 'eventsource-parser'

export interface ReceivedEvent {
  id: number
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every kind, and their assertions check the shape
  data: any
}

export interface EventReader {
  status: number
  headers: Headers
  /** Everything received so far. */
  readonly events: readonly ReceivedEvent[]
  /** The first event, already received or still to come, that matches; rejects if the stream ends without one. */
  next(fits: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent>
  /** All events, once the stream has ended. */
  all(): Promise<readonly ReceivedEvent[]>
  /** Closes the connection. */
  leave(): void
}

/** Opens a stream. If the response is an error, `status` holds its code and there are no events. */
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
      // Either side closed the connection; the events received so far remain valid.
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
