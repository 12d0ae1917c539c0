// What a trace of Chromium says: how long the tasks of the page are, and how late scrolling is shown.
import type { CDPSession } from 'playwright-core'
import { z } from 'zod'

/** An event of a trace, as far as it is read here; times are in microseconds. */
const TraceEvent = z.object({
  name: z.string(),
  ph: z.string(),
  pid: z.number(),
  tid: z.number(),
  ts: z.number(),
  /** Processor time. */
  tdur: z.number().optional(),
  id2: z.object({ local: z.string().optional() }).optional(),
  args: z
    .object({
      name: z.union([z.string(), z.number()]).optional(),
      event_latency: z.object({ event_type: z.string().optional() }).optional(),
    })
    .optional(),
})
type TraceEvent = z.infer<typeof TraceEvent>

/** The processor time of each task of the page, and the times from each scrolling to its frame, in milliseconds. */
interface Traced {
  taskMs: number[]
  scrollMs: number[]
}

/** Traces the browser during `action`. Nothing but the page of the session may be busy. */
export async function traced(cdp: CDPSession, action: () => Promise<void>): Promise<Traced> {
  const values: unknown[] = []
  cdp.on('Tracing.dataCollected', ({ value }) => void values.push(...value))
  await cdp.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel', 'input.scrolling'] },
  })
  await action()
  const isComplete = new Promise((resolve) => cdp.once('Tracing.tracingComplete', resolve))
  await cdp.send('Tracing.end')
  await isComplete
  const events = values.flatMap((value) => TraceEvent.safeParse(value).data ?? [])
  return { taskMs: taskTimes(events), scrollMs: scrollTimes(events) }
}

function taskTimes(events: readonly TraceEvent[]): number[] {
  const threadOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`
  const mainThreads = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(threadOf),
  )
  const tasks = events.filter(
    (event) => event.name === 'ThreadControllerImpl::RunTask' && mainThreads.has(threadOf(event)),
  )
  if (tasks.length === 0) throw new Error('The trace holds no task of the page')
  return tasks.map(({ tdur = 0 }) => tdur / 1_000)
}

function scrollTimes(events: readonly TraceEvent[]): number[] {
  const begun = new Map<string, number>()
  const times: number[] = []
  for (const { name, ph, pid, ts, id2, args } of events) {
    if (name !== 'EventLatency') continue
    const key = `${pid} ${id2?.local}`
    if (ph === 'b' && args?.event_latency?.event_type?.endsWith('GESTURE_SCROLL_UPDATE') === true)
      begun.set(key, ts)
    const start = ph === 'e' ? begun.get(key) : undefined
    if (start === undefined) continue
    times.push((ts - start) / 1_000)
    begun.delete(key)
  }
  return times
}
