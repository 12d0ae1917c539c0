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

/** Adds the metrics to the registry. @param traces null: there are none. */
export async function createObservers(
  metrics: Registry,
  traces: TracingOptions | null,
): Promise<Observers> {
  const count = createRunMetrics(metrics)
  if (traces === null) return { observe: count, close: async () => {} }
  const tracing = await createTracing(traces)
  return {
    observe(seen) {
      count(seen)
      tracing.observe(seen)
    },
    close: () => tracing.close(),
  }
}
