// The 'stream' figures at the limit: how many steady streams the server holds, compared with a plain proxy, and their memory.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Contender,
  passThrough,
  product,
  runStreams,
  startProduct,
  WARM_UP,
  warmUp,
} from './contenders.ts'
import { startProgram } from './processes/start.ts'
import { percentile, type Row } from './row.ts'

const SUITE = 'stream'
/** Numbers of concurrent streams at 30 tokens/s, tried in order while they are held. */
const HELD_STEPS = [50, 100, 200, 300, 400, 500, 600, 700, 1000]
const HELD_TOKENS = 450
const TOKEN_MS = 1000 / 30
/** The limit of the 99th percentile of the time between events with text. A token waits less than that. */
const HELD_GAP_MS = 100
/** The limit of the 99th percentile of the event loop's delay. */
const HELD_LOOP_DELAY_MS = 50
/** A step that misses a limit is tried again, because other programs on the machine can only make it worse. */
const HELD_TRIES = 2
/** Delay between stream starts; the latency is measured once all are running. */
const HELD_APART_MS = 8

const figure = (name: string, value: number, unit: string, target: string, ok: boolean): Row => ({
  suite: SUITE,
  figure: name,
  value,
  unit,
  target,
  ok,
})

interface Step {
  /** The 99th percentile of the time between events with text, in milliseconds. */
  gap: number
  /** The 99th percentile of the delay of the server's event loop, in milliseconds; NaN for the proxy. */
  loopDelay: number
  /** Peak resident memory in megabytes. */
  peak: number
}

interface Held extends Step {
  count: number
  /** Peak resident memory in megabytes, by the number of streams. */
  peaks: Map<number, number>
}

/** The 99th percentile of the event loop's delay since the last call, in milliseconds. */
async function loopDelayOf({ process: { port }, reportsMetrics }: Contender): Promise<number> {
  if (!reportsMetrics) return Number.NaN
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(metrics)?.[1]) * 1000
}

/** The figures if not even the first step is held. */
const NOTHING: Step = { gap: Number.NaN, loopDelay: Number.NaN, peak: Number.NaN }

/** Runs so many streams of 30 tokens/s at the same time. */
async function runStep(contender: Contender, count: number): Promise<Step> {
  let peak = 0
  const watching = setInterval(() => {
    peak = Math.max(peak, contender.process.memory())
  }, 200)
  await loopDelayOf(contender)
  // Cleared in any case: measuring a stopped process would hide why the streams failed.
  const { results } = await runStreams(contender, `paced-${HELD_TOKENS}`, count, {
    staggerMs: HELD_APART_MS,
  }).finally(() => clearInterval(watching))
  const gaps = results.flatMap((result) => result.gaps)
  return { gap: percentile(gaps, 0.99), loopDelay: await loopDelayOf(contender), peak }
}

/** NaN, the delay of the proxy, is not a miss. */
const isHeld = ({ gap, loopDelay }: Step): boolean =>
  gap < HELD_GAP_MS && !(loopDelay >= HELD_LOOP_DELAY_MS)

/** The largest number of streams that stays within all limits. */
async function held(contender: Contender): Promise<Held> {
  const best: Held = { count: 0, ...NOTHING, peaks: new Map() }
  for (const count of HELD_STEPS) {
    let step = await runStep(contender, count)
    for (let tries = 1; tries < HELD_TRIES && !isHeld(step); tries += 1)
      step = await runStep(contender, count)
    if (!isHeld(step)) break
    best.peaks.set(count, step.peak)
    Object.assign(best, step, { count })
  }
  return best
}

async function holding(raw: Contender, own: Contender): Promise<Row[]> {
  const limit = await held(raw)
  const mine = await held(own)
  const ratio = mine.count / Math.max(1, limit.count)
  const few = HELD_STEPS[0] ?? 0
  const grown = (mine.peaks.get(mine.count) ?? 0) - (mine.peaks.get(few) ?? 0)
  const perStream = (grown * 1024) / Math.max(1, mine.count - few)
  return [
    figure(
      `concurrent streams of 30 tokens/s (raw ${limit.count}, own ${mine.count})`,
      ratio,
      '× raw',
      '≥ 1',
      ratio >= 1,
    ),
    figure(
      'token latency with that many streams, p99',
      mine.gap - TOKEN_MS,
      'ms',
      '< 100',
      mine.gap - TOKEN_MS < 100,
    ),
    figure(
      'time between text events with that many streams, p99',
      mine.gap,
      'ms',
      '< 100',
      mine.gap < HELD_GAP_MS,
    ),
    figure(
      'event-loop delay with that many streams, p99',
      mine.loopDelay,
      'ms',
      '< 50',
      mine.loopDelay < HELD_LOOP_DELAY_MS,
    ),
    figure(
      `memory per stream above ${few} streams`,
      perStream,
      'KB',
      '≤ 100',
      mine.count > few && perStream <= 100,
    ),
  ]
}

/** Live memory is measured when so many streams have sent so much of their text. */
const LIVE_STEPS = [50, 300] as const
const LIVE_AFTER_MS = 10_000

/** What each stream keeps on the heap while its answer is written. Slightly too high: the second reading includes the logs of the first streams. */
async function live(folder: string, upstreamPort: number): Promise<Row> {
  const model = `paced-${HELD_TOKENS}`
  const server = await startProduct(
    folder,
    upstreamPort,
    [model, WARM_UP.model],
    {},
    { withProbe: true },
  )
  try {
    const own = product(server)
    await warmUp(own)
    const bytes: number[] = []
    for (const count of LIVE_STEPS) {
      const [used] = await Promise.all([
        sleep(LIVE_AFTER_MS).then(() => server.liveBytes()),
        runStreams(own, model, count, { staggerMs: HELD_APART_MS }),
      ])
      bytes.push(used)
    }
    const [few = 0, many = 0] = bytes
    const each = (many - few) / (LIVE_STEPS[1] - LIVE_STEPS[0]) / 1024
    return figure('live memory per stream, 300 streams', each, 'KB', '≤ 40', each <= 40)
  } finally {
    await server.stop()
  }
}

/** Runs the suite against the built server. */
export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-bench-'))
  const upstream = await startProgram('upstream')
  const rawProcess = await startProgram('raw-proxy', String(upstream.port))
  const server = await startProduct(folder, upstream.port, [`paced-${HELD_TOKENS}`, WARM_UP.model])
  const [raw, own] = [passThrough(rawProcess), product(server)]
  try {
    for (const one of [raw, own]) await warmUp(one)
    const rows = await holding(raw, own)
    await server.stop()
    return [...rows, await live(await mkdtemp(join(folder, 'live-')), upstream.port)]
  } finally {
    await Promise.all([server.stop(), rawProcess.stop(), upstream.stop()])
    await rm(folder, { recursive: true, force: true })
  }
}
