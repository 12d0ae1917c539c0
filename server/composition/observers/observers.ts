// Who observes runs: the metrics, and the traces where they are configured.
import type { Registry } from 'prom-client'
import type { RunObservation } from '../../runs/observation.ts'
import { createRunMetrics } from './run-metrics.ts'
import { createConfiguredTracing } from './tracing.ts'

/** Receives what runs do, for metrics and traces. */
export interface Observers {
  observe(seen: RunObservation): void
  /** Sends what is left. */
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
