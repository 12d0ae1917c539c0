// The observers of runs: metrics, and traces where configured.
import type { Registry } from 'prom-client'
import type { RunObservation } from '../runs/observation.ts'
import { createRunMetrics } from './run-metrics.ts'
import { createTracing, type TracingOptions } from './tracing.ts'

/** Receives observations of runs, for metrics and traces. */
export interface Observers {
  observe(seen: RunObservation): void
  /** Sends what is not sent yet. */
  close(): Promise<void>
}

/** Adds the metrics to the registry. @param destination null: there are no traces. */
export async function createObservers(
  metrics: Registry,
  destination: Pick<TracingOptions, 'endpoint' | 'headers' | 'serviceName'> | null,
  source: Omit<TracingOptions, 'endpoint' | 'headers' | 'serviceName'>,
): Promise<Observers> {
  const count = createRunMetrics(metrics)
  if (destination === null) return { observe: count, close: async () => {} }
  const tracing = await createTracing({ ...destination, ...source })
  return {
    observe(seen) {
      count(seen)
      tracing.observe(seen)
    },
    close: () => tracing.close(),
  }
}
