// OpenAI-compatible routes: models and chat completions.
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { modelIdOf, presentProgramModel } from '../../openai-api/names.ts'
import { readChatRequest } from '../../openai-api/read-chat.ts'
import { chatCompletionOf, createChunkWriter } from '../../openai-api/write-chat.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { PublicModel } from '../../protocol/models/catalog.ts'
import {
  ChatCompletion,
  ChatCompletionBody,
  ProgramModel,
  ProgramModelList,
} from '../../protocol/openai/chat-completions.ts'
import { startOnce } from '../runs/idempotent-run.ts'
import {
  assertAnswered,
  createProgramResponses,
  type ProgramRouteDependencies,
  wishesOf,
} from './program-runs.ts'

/** The dependencies of the OpenAI-compatible routes. */
export interface ChatCompletionDependencies extends ProgramRouteDependencies {
  /** The models that a user may use. */
  listModels(userId: UserId): Promise<PublicModel[]>
}

/** `/v1/models`, `/v1/models/*` and `/v1/chat/completions`. */
export function registerChatCompletionRoutes(
  app: App,
  { listModels, ...dependencies }: ChatCompletionDependencies,
): void {
  const tags = ['openai']
  const responses = createProgramResponses(dependencies)

  app.get(
    '/v1/models',
    { schema: { summary: 'List the models', tags, response: { 200: ProgramModelList } } },
    async ({ user }) => ({
      object: 'list' as const,
      data: (await listModels(user.id)).map(presentProgramModel),
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
      const id = modelIdOf(params['*'])
      const model = (await listModels(user.id)).find((one) =>
        id === undefined ? one.default : one.id === id,
      )
      if (model === undefined) throw appError('model_unknown')
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
      const run = await startOnce(request, dependencies.store, () =>
        dependencies.chat.answerProgram(request.user.id, readChatRequest(body, wishesOf(request))),
      )
      if (body.stream === true) {
        const includeUsage = body.stream_options?.include_usage === true
        const write = createChunkWriter(run, { includeUsage })
        await responses.stream(reply, run, (event) =>
          write(event).map((payload) =>
            payload === '[DONE]' ? 'data: [DONE]\n\n' : `data: ${JSON.stringify(payload)}\n\n`,
          ),
        )
        return reply
      }
      const ended = await responses.result(reply, run)
      assertAnswered(ended.run)
      return chatCompletionOf(ended.run, ended.steps)
    },
  )
}
