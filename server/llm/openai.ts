// The client for all providers with an OpenAI-compatible chat completions API.

import { carrySource } from './carry.ts'
import type { LlmClient, LlmRequest } from './client.ts'
import { buildRequestBody } from './openai/chat-body.ts'
import { createChunkReader } from './openai/chunk-reader.ts'
import { compatOf, schemaRulesOf } from './provider-quirks.ts'
import { calledTools } from './readable-calls.ts'
import { adaptTools } from './sendable-schema.ts'
import { connectOpenAi } from './streaming/connection.ts'
import type { ProviderResponse } from './streaming/provider-http.ts'
import { createStreamedClient, type StreamedClientOptions } from './streaming/streamed-client.ts'

/** Gateways to Anthropic's models refuse a history with calls but without tools. */
const isForWantOfTools = (response: ProviderResponse): boolean =>
  !response.ok &&
  response.status === 400 &&
  /must define tools|expects the `?tools=`? param/i.test(response.text)

/** Creates a client for one model. It makes one attempt: retries and fallbacks wrap it. */
export function createOpenAiCompatible(options: StreamedClientOptions): LlmClient {
  const { settings } = options
  const connection = connectOpenAi(settings, options.http)
  const reportsCost = compatOf(settings).reportsCost === true
  /** Whether the model accepts tools only without reasoning; learned from its first refusal. */
  let toolsNeedNoEffort = false

  /**
   * Sends the request, and again without reasoning if the provider refuses it together with tools, as OpenAI does from
   * GPT-5.4 on.
   */
  async function post(request: LlmRequest, signal: AbortSignal): Promise<ProviderResponse> {
    const send = (body: Record<string, unknown>) =>
      connection.post('/chat/completions', body, signal, {
        model: settings.id,
        into: request.exchanges,
      })
    await adaptTools(request.tools, schemaRulesOf(settings))
    const body = buildRequestBody(request, settings)
    if (request.tools.length === 0) {
      const response = await send(body)
      const tools = isForWantOfTools(response) ? calledTools(request.messages) : []
      return tools.length === 0 ? response : await send({ ...body, tools, tool_choice: 'none' })
    }
    const withoutEffort = { ...body, reasoning_effort: 'none' }
    if (toolsNeedNoEffort) return await send(withoutEffort)
    const response = await send(body)
    if (response.ok || response.status !== 400 || !response.text.includes('reasoning_effort'))
      return response
    const again = await send(withoutEffort)
    toolsNeedNoEffort = again.ok
    return again.ok ? again : response
  }

  return createStreamedClient(options, {
    source: carrySource('chat', settings),
    post,
    createReader: (context) => createChunkReader(context, { reportsCost }),
    isWhole: (body) => 'choices' in body && Array.isArray(body.choices),
  })
}
