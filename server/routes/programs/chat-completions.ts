// OpenAI-compatible routes: models and chat completions.

import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { presentProgramModel, programModelName, readModelName } from '../../openai-api/names.ts'
import { readChatRequest } from '../../openai-api/read-chat.ts'
import { chatCompletionOf, createChunkWriter } from '../../openai-api/write-chat.ts'
import {
  ChatCompletion,
  ChatCompletionBody,
  ProgramModel,
  ProgramModelList,
} from '../../protocol/openai/chat-completions.ts'
import type { Services } from '../../services.ts'
import { createProgramResponses } from './program-runs.ts'

/** `/v1/models`, `/v1/models/*` and `/v1/chat/completions`. */
export function registerChatCompletionRoutes(
  app: App,
  {
    chat,
    store,
    files,
    offeredModels,
  }: Pick<Services, 'chat' | 'store' | 'files' | 'offeredModels'>,
): void {
  const tags = ['openai']
  const responses = createProgramResponses({ chat, store, files })

  app.get(
    '/v1/models',
    { schema: { summary: 'List the models', tags, response: { 200: ProgramModelList } } },
    async ({ user }) => ({
      object: 'list' as const,
      data: (await offeredModels.list(user.id)).map(presentProgramModel),
    }),
  )

  app.get(
    '/v1/models/*',
    {
      schema: {
        summary: 'Get a model by name',
        tags,
        params: z.object({ '*': z.string().min(1).max(210) }),
        response: { 200: ProgramModel },
      },
    },
    async ({ user, params }) => {
      const { id } = readModelName(params['*'])
      const offered = await offeredModels.list(user.id)
      const model = offered.find((one) => (id === undefined ? one.default : one.id === id))
      if (model === undefined)
        throw appError('unknown_model', {
          model: params['*'].slice(0, 200),
          available: offered.map((one) => programModelName(one.id)),
        })
      return presentProgramModel(model)
    },
  )

  app.post(
    '/v1/chat/completions',
    {
      config: { stream: true, joinsRun: true, longList: 'messages' },
      schema: {
        summary: 'Create a chat completion with the agent and its tools, in the format of OpenAI',
        description:
          'The server runs its own tools. A call of one of `tools` ends the response with `finish_reason: "tool_calls"`. With `stream`, responds with server-sent events (docs/api.md).',
        tags,
        produces: ['application/json', 'text/event-stream'],
        body: ChatCompletionBody,
        response: { 200: ChatCompletion },
      },
    },
    async (request, reply) => {
      const { body } = request
      // Reading thousands of messages takes a turn of its own.
      await setImmediate()
      const same = { model: body.model, newest: body.messages.at(-1) }
      const answer = await responses.begin(reply, same, (wishes, upload) =>
        readChatRequest(body, wishes, upload),
      )
      if (body.stream === true) {
        const includeUsage = body.stream_options?.include_usage === true
        const write = createChunkWriter(answer.run, { includeUsage })
        await answer.stream(reply, (event) =>
          write(event).map((payload) =>
            payload === '[DONE]' ? 'data: [DONE]\n\n' : `data: ${JSON.stringify(payload)}\n\n`,
          ),
        )
        return reply
      }
      const { run, steps } = await answer.whole(reply)
      return chatCompletionOf(run, steps)
    },
  )
}
