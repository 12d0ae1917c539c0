// Reads server-sent events from a fetch answer (the browser's EventSource can neither POST nor send headers).
import { createParser } from 'eventsource-parser'
import type { RunEvent } from '../../../server/protocol/run-event.ts'

/** One event with its place in the run; `id` is null for what is never replayed (live tool output). */
export type NumberedEvent = { id: string | null; event: RunEvent }

const known: Record<RunEvent['event'], true> = {
  run: true,
  process_step: true,
  step_delta: true,
  tool_progress: true,
  retry: true,
  approval_required: true,
  title: true,
  done: true,
  error: true,
}

/** The wire's frame as an event: a step travels bare, everything else beside its name. Null when it is not known. */
const toRunEvent = (
  { name, data }: Frame,
  isProgress: (value: unknown) => boolean,
): RunEvent | null => {
  if (!Object.hasOwn(known, name)) return null
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null) return null
  // Kinds of progress that this page does not know are left out.
  if (name === 'tool_progress' && !('progress' in value && isProgress(value.progress))) return null
  const event = name === 'process_step' ? { event: name, step: value } : { event: name, ...value }
  return event as RunEvent // the server builds every frame from the same type
}

/** Events as they arrive, until the connection ends; `close` ends it from this side. */
export type EventStream<Event = NumberedEvent> = {
  events: AsyncGenerator<Event>
  close: () => void
}

/** One frame of the wire, its data still text. */
export type Frame = { id: string | null; name: string; data: string }

/** The server says something at least every 15 seconds; a line that is silent for this long is dead. */
const silentMs = 40_000

/** Loaded beside the first screen, which does without it. Where it can't be loaded, no progress is shown. */
const progressCheck = import('./check-progress.ts').then(
  ({ isCallProgress }) => isCallProgress,
  () => () => false,
)

/** A run's events; frames of no known event are left out. */
export function readEvents(response: Response): EventStream {
  const frames = readFrames(response, (frame) => frame)
  async function* events(): AsyncGenerator<NumberedEvent> {
    const isProgress = await progressCheck
    for await (const frame of frames.events) {
      const event = toRunEvent(frame, isProgress)
      if (event !== null) yield { id: frame.id, event }
    }
  }
  return { events: events(), close: frames.close }
}

/**
 * Reads an answer's body frame by frame; what `toEvent` answers null for is left out. The events end without an error
 * when the line goes dead or `close` is called.
 */
export function readFrames<Event>(
  response: Response,
  toEvent: (frame: Frame) => Event | null,
): EventStream<Event> {
  const reader = response.body?.getReader()
  let heardAt = Date.now()
  const close = (): void => void reader?.cancel().catch(() => undefined)
  async function* events(): AsyncGenerator<Event> {
    if (reader === undefined) return
    let ready: Event[] = []
    const parser = createParser({
      onEvent: ({ event = 'message', data, id }) => {
        const known = toEvent({ id: id ?? null, name: event, data })
        if (known !== null) ready.push(known)
      },
    })
    const decoder = new TextDecoder()
    // A laptop that slept finds its timers late: the first look after waking sees the silence.
    const watch = setInterval(() => {
      if (Date.now() - heardAt > silentMs) close()
    }, 5_000)
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return
        heardAt = Date.now()
        parser.feed(decoder.decode(value, { stream: true }))
        const batch = ready
        ready = []
        yield* batch
      }
    } finally {
      clearInterval(watch)
      close()
    }
  }
  return { events: events(), close }
}
