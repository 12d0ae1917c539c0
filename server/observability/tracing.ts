// OpenTelemetry traces of runs, following the conventions for generative AI. Nothing of it is loaded unless it is
// configured.
import { createHash } from 'node:crypto'
import type { Span, SpanContext, Tracer } from '@opentelemetry/api'
import { serviceAtHost } from '../llm/services.ts'
import type { TimelineEntry } from '../protocol/runs/run-timeline.ts'
import type { RunObservation } from '../runs/observation.ts'

// The names of model providers in the OpenTelemetry conventions.

/**
 * The name of a provider; its host name if the conventions have none. @param url the address of the API; undefined:
 * unknown.
 */
export function providerName(url: string | undefined): string {
  if (url === undefined || !URL.canParse(url)) return 'unknown'
  return serviceAtHost(url)?.telemetry ?? new URL(url).hostname
}

/** A large number, because spans are small: they never contain the text of conversations. */
const MAX_QUEUED_SPANS = 5_000
const EXPORT_MS = { every: 2_000, timeout: 5_000 }

type EndedAttempt = Extract<RunObservation, { kind: 'attempt_ended' }>

/** Where traces go, and whose they are. */
export interface TracingOptions {
  /** The address of the collector; `/v1/traces` is added. */
  endpoint: string
  /** Sent with every export, for example `authorization`. */
  headers: Record<string, string>
  serviceName: string
  instance: string
  /** The version of NanoClaw. */
  version: string
  /** The address of a model's API; undefined for a model that no longer exists. */
  modelUrl(model: string): Promise<string | undefined>
  log: { warn(details: object, message: string): void }
}

/** Receives observations of runs. */
export interface Tracing {
  observe(observation: RunObservation): void
  /** Sends the remaining spans, within a few seconds. */
  close(): Promise<void>
}

type Api = typeof import('@opentelemetry/api')

/** What spans are made with. */
interface Traces {
  api: Api
  tracer: Tracer
  options: TracingOptions
  /** The ids of the span that is being created; null: random ones. */
  ids: { next: { traceId: string; spanId: string } | null }
}

/**
 * The trace id is the run's id, so every attempt at it, on any instance, belongs to the same trace without anything being
 * stored. A span is created when its attempt ends, so that none stays open for hours. If the process of an attempt died,
 * the one that continues the run creates its span.
 */
