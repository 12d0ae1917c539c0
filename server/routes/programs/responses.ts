// OpenAI-compatible routes: responses, which are runs that can be fetched, streamed again and cancelled.
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { toStep } from '../../db/repositories/conversations/steps.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { entriesOfStep, readItemId } from '../../openai-api/items.ts'
import type { PastEntry } from '../../openai-api/past.ts'
import { entriesOfInput, readResponseRequest } from '../../openai-api/read-responses.ts'
import { createResponseWriter, responseOf } from '../../openai-api/write-responses.ts'
import { RunId, type UserId } from '../../protocol/ids.ts'
import { ResponseBody, ResponseObject, ResponseQuery } from '../../protocol/openai/responses.ts'
import { startOnce } from '../runs/idempotent-run.ts'
import {
  assertAnswered,
  createProgramResponses,
  type ProgramRouteDependencies,
  wishesOf,
} from './program-runs.ts'

/** `/v1/responses`, `/v1/responses/:id` and `/v1/responses/:id/cancel`. */
export function registerResponseRoutes(app: App, dependencies: ProgramRouteDependencies): void {
  const { chat, store } = dependencies
  const tags = ['openai']
  const responses = createProgramResponses(dependencies)
  const OfResponse = z.object({ id: RunId })

  async function getRun(userId: UserId, id: RunId): Promise<RunRow> {
    const run = await store.runs.findOwned(userId, id)
    if (run === undefined) throw appError('response_not_found', { id })
    return run
  }
  const stepsOf = async (run: RunRow) => (await store.steps.list(run.messageId)).map(toStep)
  const present = async (run: RunRow) => responseOf(run, await stepsOf(run))

  /** Resolves a reference to an item of an earlier response to the entries that it stands for. */
  const resolver =
    (userId: UserId) =>
    async (itemId: string): Promise<PastEntry[]> => {
      const place = readItemId(itemId)
      const run = place === null ? undefined : await store.runs.findOwned(userId, place.runId)
      if (place === null || run === undefined)
        throw appError('response_item_not_found', { id: itemId.slice(0, 100) })
      const steps = await stepsOf(run)
      const step = steps.find(({ index }) => index === place.index)
      return step === undefined ? [] : entriesOfStep(run.id, step, steps)
    }

  const streamTo = (
    reply: Parameters<typeof responses.stream>[0],
    run: RunRow,
    startingAfter: number,
  ) => {
    const write = createResponseWriter(run)
    return responses.stream(reply, run, (event, id) =>
      write(event, id)
        .filter(({ sequence_number }) => sequence_number > startingAfter)
        .map((payload) => `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`),
    )
  }

  app.post(
    '/v1/responses',
    {
      config: { stream: true, joinsRun: true, longList: 'input' },
      schema: {
        summary: 'Create a response by starting a run, in the format of OpenAI',
        description:
          'The ID of the response is the ID of the run. With `stream`, responds with server-sent events; with `background`, responds immediately (docs/api.md).',
        tags,
        produces: ['application/json', 'text/event-stream'],
        body: ResponseBody,
        response: { 200: ResponseObject },
      },
    },
    async (request, reply) => {
      const { body, user } = request
      const run = await startOnce(request, store, async () => {
        const entries = await entriesOfInput(body.input, resolver(user.id))
        // Reading thousands of entries takes a turn of its own.
        await setImmediate()
        const wanted = readResponseRequest(body, entries, wishesOf(request))
        return await chat.answerProgram(user.id, wanted)
      })
      if (body.stream === true) {
        await streamTo(reply, run, -1)
        return reply
      }
      if (body.background === true) return await present(run)
      const ended = await responses.result(reply, run)
      if (ended.run.error === null) assertAnswered(ended.run)
      return responseOf(ended.run, ended.steps)
    },
  )

  app.get(
    '/v1/responses/:id',
    {
      config: { stream: true },
      schema: {
        summary: 'Get a response, or stream its events again',
        tags,
        produces: ['application/json', 'text/event-stream'],
        params: OfResponse,
        querystring: ResponseQuery,
        response: { 200: ResponseObject },
      },
    },
    async ({ user, params, query }, reply) => {
      const run = await getRun(user.id, params.id)
      if (query.stream !== 'true') return await present(run)
      await streamTo(reply, run, query.starting_after ?? -1)
      return reply
    },
  )

  app.post(
    '/v1/responses/:id/cancel',
    {
      schema: {
        summary: 'Cancel a response; its partial output is kept',
        tags,
        params: OfResponse,
        response: { 200: ResponseObject },
      },
    },
    async ({ user, params }) => {
      await getRun(user.id, params.id)
      return await present(await chat.stop(user.id, params.id))
    },
  )
}
