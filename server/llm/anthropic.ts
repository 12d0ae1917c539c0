// The client for Anthropic's Messages API.
import type { ModelSettings } from '../protocol/models/catalog.ts'
import { buildMessagesBody } from './anthropic/messages-body.ts'
import { createEventReader } from './anthropic/messages-reader.ts'
import { carrySource } from './carry.ts'
import type { LlmClient, LlmEvent, LlmMessage } from './client.ts'
import type { ProseSink } from './prose.ts'
import { adaptTools } from './sendable-schema.ts'
import { connectOpenAi, type OpenAiConnection } from './streaming/connection.ts'
import type { ProviderHttp } from './streaming/provider-http.ts'
import type { ResponseReader } from './streaming/response-reader.ts'
import {
  createStreamedClient,
  type StreamedClientOptions,
  type Wire,
} from './streaming/streamed-client.ts'
import { addCounts, NO_TOKENS, type TokenCounts } from './usage.ts'

/** A model that pauses more often ends its answer there. */
const MAX_PAUSES = 5

/** Sends Anthropic's headers instead of a bearer token. */
export function connectAnthropic(
  settings: Pick<ModelSettings, 'api_url' | 'api_key' | 'headers'>,
  http: ProviderHttp,
): OpenAiConnection {
  const url = new URL(settings.api_url)
  if (/^\/?$|\/anthropic\/?$/.test(url.pathname))
    url.pathname = `${url.pathname.replace(/\/$/, '')}/v1`
  const { headers } = settings
  return connectOpenAi({ api_url: url.href, ...(headers === undefined ? {} : { headers }) }, http, {
    'anthropic-version': '2023-06-01',
    ...(settings.api_key === undefined || settings.api_key === ''
      ? {}
      : { 'x-api-key': settings.api_key }),
  })
}

/** Creates a client for one model. It makes one attempt: retries and fallbacks wrap it. */
export function createAnthropic(options: StreamedClientOptions): LlmClient {
  const { settings } = options
  const connection = connectAnthropic(settings, options.http)
  const wire: Wire = {
    source: carrySource('messages', settings),
    async post(request, signal) {
      await adaptTools(request.tools, 'claude')
      return await connection.post('/messages', buildMessagesBody(request, settings), signal, {
        model: settings.id,
        into: request.exchanges,
      })
    },
    createReader: createEventReader,
    isWhole: (body) => 'type' in body && body.type === 'message',
  }
  return {
    async *stream(request) {
      let messages: readonly LlmMessage[] = request.messages
      let spent = NO_TOKENS
      for (let pauses = 0; ; pauses += 1) {
        let reader: ResponseReader | undefined
        let text = ''
        let paused: Extract<LlmEvent, { type: 'finished' }> | undefined
        const client = createStreamedClient(options, {
          ...wire,
          createReader: (context) => {
            reader = createEventReader(context)
            return reader
          },
        })
        const prose: ProseSink = {
          append(kind, piece) {
            if (kind === 'text') text += piece
            return request.prose.append(kind, piece)
          },
          textWasThinking() {
            text = ''
            return request.prose.textWasThinking()
          },
        }
        for await (const event of client.stream({ ...request, messages, prose })) {
          const isPause = event.type === 'finished' && reader?.finishReason === 'pause_turn'
          if (isPause && pauses < MAX_PAUSES) paused = event
          else yield withUsage(event, spent)
        }
        if (paused === undefined) return
        // Send the paused message back unchanged, and the model continues it.
        messages = [...messages, { role: 'assistant', content: text, carry: paused.carry }]
        spent = addCounts(spent, paused.usage)
      }
    },
  }
}

function withUsage(event: LlmEvent, spent: TokenCounts): LlmEvent {
  if (spent === NO_TOKENS) return event
  if (event.type === 'finished') return { ...event, usage: addCounts(spent, event.usage) }
  return event.type === 'failed'
    ? { ...event, usage: addCounts(spent, event.usage ?? NO_TOKENS) }
    : event
}
