// The 'stream' figures: the server compared with a plain proxy of the same bytes, interleaved in one run.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Contender,
  passThrough,
  prepareSends,
  product,
  runStreams,
  startProduct,
  warmUp,
} from './contenders.ts'
import { startProgram } from './processes/start.ts'
import { median, ofRounds, percentile, type Row } from './row.ts'
import { stream } from './stream-client.ts'

const SUITE = 'stream'
const AT_ONCE = 8
/** A round takes a tenth of a second on a fast machine. */
const ROUNDS = 15
/** Enough that the 99th percentile is not a single slow sync of the disk. */
const FIRST_TOKENS = 1_000
/** Sends before them: until V8 has compiled the code of a send, one takes up to twice the CPU time. */
const WARM_UP_SENDS = 2_000
const CUMULATIVE_ROUNDS = 3

const models = ['single-2000', 'single-8000', 'burst-8000', 'single-1']

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
  // Rounds are so short that V8 would still compile in most of them.
  for (const one of [raw, own]) await warmUp(one)
  for (let round = 0; round < ROUNDS; round += 1) {
    const a = await runStreams(raw, model, AT_ONCE)
    const b = await runStreams(own, model, AT_ONCE)
    ratios.push(b.tokensPerSecond / a.tokensPerSecond)
    cpuRatios.push(b.tokensPerCpuSecond / a.tokensPerCpuSecond)
  }
  const [speed, cpu] = tokens > 4_000 ? [1.1, 0.95] : [0.95, 0.9]
  return [
    {
      ...figure(
        `tokens/s, 8 at once, ${tokens} tokens`,
        median(ratios),
        '× raw',
        `≥ ${speed}`,
        median(ratios) >= speed,
      ),
      ...ofRounds(ratios),
    },
    {
      ...figure(
        `tokens per CPU second, ${tokens} tokens`,
        median(cpuRatios),
        '× raw',
        `≥ ${cpu}`,
        median(cpuRatios) >= cpu,
      ),
      ...ofRounds(cpuRatios),
    },
  ]
}

const measureFirst = async (contender: Contender): Promise<number> =>
  (await stream(await contender.target('single-1'))).firstTokenMs

async function firstToken(raw: Contender, own: Contender): Promise<Row[]> {
  const rawMs: number[] = []
  const ownMs: number[] = []
  const first = await measureFirst(own)
  for (const one of [raw, own]) await (await prepareSends(one, WARM_UP_SENDS, AT_ONCE))()
  for (let at = 0; at < FIRST_TOKENS; at += 1) {
    rawMs.push(await measureFirst(raw))
    ownMs.push(await measureFirst(own))
  }
  const p50 = median(ownMs) - median(rawMs)
  const p99 = percentile(ownMs, 0.99) - percentile(rawMs, 0.99)
  return [
    figure('time to first token minus raw, p50', p50, 'ms', '≤ 2', p50 <= 2),
    figure('time to first token minus raw, p99', p99, 'ms', '≤ 6', p99 <= 6),
    figure('time to the first token after startup', first, 'ms', '–', true),
  ]
}

/** Speed of cumulative mode. The target is ten times the Python server's, compared with the same proxy (0.02). */
async function cumulative(raw: Contender, own: Contender): Promise<Row> {
  const ratios: number[] = []
  for (let round = 0; round < CUMULATIVE_ROUNDS; round += 1) {
    const a = await runStreams(raw, 'single-8000', AT_ONCE)
    const b = await runStreams(own, 'single-8000', AT_ONCE, { mode: 'cumulative' })
    ratios.push(b.tokensPerSecond / a.tokensPerSecond)
  }
  const name = 'cumulative mode: tokens/s, 8 at once, 8000 tokens'
  const row = figure(name, median(ratios), '× raw', '≥ 0.2', median(ratios) >= 0.2)
  return { ...row, ...ofRounds(ratios) }
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
    figure(
      'bytes to the client per token, tokens one by one',
      single,
      'bytes',
      '≤ 45',
      single <= 45,
    ),
    figure('bytes to the client per token, burst', burst, 'bytes', '≤ 13', burst <= 13),
    figure(
      'cumulative mode: bytes to the client per token',
      cumulative,
      'bytes',
      '≤ 1005',
      cumulative <= 1005,
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
        'startup with an empty database',
        server.readyAfterMs,
        'ms',
        '≤ 1500',
        server.readyAfterMs <= 1500,
      ),
      figure(
        'idle memory of the server process',
        server.memory(),
        'MB',
        '≤ 150',
        server.memory() <= 150,
      ),
    ]
    rows.push(...(await firstToken(raw, own)))
    rows.push(...(await throughput(raw, own, 2000)))
    rows.push(...(await throughput(raw, own, 8000)))
    rows.push(...(await bytes(own)))
    rows.push(await cumulative(raw, own))
    return rows
  } finally {
    await Promise.all([server.stop(), rawProcess.stop(), upstream.stop()])
    await rm(folder, { recursive: true, force: true })
  }
}
