// Reads a run's server-sent events from a fetch answer (the browser's EventSource can neither POST nor send headers).
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { RunEvent } from '../../../server/protocol/run-event.ts'

/** One event with its place in the run; `id` is null for what is never replayed (live tool output). */
export type NumberedEvent = { id: string | null; event: RunEvent }

const known: Record<RunEvent['event'], true> = {
  run: true,
  process_step: true,
  step_delta: true,
  tool_progress: true,
  approval_required: true,
  title: true,
  done: true,
  error: true,
}

/** The wire's frame as an event: a step travels bare, everything else beside its name. Null when it is not known. */
const toRunEvent = (name: string, data: string): RunEvent | null => {
  if (!Object.hasOwn(known, name)) return null
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null) return null
  const event = name === 'process_step' ? { event: name, step: value } : { event: name, ...value }
  return event as RunEvent // the server builds every frame from the same type
}

/** Yields events until the connection ends. A broken connection throws what the body's reader throws. */
export async function* readEvents(response: Response): AsyncGenerator<NumberedEvent> {
  if (response.body === null) return
  const frames = response.body
    .pipeThrough(
      new TextDecoderStream() as unknown as TransformStream<Uint8Array<ArrayBuffer>, string>,
    ) // lib.dom types its input as any buffer
    .pipeThrough(new EventSourceParserStream())
    .getReader()
  try {
    for (;;) {
      const { done, value } = await frames.read()
      if (done) return
      const event = toRunEvent(value.event ?? 'message', value.data)
      if (event !== null) yield { id: value.id ?? null, event }
    }
  } finally {
    void frames.cancel().catch(() => undefined)
  }
}
