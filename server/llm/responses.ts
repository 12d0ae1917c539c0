// The client for OpenAI's Responses API.
import { asRecord } from '../lib/records.ts'
import { carrySource } from './carry.ts'
import type { LlmClient, LlmRequest } from './client.ts'
import { schemaRulesOf } from './provider-quirks.ts'
import { buildResponsesBody } from './responses/responses-body.ts'
import { createResponseEventReader } from './responses/responses-reader.ts'
import { adaptTools } from './sendable-schema.ts'
import { connectOpenAi } from './streaming/connection.ts'
import type { ProviderResponse } from './streaming/provider-http.ts'
import { createStreamedClient, type StreamedClientOptions } from './streaming/streamed-client.ts'

type Body = Record<string, unknown>

/** A part of the request that some models refuse and that the answer does not depend on. */
interface OptionalPart {
  /** Matches a refusal that names this part. */
  named: RegExp
  isIn(body: Body): boolean
  without(body: Body): Body
}

const field = (name: string, named: RegExp): OptionalPart => ({
  named,
  isIn: (body) => body[name] !== undefined,
  without: ({ [name]: _, ...rest }) => rest,
})

/** Most specific first. */
const OPTIONAL_PARTS: readonly OptionalPart[] = [
  // Models without reasoning: "Encrypted content is not supported with this model."
  field('include', /encrypted.content|["'`]include\b/i),
  {
    // "Your organization must be verified to generate reasoning summaries."
    named: /reasoning.summar/i,
    isIn: ({ reasoning }) => asRecord(reasoning)?.summary !== undefined,
    without: ({ reasoning, ...rest }) => {
      const { summary: _, ...kept } = asRecord(reasoning) ?? {}
      return Object.keys(kept).length === 0 ? rest : { ...rest, reasoning: kept }
    },
  },
  field('reasoning', /reasoning/i),
  // Models with reasoning.
  field('temperature', /temperature/i),
]

/** Creates a client for one model. It makes one attempt: retries and fallbacks wrap it. */
export function createResponses(options: StreamedClientOptions): LlmClient {
  const { settings } = options
  const connection = connectOpenAi(settings, options.http)
  /** The parts that were refused so far. */
  let refused: readonly OptionalPart[] = []

  /** Sends the request, and again without the optional part that a refusal names. */
  async function post(request: LlmRequest, signal: AbortSignal): Promise<ProviderResponse> {
    let left = refused
    await adaptTools(request.tools, schemaRulesOf(settings))
    for (;;) {
      const body = left.reduce(
        (rest, part) => part.without(rest),
        buildResponsesBody(request, settings),
      )
      const response = await connection.post('/responses', body, signal, {
        model: settings.id,
        into: request.exchanges,
      })
      if (response.ok) refused = left
      if (response.ok || response.status !== 400) return response
      const part = OPTIONAL_PARTS.find(({ named, isIn }) => named.test(response.text) && isIn(body))
      if (part === undefined) return response
      left = [...left, part]
    }
  }

  return createStreamedClient(options, {
    source: carrySource('responses', settings),
    post,
    createReader: createResponseEventReader,
    isWhole: (body) => 'object' in body && body.object === 'response',
  })
}
