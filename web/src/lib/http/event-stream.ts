// Reads server-sent events from a fetch response (the browser's EventSource can neither POST nor send headers).
import { createParser } from 'eventsource-parser'
import type { RunEvent } from '../../../../server/protocol/runs/run-event.ts'
import { firstScreen } from '../browser/first-screen.tsx'

/** One event with its id in the run; `id` is null for events that are never replayed (live tool output). */
export type NumberedEvent = { id: string | null; event: RunEvent }

const KNOWN_EVENTS: Record<RunEvent['event'], true> = {
  run: true,
  process_step: true,
  step_delta: true,
  tool_progress: true,
  retry: true,
  approval_required: true,
  input_required: true,
  title: true,
  done: true,
  error: true,
}

/** Turns a frame into an event: a step is the data itself, everything else gets its name added. Null when it is unknown. */
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
  // Kinds of progress that this page does not know are dropped.
  if (name === 'tool_progress' && !('progress' in value && isProgress(value.progress))) return null
  const event = name === 'process_step' ? { event: name, step: value } : { event: name, ...value }
  return event as RunEvent // the server builds every frame from the same type
}

/** Events as they arrive, until the connection ends; `close` ends it from this side. */
export type EventStream<Event = NumberedEvent> = {
  events: AsyncGenerator<Event>
  close: () => void
}

/** One frame of the stream, with its data still as text. */
export type Frame = { id: string | null; name: string; data: string }

/** The server sends something at least every 15 seconds; a connection that is silent for this long is dead. */
const SILENCE_MS = 40_000

type ProgressCheck = (value: unknown) => boolean
let progressCheck: Promise<ProgressCheck> | null = null

/** Loads after the first screen, which does not need it. If it fails to load, no progress is shown. */
function loadProgressCheck(): Promise<ProgressCheck> {
  progressCheck ??= import('./check-progress.ts').then(
    ({ isCallProgress }) => isCallProgress,
    () => () => false,
  )
  return progressCheck
}
void firstScreen.then(loadProgressCheck)

/** The events of a run; frames without a known event are dropped. */
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
 * Reads a response body frame by frame; frames for which `toEvent` returns null are dropped. The events end without an
 * error when the connection goes dead or `close` is called.
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
    // After sleep, a laptop's timers fire late; the first check after waking notices the silence.
    const watch = setInterval(() => {
      if (Date.now() - heardAt > SILENCE_MS) close()
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
