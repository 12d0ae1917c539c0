// Prometheus metrics of runs, their model calls and their tools.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { RunObservation } from '../runs/observation.ts'
import type { RunRegistry } from '../runs/registry.ts'

const RUN_SECONDS = [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600]
const TOKEN_SECONDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30]
const TOOL_SECONDS = [0.01, 0.05, 0.2, 1, 5, 15, 60, 300]

/** Adds the metrics to the registry. Returns a function that counts an observation. */
export function createRunMetrics(registry: Registry): (observation: RunObservation) => void {
  const registers = [registry]
  const runs = new Histogram({
    name: 'nanoclaw_run_seconds',
    help: 'Time from the start of a run, or of its last attempt, to its end, by outcome.',
    labelNames: ['outcome'],
    buckets: RUN_SECONDS,
    registers,
  })
  const firstToken = new Histogram({
    name: 'nanoclaw_first_token_seconds',
    help: 'Time from the start of a run to the first text or thinking of the model.',
    labelNames: ['model'],
    buckets: TOKEN_SECONDS,
    registers,
  })
  const tokens = new Counter({
    name: 'nanoclaw_tokens_total',
    help: 'Tokens of model calls by kind: input, cached_input (part of input), output.',
    labelNames: ['model', 'kind'],
    registers,
  })
  const modelCalls = new Counter({
    name: 'nanoclaw_model_calls_total',
    help: 'Model calls that used tokens.',
    labelNames: ['model'],
    registers,
  })
  const cost = new Counter({
    name: 'nanoclaw_cost_total',
    help: 'Cost of model calls, by currency, at the prices of the time of use.',
    labelNames: ['model', 'currency'],
    registers,
  })
  const tools = new Histogram({
    name: 'nanoclaw_tool_seconds',
    help: 'Duration of tool calls that ran, by outcome (success or failure).',
    labelNames: ['tool', 'outcome'],
    buckets: TOOL_SECONDS,
    registers,
  })
  const reranking = new Histogram({
    name: 'nanoclaw_rerank_seconds',
    help: 'Duration of requests to the reranker, by outcome (success or failure). After a failure, the order is that of the search.',
    labelNames: ['outcome'],
    buckets: TOKEN_SECONDS,
    registers,
  })
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers })
  const steps = counter('nanoclaw_steps_total', 'Steps of runs: texts, tool calls and results.')
  const lost = counter(
    'nanoclaw_lost_attempts_total',
    'Runs continued here after the process that performed them was lost.',
  )
  const retries = counter(
    'nanoclaw_store_retries_total',
    'Writes tried again after the database was busy, full or unavailable.',
  )
  return (seen) => {
    switch (seen.kind) {
      case 'first_token':
        firstToken.observe({ model: seen.model }, seen.seconds)
        break
      case 'model_call': {
        const { model } = seen
        modelCalls.inc({ model })
        tokens.inc({ model, kind: 'input' }, seen.promptTokens)
        tokens.inc({ model, kind: 'cached_input' }, seen.cachedTokens)
        tokens.inc({ model, kind: 'output' }, seen.completionTokens)
        if (seen.currency !== '') cost.inc({ model, currency: seen.currency }, seen.cost)
        break
      }
      case 'tool_call':
        tools.observe(
          { tool: seen.tool, outcome: seen.isSuccess ? 'success' : 'failure' },
          seen.seconds,
        )
        break
      case 'rerank':
        reranking.observe({ outcome: seen.outcome }, seen.seconds)
        break
      case 'run_ended':
        runs.observe({ outcome: seen.outcome }, seen.seconds)
        steps.inc(seen.steps)
        break
      case 'store_retry':
        retries.inc()
        break
      // Meant for traces, but lost attempts are reported nowhere else.
      case 'attempt_ended':
        if (seen.outcome === 'lost') lost.inc()
        break
    }
  }
}

/** Adds gauges of the runs that this process performs and of its part in a cluster, read on each scrape. */
export function addRunGauges(
  registry: Registry,
  runs: Pick<RunRegistry, 'load'>,
  instance: { queuedRuns(): Promise<number>; leaseLapses(): number },
): void {
  const gauge = (name: string, help: string, read: (load: RunRegistry['load']) => number): Gauge =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read(runs.load))
      },
    })
  gauge('nanoclaw_active_runs', 'Runs that this process performs.', ({ active }) => active)
  gauge('nanoclaw_waiting_runs', 'Of these, runs that wait for a person.', ({ waiting }) => waiting)
  gauge('nanoclaw_run_listeners', 'Connections that follow a run.', ({ listeners }) => listeners)
  new Gauge({
    name: 'nanoclaw_queued_runs',
    help: 'Runs in the queue of all instances; 0 in a single process.',
    registers: [registry],
    async collect() {
      this.set(await instance.queuedRuns())
    },
  })
  new Counter({
    name: 'nanoclaw_lease_lapses_total',
    help: 'How often this instance did not renew its lease in time, so that others may have taken its runs.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(instance.leaseLapses())
    },
  })
}
