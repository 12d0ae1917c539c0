// The 'stream' figures: the server compared with a plain proxy of the same bytes, interleaved in one run.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contender, passThrough, product, runStreams, startProduct } from './contenders.ts'
import { startProgram } from './processes/start.ts'
import { median, percentile, type Row } from './row.ts'
import { stream } from './stream-client.ts'

const SUITE = 'stream'
const AT_ONCE = 8
const ROUNDS = 5
/** Numbers of concurrent streams at 30 tokens/s, tried in order while the token latency stays within its limit. */
const HELD_STEPS = [50, 100, 200, 300, 400, 500, 700, 1000]
const HELD_TOKENS = 450
const HELD_LATENCY_MS = 100
/** Delay between stream starts; the latency is measured once all are running. */
const HELD_APART_MS = 8

const models = ['single-2000', 'single-8000', 'burst-8000', 'single-1', `paced-${HELD_TOKENS}`]

const figure = (name: string, value: number, unit: string, target: string, ok: boolean): Row => ({
  suite: SUITE,
  figure: name,
  value,
  unit,
  target,
  ok,
})

async function throughput(raw: Contender, own: Contender, tokens: number): Promise<Row[]> {
  const model = `single-${tokens}`
  const ratios: number[] = []
  const cpuRatios: number[] = []
  await runStreams(raw, model, AT_ONCE)
  await runStreams(own, model, AT_ONCE)
  for (let round = 0; round < ROUNDS; round += 1) {
    const a = await runStreams(raw, model, AT_ONCE)
    const b = await runStreams(own, model, AT_ONCE)
    ratios.push(b.tokensPerSecond / a.tokensPerSecond)
    cpuRatios.push(b.tokensPerCpuSecond / a.tokensPerCpuSecond)
  }
  return [
    figure(
      `tokens/s, 8 at once, ${tokens} tokens`,
      median(ratios),
      '× raw',
      '≥ 0.8',
      median(ratios) >= 0.8,
    ),
    figure(
      `tokens per CPU second, ${tokens} tokens`,
      median(cpuRatios),
      '× raw',
      '≥ 0.6',
      median(cpuRatios) >= 0.6,
    ),
  ]
}

async function firstToken(raw: Contender, own: Contender): Promise<Row[]> {
  const rawMs: number[] = []
  const ownMs: number[] = []
  for (let at = 0; at < 150; at += 1) {
    rawMs.push((await stream(await raw.target('single-1'))).firstTokenMs)
    ownMs.push((await stream(await own.target('single-1'))).firstTokenMs)
  }
  const p50 = median(ownMs) - median(rawMs)
  const p99 = percentile(ownMs, 0.99) - percentile(rawMs, 0.99)
  return [
    figure('time to first token over raw, p50', p50, 'ms', '≤ 5', p50 <= 5),
    figure('time to first token over raw, p99', p99, 'ms', '≤ 25', p99 <= 25),
  ]
}

async function bytes(own: Contender): Promise<Row[]> {
  const perToken = async (model: string, mode: 'delta' | 'cumulative') => {
    const { results } = await runStreams(own, model, 1, { mode })
    return (results[0]?.bytes ?? 0) / 8000
  }
  const single = await perToken('single-8000', 'delta')
  const burst = await perToken('burst-8000', 'delta')
  const cumulative = await perToken('single-8000', 'cumulative')
  return [
    figure('bytes to the client per token, one by one', single, 'bytes', '≤ 45', single <= 45),
    figure('bytes to the client per token, burst', burst, 'bytes', '≤ 13', burst <= 13),
    figure('cumulative mode, bytes per token', cumulative, 'bytes', '≤ 1005', cumulative <= 1005),
  ]
}

interface Held {
  count: number
  latency: number
  /** Peak resident memory in megabytes, by the number of streams. */
  peaks: Map<number, number>
}

/** The largest number of streams at 30 tokens/s for which the p99 token latency stays within 100 ms. */
async function held(contender: Contender): Promise<Held> {
  const best: Held = { count: 0, latency: 0, peaks: new Map() }
  for (const count of HELD_STEPS) {
    let peak = 0
    const watching = setInterval(() => {
      peak = Math.max(peak, contender.process.memory())
    }, 200)
    const { results } = await runStreams(contender, `paced-${HELD_TOKENS}`, count, {
      staggerMs: HELD_APART_MS,
    })
    clearInterval(watching)
    const gaps = results.flatMap((result) => result.gaps)
    const latency = percentile(gaps, 0.99) - 1000 / 30
    if (latency > HELD_LATENCY_MS) break
    best.count = count
    best.latency = latency
    best.peaks.set(count, peak)
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
      `streams of 30 tokens/s held (raw ${limit.count}, own ${mine.count})`,
      ratio,
      '× raw',
      '≥ 0.7',
      ratio >= 0.7,
    ),
    figure('token latency at that load, p99', mine.latency, 'ms', '< 100', mine.latency < 100),
    figure(
      `memory of each stream beyond ${few}`,
      perStream,
      'KB',
      '≤ 120',
      mine.count > few && perStream <= 120,
    ),
  ]
}

/** Runs the suite against the built server. */
export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-bench-'))
  const upstream = await startProgram('upstream')
  const rawProcess = await startProgram('raw-proxy', String(upstream.port))
  const server = await startProduct(folder, upstream.port, models)
  const raw = passThrough(rawProcess)
  const own = product(server)
  try {
    const rows: Row[] = [
      figure(
        'start with an empty database',
        server.readyAfterMs,
        'ms',
        '≤ 1500',
        server.readyAfterMs <= 1500,
      ),
      figure('memory at rest', server.memory(), 'MB', '≤ 130', server.memory() <= 130),
    ]
    rows.push(...(await firstToken(raw, own)))
    rows.push(...(await throughput(raw, own, 2000)))
    rows.push(...(await throughput(raw, own, 8000)))
    rows.push(...(await bytes(own)))
    rows.push(...(await holding(raw, own)))
    return rows
  } finally {
    await Promise.all([server.stop(), rawProcess.stop(), upstream.stop()])
    await rm(folder, { recursive: true, force: true })
  }
}
