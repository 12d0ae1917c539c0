// A receiver of OpenTelemetry traces, by OTLP over HTTP with JSON.
import { createServer } from 'node:http'
import { z } from 'zod'

const Value = z.object({
  stringValue: z.string().optional(),
  intValue: z.coerce.number().optional(),
  doubleValue: z.number().optional(),
  boolValue: z.boolean().optional(),
})
const Attributes = z
  .array(z.object({ key: z.string(), value: Value }))
  .transform((list) =>
    Object.fromEntries(
      list.map(({ key, value }) => [
        key,
        value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue,
      ]),
    ),
  )
const Span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  attributes: Attributes,
  links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
  status: z.object({ code: z.number().optional() }),
})
type Span = z.output<typeof Span>
const Export = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(Span) })) })),
})

export interface TraceCollector {
  url: string
  /** In the order of their arrival. */
  spans(): Span[]
  /** Everything as text. */
  received(): string
  /** The different values of that header. */
  authorizations(): (string | undefined)[]
  close(): void
}

export async function startCollector(): Promise<TraceCollector> {
  const spans: Span[] = []
  const authorizations = new Set<string | undefined>()
  let received = ''
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    received += body
    authorizations.add(request.headers.authorization)
    if (request.url !== '/v1/traces') return response.writeHead(404).end()
    const { resourceSpans } = Export.parse(JSON.parse(body))
    for (const { scopeSpans } of resourceSpans)
      for (const scope of scopeSpans) spans.push(...scope.spans)
    return response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = z.object({ port: z.int() }).parse(server.address())
  return {
    url: `http://127.0.0.1:${port}`,
    spans: () => spans,
    received: () => received,
    authorizations: () => [...authorizations],
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
