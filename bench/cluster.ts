// The 'cluster' suite: one process against two instances that share PostgreSQL and Redis.
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contender, product, runStreams, startProduct } from './contenders.ts'
import { failoverSeconds, UNFINISHED_MODEL } from './failover.ts'
import { onPostgres } from './postgres.ts'
import { type ProbedServer, startProgram } from './processes/start.ts'
import { median, type Row } from './row.ts'
import { stream } from './stream-client.ts'

const REDIS_URL = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'
const FIRST_TOKENS = 35
const STREAMS = 8
const ROUNDS = 4
/**
 * The part of a core that each instance gets when two are compared with one. With whole cores, the clients, the
 * provider and the databases would need several more than the two of a small machine.
 */
const CORE_PART = 0.2
/** Long enough that the start of an answer hardly matters. */
const TOKENS = 8_000
const LONG = `single-${TOKENS}`
const models = [LONG, 'single-1', UNFINISHED_MODEL]
/** Instances that are killed during an answer. */
const KILLS = 3

const row = (figure: string, value: number, unit: string, target: string, ok: boolean): Row => ({
  suite: 'cluster',
  figure,
  value,
  unit,
  target,
  ok,
})

/** Runs the suite on the built server. Needs a Redis. */
export const run = (): Promise<Row[]> =>
  onPostgres(async (newDatabase) => measure(await newDatabase(), await newDatabase()))

/** @param alone the database of the single process; `shared`: that of the two instances. */
async function measure(alone: string, shared: string): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-bench-'))
  const upstream = await startProgram('upstream')
  const servers: ProbedServer[] = []
  const start = async (database: string, more: Record<string, unknown>): Promise<Contender> => {
    const place = await mkdtemp(join(folder, 'server-'))
    const keys = { db_type: 'postgresql', database_url: database }
    const server = await startProduct(place, upstream.port, models, { ...keys, ...more })
    servers.push(server)
    return product(server)
  }
  const instance = {
    redis_url: REDIS_URL,
    data_dir: join(folder, 'data'),
    workspace_root: join(folder, 'workspaces'),
  }
  try {
    const single = await start(alone, {})
    const first = await start(shared, instance)
    const second = await start(shared, instance)
    const times: number[][] = [[], [], []]
    for (let at = 0; at < FIRST_TOKENS + 5; at += 1)
      for (const [which, one] of [single, first, second].entries()) {
        const { firstTokenMs } = await stream(await one.target('single-1'))
        // The first ones are warm-up.
        if (at >= 5) times[which]?.push(firstTokenMs)
      }
    const [ofSingle = Number.NaN, ofFirst = Number.NaN, ofSecond = Number.NaN] = times.map(median)
    const extra = median([ofFirst, ofSecond]) - ofSingle
    const speeds: [number[], number[]] = [[], []]
    const cpu: [number[], number[]] = [[], []]
    const cpuBefore = { upstream: upstream.cpuSeconds(), client: process.cpuUsage() }
    for (let round = 0; round <= ROUNDS; round += 1) {
      const one = await runStreams(single, LONG, STREAMS)
      const both = await Promise.all(
        [first, second].map((contender) => runStreams(contender, LONG, STREAMS)),
      )
      if (round === 0) continue
      speeds[0].push(one.tokensPerSecond)
      cpu[0].push(1e6 / one.tokensPerCpuSecond)
      cpu[1].push(...both.map(({ tokensPerCpuSecond }) => 1e6 / tokensPerCpuSecond))
      speeds[1].push(both.reduce((sum, { tokensPerSecond }) => sum + tokensPerSecond, 0))
    }
    const tokens = 3 * STREAMS * TOKENS * (ROUNDS + 1)
    const { user, system } = process.cpuUsage(cpuBefore.client)
    const ofUpstream = ((upstream.cpuSeconds() - cpuBefore.upstream) * 1e6) / tokens
    const scaled = await compareHeldBack(first, second)
    const failovers: number[] = []
    for (let kill = 0; kill < KILLS; kill += 1) {
      const owner = kill === 0 ? first : await start(shared, instance)
      failovers.push(await failoverSeconds(owner, second))
    }
    const slowest = Math.max(...failovers)
    const ratio = median(speeds[1]) / median(speeds[0])
    // Input for the simulation (`npm run simulate`).
    console.log(
      `load ${loadavg()[0]?.toFixed(1)}; µs of CPU a token: one process ${median(cpu[0]).toFixed(1)}, an instance ${median(cpu[1]).toFixed(1)}, upstream ${ofUpstream.toFixed(1)}, client ${((user + system) / tokens).toFixed(1)}; tokens/s of both ${median(speeds[1]).toFixed(0)}`,
    )
    return [
      row('first token, one process on PostgreSQL, p50', ofSingle, 'ms', '–', true),
      row('first token, two instances minus one process, p50', extra, 'ms', '≤ 15', extra <= 15),
      row(
        `tokens/s, two instances vs. one process, ${STREAMS} streams each (${median(speeds[0]).toFixed(0)}/s)`,
        ratio,
        '×',
        '≥ 1.2',
        ratio >= 1.2,
      ),
      row(
        `tokens/s, two instances vs. one, each on part of a core (${median(scaled.one).toFixed(0)}/s, ${CORE_PART} of ${availableParallelism()} cores)`,
        median(scaled.both) / median(scaled.one),
        '×',
        '≥ 1.7',
        median(scaled.both) >= 1.7 * median(scaled.one),
      ),
      row(
        `time until another instance continues the run of a dead one (slowest of ${KILLS})`,
        slowest,
        's',
        '≤ 30',
        slowest <= 30,
      ),
    ]
  } finally {
    await Promise.all([...servers, upstream].map((one) => one.stop()))
    await rm(folder, { recursive: true, force: true })
  }
}

/** Tokens per second of one instance and of both, each with a part of a core, alternately. */
async function compareHeldBack(
  first: Contender,
  second: Contender,
): Promise<{ one: number[]; both: number[] }> {
  const pids = [first, second].map(({ process: { pid } }) => pid)
  const holdBack = await startProgram('hold-back', String(CORE_PART), ...pids.map(String))
  const speeds: { one: number[]; both: number[] } = { one: [], both: [] }
  const speedOf = async (contenders: Contender[]): Promise<number> => {
    const batches = await Promise.all(
      contenders.map((contender) => runStreams(contender, LONG, STREAMS)),
    )
    return batches.reduce((sum, { tokensPerSecond }) => sum + tokensPerSecond, 0)
  }
  try {
    for (let round = 0; round <= ROUNDS; round += 1) {
      const [alone, both] = [
        await speedOf([round % 2 === 0 ? first : second]),
        await speedOf([first, second]),
      ]
      // The first round is warm-up.
      if (round > 0) {
        speeds.one.push(alone)
        speeds.both.push(both)
      }
    }
    return speeds
  } finally {
    await holdBack.stop()
    for (const pid of pids) process.kill(pid, 'SIGCONT')
  }
}
