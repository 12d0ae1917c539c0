// The servers that the stream suites compare, the product and a plain proxy, under the same load.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { freePort } from '../tests/support/server/free-port.ts'
import { type Measured, type ProbedServer, startNanoClaw } from './processes/start.ts'
import { type StreamResult, type StreamTarget, stream } from './stream-client.ts'

/**
 * Starts the built server in `folder`, with models of the upstream at `upstreamPort`.
 * @param keys further keys of config.yml, for example for a database other than a new SQLite file.
 */
export async function startProduct(
  folder: string,
  upstreamPort: number,
  models: readonly string[],
  keys: Record<string, unknown> = {},
  { withProbe = false } = {},
): Promise<ProbedServer> {
  const configFile = join(folder, 'config.yml')
  await writeFile(
    configFile,
    JSON.stringify({
      data_dir: join(folder, 'data'),
      workspace_root: join(folder, 'workspaces'),
      log_level: 'error',
      titles: 'first_message',
      limits: { runs_per_user: 10_000 },
      models: models.map((id) => ({
        id,
        api_url: `http://127.0.0.1:${upstreamPort}/v1`,
        api_key: 'none',
      })),
      ...keys,
    }),
  )
  return await startNanoClaw(configFile, await freePort(), folder, withProbe)
}

const START_APART_MS = 8
const SETTLE_MS = 2_000
const STEADY_SECONDS = 6
/** Streams before the measured ones: otherwise V8 still compiles in the first seconds, a fifth of the product's CPU time. */
export const WARM_UP = { model: 'single-2000', streams: 8, rounds: 4 }
/** Of a `paced` model. */
const TOKENS_PER_SECOND = 30

/** A server under test and the requests that put load on it. */
export interface Contender {
  process: Measured
  /** Whether `/metrics` reports the delay of its event loop. */
  reportsMetrics?: true
  /** Creates a request that streams `model`, each in a separate conversation. */
  target(model: string, mode?: 'delta' | 'cumulative'): Promise<StreamTarget>
}

/** The plain proxy as a contender. */
export function passThrough(process: Measured): Contender {
  return {
    process,
    target: async (model) => ({
      port: process.port,
      path: '/v1/chat/completions',
      body: { model, stream: true, messages: [{ role: 'user', content: 'Go on.' }] },
      textMark: '"content":"word ',
      endMark: '[DONE]',
    }),
  }
}

/** A minimal chat server as a contender (`processes/peer.ts`). */
export function peer(process: Measured): Contender {
  return {
    process,
    target: async (model) => ({
      port: process.port,
      path: '/chat',
      body: { model, text: 'Go on.' },
      textMark: '"delta":"word ',
      endMark: 'event: done',
    }),
  }
}

/** The product as a contender. */
export function product(process: Measured): Contender {
  return {
    process,
    reportsMetrics: true,
    async target(model, mode = 'delta') {
      const answer = await fetch(`http://127.0.0.1:${process.port}/api/conversations`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      })
      const { data } = (await answer.json()) as { data: { id: string } }
      return {
        port: process.port,
        path: `/api/conversations/${data.id}/messages`,
        body: { model, text: 'Go on.', stream_mode: mode, tools_enabled: false },
        textMark: mode === 'delta' ? '"delta":"word ' : '"content":"word ',
        endMark: 'event: done',
      }
    },
  }
}

export interface Batch {
  tokensPerSecond: number
  tokensPerCpuSecond: number
  results: StreamResult[]
}

/** Sends one message in each of so many new conversations, which were created before; some at the same time. */
export async function prepareSends(contender: Contender, count: number, atOnce: number) {
  const targets: StreamTarget[] = []
  for (let made = 0; made < count; made += 1) targets.push(await contender.target('single-1'))
  return async (): Promise<StreamResult[]> => {
    const results: StreamResult[] = []
    const queue = targets.values()
    const work = async () => {
      for (const target of queue) results.push(await stream(target))
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    return results
  }
}

/** Lets V8 compile what streams run. `steadyCpu` measures only what is left after that. */
export async function warmUp(contender: Contender): Promise<void> {
  for (let round = 0; round < WARM_UP.rounds; round += 1)
    await runStreams(contender, WARM_UP.model, WARM_UP.streams)
}

/**
 * Microseconds of CPU for each token while many streams of 30 tokens/s are running; their starts and ends do not count.
 * @param tokens of each stream; they must last for `STEADY_SECONDS` and the starts.
 */
export async function steadyCpu(
  contender: Contender,
  tokens: number,
  streams: number,
): Promise<number> {
  const all = runStreams(contender, `paced-${tokens}`, streams, { staggerMs: START_APART_MS })
  await sleep(streams * START_APART_MS + SETTLE_MS)
  const before = contender.process.cpuSeconds()
  const startedAt = performance.now()
  await sleep(STEADY_SECONDS * 1000)
  const seconds = (performance.now() - startedAt) / 1000
  const cpu = contender.process.cpuSeconds() - before
  await all
  return (cpu * 1e6) / (streams * TOKENS_PER_SECOND * seconds)
}

/**
 * For the requests before the measured ones. The client keeps a connection for each request at once, and idle connections
 * would count as memory of the streams and toward the server's limit.
 */
const fewAtOnce = pLimit(16)

/** Runs parallel or staggered streams and measures the elapsed time and CPU time of the server. */
export async function runStreams(
  contender: Contender,
  model: string,
  count: number,
  options: { mode?: 'delta' | 'cumulative'; staggerMs?: number } = {},
): Promise<Batch> {
  const targets = await Promise.all(
    Array.from({ length: count }, () => fewAtOnce(() => contender.target(model, options.mode))),
  )
  const tokens = Number(model.split('-')[1]) * count
  const cpuBefore = contender.process.cpuSeconds()
  const startedAt = performance.now()
  const { staggerMs = 0 } = options
  const gapsFrom = staggerMs === 0 ? {} : { gapsFrom: startedAt + staggerMs * count + 500 }
  const results = await Promise.all(
    targets.map(async (target, at) => {
      if (staggerMs > 0) await new Promise((resolve) => setTimeout(resolve, at * staggerMs))
      return await stream({ ...target, ...gapsFrom })
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  const cpu = contender.process.cpuSeconds() - cpuBefore
  if (results.some((result) => !result.complete)) throw new Error(`${model}: a stream was cut`)
  return {
    tokensPerSecond: tokens / seconds,
    tokensPerCpuSecond: tokens / Math.max(cpu, 0.01),
    results,
  }
}
