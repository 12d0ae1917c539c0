// The servers that the stream suites compare, the product and a plain proxy, under the same load.
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type Measured, startNanoClaw } from './processes/start.ts'
import { type StreamResult, type StreamTarget, stream } from './stream-client.ts'

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/**
 * Starts the built server in `folder`, with models of the upstream at `upstreamPort`.
 * @param database keys of config.yml for another database than an own SQLite file.
 */
export async function startProduct(
  folder: string,
  upstreamPort: number,
  models: readonly string[],
  database: Record<string, unknown> = {},
): Promise<Measured & { readyAfterMs: number }> {
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
      ...database,
    }),
  )
  return await startNanoClaw(configFile, await freePort(), folder)
}

/** A server under load. */
export interface Contender {
  process: Measured
  /** A request that streams `model`, each in a separate conversation. */
  target(model: string, mode?: 'delta' | 'cumulative'): Promise<StreamTarget>
}

/** The plain proxy. */
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

/** The product. */
export function product(process: Measured): Contender {
  return {
    process,
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

/** Runs parallel or staggered streams and measures the elapsed time and CPU time of the server. */
export async function batch(
  contender: Contender,
  model: string,
  count: number,
  options: { mode?: 'delta' | 'cumulative'; apartMs?: number } = {},
): Promise<Batch> {
  const targets = await Promise.all(
    Array.from({ length: count }, () => contender.target(model, options.mode)),
  )
  const tokens = Number(model.split('-')[1]) * count
  const cpuBefore = contender.process.cpuSeconds()
  const startedAt = performance.now()
  const { apartMs = 0 } = options
  const gapsFrom = apartMs === 0 ? {} : { gapsFrom: startedAt + apartMs * count + 500 }
  const results = await Promise.all(
    targets.map(async (target, at) => {
      if (apartMs > 0) await new Promise((resolve) => setTimeout(resolve, at * apartMs))
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
