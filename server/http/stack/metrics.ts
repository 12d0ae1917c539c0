// Prometheus metrics: the process, and the duration of requests by route.
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { App } from '../app.ts'

/**
 * The metrics of the process: memory, event loop, garbage collection. All servers of a process share them, because what
 * collects them runs until the process ends and would keep each server in memory. It begins when they are first read: the delay
 * of the event loop is measured a hundred times a second, which would keep an idle machine awake.
 */
let processRegistry: Registry | undefined

function collectProcessMetrics(): Registry {
  if (processRegistry === undefined) {
    processRegistry = new Registry()
    collectDefaultMetrics({ register: processRegistry })
  }
  return processRegistry
}

/** Other processes behind the same port, whose metrics are served together with those of this one. */
export interface SharedMetrics {
  /** The value of the label `worker` of this process. */
  worker: string
  answer(own: () => Promise<string>): void
  collect(): Promise<string>
}

/**
 * Registers `GET /metrics` and the hooks that feed it.
 * @param registry further metrics to serve.
 * @param shared null if no other process listens on the same port.
 */
export function registerMetrics(
  app: App,
  version: string,
  registry: Registry = new Registry(),
  shared: SharedMetrics | null = null,
): void {
  const duration = new Histogram({
    name: 'nanoclaw_http_request_seconds',
    help: 'Time from the request to the end of the response, by route.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600],
    registers: [registry],
  })
  new Gauge({
    name: 'nanoclaw_build_info',
    help: 'Always 1; the label is the version of the server.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1)
  app.addHook('onResponse', async (request, reply) => {
    duration.observe(
      {
        method: request.method,
        // The pattern of the route, not the path: the number of labels must be bounded.
        route: request.routeOptions.url ?? 'unknown',
        status: String(reply.statusCode),
      },
      reply.elapsedTime / 1000,
    )
  })
  const own = async (): Promise<string> => {
    const registries = [collectProcessMetrics(), registry]
    // Without a label of their own, the counters of processes that are asked in turn would seem to jump back and forth.
    if (shared !== null)
      for (const one of registries) one.setDefaultLabels({ worker: shared.worker })
    return (await Promise.all(registries.map((one) => one.metrics()))).join('\n')
  }
  shared?.answer(own)
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) =>
    reply.type(registry.contentType).send(await (shared === null ? own() : shared.collect())),
  )
}
