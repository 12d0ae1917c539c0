// The 'cluster' suite: one process against two instances that share PostgreSQL and Redis.
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contender, product, runStreams, startProduct } from './contenders.ts'
import { onPostgres } from './postgres.ts'
import { type ProbedServer, startProgram } from './processes/start.ts'
import { median, type Row } from './row.ts'
import { stream } from './stream-client.ts'

const REDIS_URL = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'
const FIRST_TOKENS = 35
const STREAMS = 8
const ROUNDS = 4
const models = ['single-2000', 'single-1']

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
    for (let round = 0; round <= ROUNDS; round += 1) {
      const one = await runStreams(single, 'single-2000', STREAMS)
      const both = await Promise.all(
        [first, second].map((contender) => runStreams(contender, 'single-2000', STREAMS)),
      )
      if (round === 0) continue
      speeds[0].push(one.tokensPerSecond)
      cpu[0].push(1e6 / one.tokensPerCpuSecond)
      cpu[1].push(...both.map(({ tokensPerCpuSecond }) => 1e6 / tokensPerCpuSecond))
      speeds[1].push(both.reduce((sum, { tokensPerSecond }) => sum + tokensPerSecond, 0))
    }
    const ratio = median(speeds[1]) / median(speeds[0])
    // What the simulation (`npm run simulate`) starts from.
    const own = process.cpuUsage()
    console.log(
      `load ${loadavg()[0]?.toFixed(1)}; µs of CPU a token: one process ${median(cpu[0]).toFixed(1)}, an instance ${median(cpu[1]).toFixed(1)}; tokens/s of both ${median(speeds[1]).toFixed(0)}; CPU seconds: upstream ${upstream.cpuSeconds().toFixed(1)}, client ${((own.user + own.system) / 1e6).toFixed(1)}`,
    )
    return [
      row('first token, one process on PostgreSQL, p50', ofSingle, 'ms', '–', true),
      row(
        'first token, two instances, more than one process, p50',
        extra,
        'ms',
        '≤ 15',
        extra <= 15,
      ),
      row(
        `tokens/s of both over one process (${median(speeds[0]).toFixed(0)}/s), ${STREAMS} streams each`,
        ratio,
        '×',
        '≥ 1.2',
        ratio >= 1.2,
      ),
    ]
  } finally {
    await Promise.all([...servers, upstream].map((one) => one.stop()))
    await rm(folder, { recursive: true, force: true })
  }
}
