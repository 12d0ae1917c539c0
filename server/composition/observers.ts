// The observers of runs: metrics, and traces where configured.
import type { Registry } from 'prom-client'
import type { SecretBox } from '../auth/secret-box.ts'
import type { Config } from '../config/schema.ts'
import type { Store } from '../db/store.ts'
import { storedModels } from '../models/stored-models.ts'
import { createRunMetrics } from '../observability/run-metrics.ts'
import { createTracing, type Tracing, type TracingOptions } from '../observability/tracing.ts'
import type { RunObservation } from '../runs/observation.ts'

/** Receives observations of runs, for metrics and traces. */
export interface Observers {
  observe(seen: RunObservation): void
  /** Sends what is not sent yet. */
  close(): Promise<void>
}

/** Adds the metrics to the registry. */
export async function createObservers(
  metrics: Registry,
  options: Parameters<typeof createConfiguredTracing>[0],
): Promise<Observers> {
  const count = createRunMetrics(metrics)
  const tracing = await createConfiguredTracing(options)
  return {
    observe(seen) {
      count(seen)
      tracing?.observe(seen)
    },
    async close() {
      await tracing?.close()
    },
  }
}

/** Null if tracing is not configured. */
export async function createConfiguredTracing({
  config,
  store,
  box,
  instance,
  version,
  log,
}: {
  config: Pick<Config, 'tracing' | 'models'>
  store: { models: Pick<Store['models'], 'list'> }
  box: SecretBox
} & Pick<TracingOptions, 'instance' | 'version' | 'log'>): Promise<Tracing | null> {
  if (config.tracing === undefined) return null
  const { endpoint, headers, service_name: serviceName } = config.tracing
  const modelUrl = async (id: string): Promise<string | undefined> => {
    const configured = config.models.find((model) => model.id === id)
    if (configured !== undefined) return configured.api_url
    const stored = await storedModels(store.models, box, new Map())
    return stored.find(({ settings }) => settings.id === id)?.settings.api_url
  }
  return await createTracing({ endpoint, headers, serviceName, instance, version, modelUrl, log })
}
