// Routes in Anthropic's format: messages, and the estimate of their tokens.

import { setImmediate } from 'node:timers/promises'
import type { App } from '../../http/app.ts'
import { countTokens, readMessagesRequest } from '../../openai-api/read-messages.ts'
import { anthropicMessageOf, createMessageWriter } from '../../openai-api/write-messages.ts'
import {
  AnthropicMessage,
  CountedTokens,
  CountTokensBody,
  MessagesBody,
} from '../../protocol/anthropic/messages.ts'
import type { Services } from '../../services.ts'
import { createProgramResponses } from './program-runs.ts'

/** `/v1/messages` and `/v1/messages/count_tokens`. */
export function registerAnthropicRoutes(
  app: App,
  { chat, store, files }: Pick<Services, 'chat' | 'store' | 'files'>,
): void {
  const tags = ['openai']
  const responses = createProgramResponses({ chat, store, files })

  app.post(
    '/v1/messages',
    {
      config: { stream: true, joinsRun: true, longList: 'messages' },
      schema: {
        summary: 'Create a message with the agent and its tools, in the format of Anthropic',
        description:
          'The same as a chat completion, for programs that speak to Claude. The key is accepted in `x-api-key`, too (docs/api.md).',
        tags,
        produces: ['application/json', 'text/event-stream'],
        body: MessagesBody,
        response: { 200: AnthropicMessage },
      },
    },
    async (request, reply) => {
      const { body } = request
      // Reading thousands of messages takes a turn of its own.
      await setImmediate()
      const same = { model: body.model, newest: body.messages.at(-1) }
      const answer = await responses.begin(reply, same, (wishes, upload) =>
        readMessagesRequest(body, wishes, upload),
      )
      if (body.stream === true) {
        const write = createMessageWriter(answer.run)
        await answer.stream(reply, (event) =>
          write(event).map(
            (payload) => `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`,
          ),
        )
        return reply
      }
      const { run, steps } = await answer.whole(reply)
      return anthropicMessageOf(run, steps)
    },
  )

  app.post(
    '/v1/messages/count_tokens',
    {
      config: { longList: 'messages' },
      schema: {
        summary: 'Estimate the tokens of a message, in the format of Anthropic',
        tags,
        body: CountTokensBody,
        response: { 200: CountedTokens },
      },
    },
    async ({ body }) => {
      await setImmediate()
      return { input_tokens: countTokens(body) }
    },
  )
}
