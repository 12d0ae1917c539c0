// OpenAI-compatible routes: responses, which are runs that can be fetched, streamed again and cancelled.

import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import type { FullMessage } from '../../db/repositories/conversations/messages.ts'
import { toStep } from '../../db/repositories/conversations/steps.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { entriesOfStep, readItemId } from '../../openai-api/items.ts'
import { type PastEntry, withStoredFiles } from '../../openai-api/past.ts'
import { entriesOfInput, readResponseRequest } from '../../openai-api/read-responses.ts'
import { createResponseWriter, responseOf } from '../../openai-api/write-responses.ts'
import { type MessageId, RunId, type UserId } from '../../protocol/ids.ts'
import {
  DeletedResponse,
  InputItemsQuery,
  ResponseBody,
  ResponseInputItems,
  ResponseObject,
  ResponseQuery,
} from '../../protocol/openai/responses.ts'
import type { RunEvent } from '../../protocol/runs/run-event.ts'
import { readRunOptions } from '../../runs/state.ts'
import type { Services } from '../../services.ts'
import { createProgramResponses } from './program-runs.ts'

/** Messages that are read at once. */
const PAGE_ITEMS = 100

const tags = ['openai']
const OfResponse = z.object({ id: RunId })

/** `/v1/responses` and what is below it. */
export function registerResponseRoutes(
  app: App,
  { chat, store, files }: Pick<Services, 'chat' | 'store' | 'files'>,
): void {
  const responses = createProgramResponses({ chat, store, files })
  const stored = storedResponses(store)
  registerCreation(app, responses, stored)
  registerOne(app, chat, responses, stored)
}

type Responses = ReturnType<typeof createProgramResponses>
type StoredResponses = ReturnType<typeof storedResponses>

/** The route that starts a run. */
function registerCreation(
  app: App,
  responses: Responses,
  { resolver, present }: StoredResponses,
): void {
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
      const newest = typeof body.input === 'string' ? body.input : body.input.at(-1)
      const answer = await responses.begin(
        reply,
        { model: body.model, newest },
        async (wishes, upload) => {
          const read = await entriesOfInput(body.input, resolver(user.id))
          const entries = await withStoredFiles(read, upload)
          // Reading thousands of entries takes a turn of its own.
          await setImmediate()
          return readResponseRequest(body, entries, wishes)
        },
      )
      if (body.stream === true) {
        await answer.stream(reply, framesOf(answer.run, -1))
        return reply
      }
      if (body.background === true) return await present(answer.run)
      const { run, steps } = await answer.whole(reply)
      return responseOf(run, steps)
    },
  )
}

/** Routes that read, stop and delete one response. */
function registerOne(
  app: App,
  chat: Services['chat'],
  responses: Responses,
  { getRun, present, inputItemsOf }: StoredResponses,
): void {
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
      await responses.follow(reply, run, framesOf(run, query.starting_after ?? -1))
      return reply
    },
  )

  app.delete(
    '/v1/responses/:id',
    {
      schema: {
        summary:
          'Delete a response with everything that continues it; the page can restore it for a day',
        tags,
        params: OfResponse,
        response: { 200: DeletedResponse },
      },
    },
    async ({ user, params }) => {
      const run = await getRun(user.id, params.id)
      if (run.endedAt === null) await chat.stop(user.id, run.id)
      await chat.removeMessage(user.id, run.conversationId, run.messageId)
      return { id: run.id, object: 'response' as const, deleted: true as const }
    },
  )

  app.get(
    '/v1/responses/:id/input_items',
    {
      schema: {
        summary: 'List the messages that a response answers',
        tags,
        params: OfResponse,
        querystring: InputItemsQuery,
        response: { 200: ResponseInputItems },
      },
    },
    async ({ user, params, query }) => await inputItemsOf(await getRun(user.id, params.id), query),
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

/** What earlier responses answered, and what they consist of. */
function storedResponses(store: Services['store']) {
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
    async (itemId: string, isRequired: boolean): Promise<PastEntry[]> => {
      const place = readItemId(itemId)
      const run = place === null ? undefined : await store.runs.findOwned(userId, place.runId)
      if ((place === null || run === undefined) && !isRequired) return []
      if (place === null || run === undefined)
        throw appError('response_item_not_found', { id: itemId.slice(0, 100) })
      const steps = await stepsOf(run)
      const step = steps.find(({ index }) => index === place.index)
      return step === undefined ? [] : entriesOfStep(run.id, step, steps)
    }

  /** The messages that a response answers, newest first: up to those of the response that it continues. */
  async function* inputOf(run: RunRow, from: MessageId | null) {
    const previousId = readRunOptions(run.options).response?.previousId ?? null
    const earlier =
      previousId === null
        ? undefined
        : await store.runs.findOwned(run.userId, RunId.parse(previousId))
    for (let next = from; next !== null; ) {
      const { items } = await store.messages.page(run.conversationId, next, { limit: PAGE_ITEMS })
      for (const message of items.toReversed()) {
        if (message.id === earlier?.messageId) return
        yield message
      }
      next = items[0]?.parentId ?? null
    }
  }

  async function inputItemsOf(
    run: RunRow,
    { after, limit, order }: z.infer<typeof InputItemsQuery>,
  ): Promise<ResponseInputItems> {
    const found: FullMessage[] = []
    if (order === 'desc') {
      const last = after === undefined ? null : await store.messages.get(run.conversationId, after)
      for await (const message of inputOf(run, last === null ? run.userMessageId : last.parentId))
        if (found.push(message) > limit) break
    } else {
      // The oldest message is found only from the newest.
      for await (const message of inputOf(run, run.userMessageId)) {
        if (message.id === after) break
        found.unshift(message)
        found.length = Math.min(found.length, limit + 1)
      }
    }
    const data = found.slice(0, limit).map(({ id, role, text }) => {
      const type = role === 'user' ? ('input_text' as const) : ('output_text' as const)
      const content = [{ type, text }]
      return { id, type: 'message' as const, role, status: 'completed' as const, content }
    })
    return {
      object: 'list',
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: found.length > limit,
    }
  }

  return { getRun, present, resolver, inputItemsOf }
}

/** Writes the events of a response after the one with the number `startingAfter`. */
const framesOf = (run: RunRow, startingAfter: number) => {
  const write = createResponseWriter(run)
  return (event: RunEvent, id: number): string[] =>
    write(event, id)
      .filter(({ sequence_number }) => sequence_number > startingAfter)
      .map((payload) => `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`)
}
