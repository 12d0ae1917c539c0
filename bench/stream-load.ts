// The 'stream' figures under load: sends at the same moment, steady streams, and a minimal chat server under the same load.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Contender,
  passThrough,
  peer,
  prepareSends,
  product,
  runStreams,
  startProduct,
  steadyCpu,
  warmUp,
} from './contenders.ts'
import { startProgram } from './processes/start.ts'
import { median, ofRounds, percentile, type Row } from './row.ts'

const BURST = 500
const STREAMS = 300
const PACED_TOKENS = 450
const AT_ONCE = 8
const SENDS = 200
/** Sends before the measured ones: V8 compiles most of the code of a send meanwhile, within about 2,500. */
const WARM_UP_SENDS = 3_000
const ROUNDS = 3
/** Of sends and whole answers, which take a tenth of a second on a fast machine. */
const SHORT_ROUNDS = 15
/** Of sends at the same moment. */
const BURSTS = 5
const models = ['single-1', 'single-2000', `paced-${PACED_TOKENS}`]

const row = (figure: string, unit: string, target: string, rounds: number[], ok: boolean): Row => ({
  suite: 'stream',
  figure,
  unit,
  target,
  ok,
  ...ofRounds(rounds),
})

/** Milliseconds to the first token of sends at the same moment: the median and the last percent, for each round. */
async function burst(contender: Contender): Promise<{ p50: number[]; p99: number[] }> {
  const found = { p50: [] as number[], p99: [] as number[] }
  for (let round = 0; round < BURSTS; round += 1) {
    const send = await prepareSends(contender, BURST, BURST)
    const times = (await send()).map(({ firstTokenMs }) => firstTokenMs)
    found.p50.push(median(times))
    found.p99.push(percentile(times, 0.99))
  }
  return found
}

/** Milliseconds of CPU of a send with an answer of one token. */
async function cpuOfSend(contender: Contender, sends = SENDS): Promise<number> {
  const send = await prepareSends(contender, sends, AT_ONCE)
  const before = contender.process.cpuSeconds()
  await send()
  return ((contender.process.cpuSeconds() - before) / sends) * 1000
}

/** Runs the suite against the built server. */
export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-bench-'))
  const upstream = await startProgram('upstream')
  const port = String(upstream.port)
  const rawProcess = await startProgram('raw-proxy', port)
  const peerProcess = await startProgram('peer', port, join(folder, 'peer.db'))
  const server = await startProduct(folder, upstream.port, models)
  const [raw, small, own] = [passThrough(rawProcess), peer(peerProcess), product(server)]
  try {
    for (const one of [own, small]) {
      await cpuOfSend(one, WARM_UP_SENDS)
      await warmUp(one)
    }
    const sends: number[] = []
    const sendsOfPeer: number[] = []
    const speeds: number[] = []
    const cpu: number[] = []
    for (let round = 0; round < SHORT_ROUNDS; round += 1) {
      sends.push(await cpuOfSend(own))
      sendsOfPeer.push(await cpuOfSend(small))
      const a = await runStreams(small, 'single-2000', AT_ONCE)
      const b = await runStreams(own, 'single-2000', AT_ONCE)
      speeds.push(b.tokensPerSecond / a.tokensPerSecond)
      cpu.push(b.tokensPerCpuSecond / a.tokensPerCpuSecond)
    }
    const { p50, p99 } = await burst(own)
    // The proxy has not run yet.
    for (const one of [raw, own]) await warmUp(one)
    const ratios: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const plain = await steadyCpu(raw, PACED_TOKENS, STREAMS)
      ratios.push((await steadyCpu(own, PACED_TOKENS, STREAMS)) / plain)
    }
    return [
      row('CPU per send with one answer', 'ms', '≤ 2', sends, median(sends) <= 2),
      row('CPU per send, minimal chat server', 'ms', '–', sendsOfPeer, true),
      row('tokens/s vs. minimal chat server', '×', '≥ 1', speeds, median(speeds) >= 1),
      row('tokens per CPU second vs. minimal chat server', '×', '≥ 1', cpu, median(cpu) >= 1),
      row(`${BURST} sends at once: first token, p50`, 'ms', '≤ 250', p50, median(p50) <= 250),
      row(`${BURST} sends at once: first token, p99`, 'ms', '≤ 800', p99, median(p99) <= 800),
      row(
        `CPU per token, ${STREAMS} steady streams`,
        '× raw',
        '≤ 1.15',
        ratios,
        median(ratios) <= 1.15,
      ),
    ]
  } finally {
    await Promise.all([server, rawProcess, peerProcess, upstream].map((one) => one.stop()))
    await rm(folder, { recursive: true, force: true })
  }
}