export async function createTracing(options: TracingOptions): Promise<Tracing> {
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  const random = new sdk.RandomIdGenerator()
  const ids: Traces['ids'] = { next: null }
  const exporter = new OTLPTraceExporter({
    url: `${options.endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: options.headers,
    timeoutMillis: EXPORT_MS.timeout,
  })
  const reporting = {
    export: (spans: Parameters<typeof exporter.export>[0], done: Done) =>
      exporter.export(spans, (result) => {
        if (result.code !== 0)
          options.log.warn({ err: result.error, spans: spans.length }, 'traces could not be sent')
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
  const provider = new sdk.BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': options.serviceName,
      'service.version': options.version,
      'service.instance.id': options.instance,
    }),
    idGenerator: {
      generateTraceId: () => ids.next?.traceId ?? random.generateTraceId(),
      generateSpanId: () => ids.next?.spanId ?? random.generateSpanId(),
    },
    spanProcessors: [
      new sdk.BatchSpanProcessor(reporting, {
        maxQueueSize: MAX_QUEUED_SPANS,
        scheduledDelayMillis: EXPORT_MS.every,
        exportTimeoutMillis: EXPORT_MS.timeout,
      }),
    ],
  })
  const tracer: Tracer = provider.getTracer('nanoclaw', options.version)
  const tracing: Traces = { api, tracer, options, ids }

  return {
    observe(seen) {
      if (seen.kind === 'attempt_ended')
        void trace(tracing, seen).catch((error: unknown) =>
          options.log.warn({ err: error, run_id: seen.run.id }, 'a run could not be traced'),
        )
    },
    close: () =>
      provider
        .shutdown()
        .catch((error: unknown) => options.log.warn({ err: error }, 'traces could not be sent')),
  }
}

const failed = ({ SpanStatusCode }: Api) => ({ code: SpanStatusCode.ERROR })

const contextOf = ({ api }: Traces, run: string, attempt: number): SpanContext => ({
  traceId: traceIdOf(run),
  spanId: spanIdOf(run, attempt),
  traceFlags: api.TraceFlags.SAMPLED,
})

function startAttempt(tracing: Traces, { run, startedAt, outcome }: EndedAttempt): Span {
  const { tracer, options, api } = tracing
  tracing.ids.next = contextOf(tracing, run.id, run.attempt)
  try {
    return tracer.startSpan(
      'invoke_agent NanoClaw',
      {
        root: true,
        kind: api.SpanKind.INTERNAL,
        startTime: startedAt,
        links: [
          ...(run.attempt > 1 ? [{ context: contextOf(tracing, run.id, run.attempt - 1) }] : []),
          // A background task belongs to the run that began it.
          ...(run.parentRunId === null
            ? []
            : [{ context: contextOf(tracing, run.parentRunId, 1) }]),
        ],
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': 'NanoClaw',
          'gen_ai.agent.version': options.version,
          'gen_ai.conversation.id': run.conversationId,
          'gen_ai.request.model': run.model,
          'nanoclaw.run.id': run.id,
          'nanoclaw.run.attempt': run.attempt,
          'nanoclaw.run.kind': run.kind,
          'nanoclaw.run.outcome': outcome,
        },
      },
      api.ROOT_CONTEXT,
    )
  } finally {
    tracing.ids.next = null
  }
}

async function addEntry(
  { api, tracer, options }: Traces,
  parent: Span,
  model: string,
  entry: TimelineEntry,
): Promise<void> {
  const start = new Date(entry.started_at)
  const within = api.trace.setSpan(api.ROOT_CONTEXT, parent)
  let span: Span
  if (entry.kind === 'tool') {
    span = tracer.startSpan(
      `execute_tool ${entry.name}`,
      {
        kind: api.SpanKind.INTERNAL,
        startTime: start,
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': entry.name,
          'gen_ai.tool.call.id': entry.id_ref,
          'gen_ai.tool.type': 'function',
          'nanoclaw.tool.cached': entry.cached,
          'nanoclaw.tool.skipped': entry.skipped,
        },
      },
      within,
    )
    if (!entry.success) span.setStatus(failed(api)).setAttribute('error.type', 'tool_failed')
  } else {
    const url = await options.modelUrl(entry.model)
    span = tracer.startSpan(
      `chat ${entry.model}`,
      {
        kind: api.SpanKind.CLIENT,
        startTime: start,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': providerName(url),
          'gen_ai.request.model': model,
          'gen_ai.request.stream': true,
          'gen_ai.response.model': entry.model,
          'gen_ai.usage.input_tokens': entry.prompt_tokens,
          'gen_ai.usage.output_tokens': entry.completion_tokens,
          'gen_ai.usage.cache_read.input_tokens': entry.cached_tokens,
          'gen_ai.usage.cache_creation.input_tokens': entry.cache_write_tokens ?? 0,
          ...(url === undefined ? {} : { 'server.address': new URL(url).hostname }),
          ...(entry.first_output_ms === null
            ? {}
            : { 'gen_ai.response.time_to_first_chunk': entry.first_output_ms / 1_000 }),
        },
      },
      within,
    )
    for (const { after_ms: after, reason } of entry.retries)
      span.addEvent('retry', { reason }, new Date(start.getTime() + after))
    if (entry.outcome === 'failed')
      span
        .setStatus(failed(api))
        .setAttribute('error.type', entry.retries.at(-1)?.reason ?? 'failed')
  }
  span.end(new Date(start.getTime() + entry.duration_ms))
}

async function trace(tracing: Traces, attempt: EndedAttempt): Promise<void> {
  const { api } = tracing
  const span = startAttempt(tracing, attempt)
  for (const entry of attempt.entries) await addEntry(tracing, span, attempt.run.model, entry)
  if (attempt.outcome === 'failed' || attempt.outcome === 'lost')
    span.setStatus(failed(api)).setAttribute('error.type', attempt.reason ?? 'failed')
  span.end(attempt.endedAt)
}

type Done = (result: { code: number; error?: Error }) => void

/** A run's id is a UUID: 16 bytes, like a trace id. */
const traceIdOf = (run: string): string => run.replaceAll('-', '')

const spanIdOf = (run: string, attempt: number): string =>
  createHash('sha256').update(`${run} ${attempt}`).digest('hex').slice(0, 16)
