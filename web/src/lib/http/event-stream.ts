// Reads server-sent events from a fetch response, because the browser's EventSource can neither POST nor send headers.
import { createParser } from 'eventsource-parser'
import type { RunEvent } from '../../../../server/protocol/runs/run-event.ts'
import { firstScreen } from '../browser/first-screen.tsx'

/** An event with its id in the run log. `id` is null for events that are never replayed (live tool output). */
export type NumberedEvent = { id: string | null; event: RunEvent }

const KNOWN_EVENTS: Record<RunEvent['event'], true> = {
  run: true,
  process_step: true,
  step_delta: true,
  tool_progress: true,
  retry: true,
  approval_required: true,
  input_required: true,
  plan: true,
  title: true,
  done: true,
  error: true,
}

/** Converts a frame to an event: the data of a step becomes its `step` field, other data is the event's fields. Null if unknown. */
const toRunEvent = (
  { name, data }: Frame,
  isProgress: (value: unknown) => boolean,
): RunEvent | null => {
  if (!Object.hasOwn(KNOWN_EVENTS, name)) return null
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null) return null
  if (name === 'tool_progress' && !('progress' in value && isProgress(value.progress))) return null
  const event = name === 'process_step' ? { event: name, step: value } : { event: name, ...value }
  return event as RunEvent // the server creates every frame from the same type
}

/** Events as they arrive, until the connection ends; `close` closes it from this side. */
export type EventStream<Event = NumberedEvent> = {
  events: AsyncGenerator<Event>
  close: () => void
}

/** One frame of the stream; `data` is unparsed text. */
export type Frame = { id: string | null; name: string; data: string }

/** The server sends something at least every 15 seconds; a connection that is silent for this long is dead. */
const MAX_SILENCE_MS = 40_000

type ProgressCheck = (value: unknown) => boolean
let progressCheck: Promise<ProgressCheck> | null = null

/** Loads the schema after the first screen, which does not need it. If that fails, the page shows no progress. */
function loadProgressCheck(): Promise<ProgressCheck> {
  progressCheck ??= import('./check-progress.ts').then(
    ({ isCallProgress }) => isCallProgress,
    () => () => false,
  )
  return progressCheck
}
void firstScreen.then(loadProgressCheck)

/** The events of a run. Drops frames that are not a known event. */
export function readEvents(response: Response): EventStream {
  const frames = readFrames(response, (frame) => frame)
  async function* events(): AsyncGenerator<NumberedEvent> {
    const isProgress = await loadProgressCheck()
    for await (const frame of frames.events) {
      const event = toRunEvent(frame, isProgress)
      if (event !== null) yield { id: frame.id, event }
    }
  }
  return { events: events(), close: frames.close }
}

/**
 * Reads a response body frame by frame and drops frames for which `toEvent` returns null. The events end without an error
 * when the connection is dead or `close` is called.
 */
export function readFrames<Event>(
  response: Response,
  toEvent: (frame: Frame) => Event | null,
): EventStream<Event> {
  const reader = response.body?.getReader()
  let lastDataAt = Date.now()
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
    // An interval, because timers pause during sleep: the first check after waking notices the silence.
    const silenceCheck = setInterval(() => {
      if (Date.now() - lastDataAt > MAX_SILENCE_MS) close()
    }, 5_000)
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return
        lastDataAt = Date.now()
        parser.feed(decoder.decode(value, { stream: true }))
        const batch = ready
        ready = []
        yield* batch
      }
    } finally {
      clearInterval(silenceCheck)
      close()
    }
  }
  return { events: events(), close }
}
