// Routes for runs: state, event stream, stop, resume, approvals.

import { z } from 'zod'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { StreamMode } from '../../protocol/conversations/message.ts'
import { envelope, PageQuery, page } from '../../protocol/envelope.ts'
import { RunId, type UserId } from '../../protocol/ids.ts'
import { InputAnswerBody } from '../../protocol/runs/input.ts'
import { EditPlanBody, Plan } from '../../protocol/runs/plan.ts'
import { ApprovalDecisionBody, Run } from '../../protocol/runs/run.ts'
import { ListedRun } from '../../protocol/runs/run-list.ts'
import { RunRecord } from '../../protocol/runs/run-record.ts'
import { RunTimeline } from '../../protocol/runs/run-timeline.ts'
import { usageOfRun } from '../../protocol/runs/usage.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'
import { presentRun, waitsFor } from './present-message.ts'
import { createRunStreamer } from './run-stream.ts'

const DEFAULT_LIMIT = 50

const OfRun = z.object({ id: RunId })
const EventsQuery = z.object({
  stream_mode: StreamMode.optional().describe(
    '`cumulative` (default): each event contains the whole text of its step so far; `delta`: only what was added.',
  ),
  last_event_id: z
    .string()
    .max(20)
    .optional()
    .describe(
      'The id of the last event that you have; only later ones are sent. For clients that cannot set the header `Last-Event-ID`, which takes precedence. Default: the state of the run, then its events.',
    ),
})

const tags = ['runs']
const answersRun = { params: OfRun, response: { 200: envelope(Run) } }

/** `/api/runs` and the routes below. */
export function registerRunRoutes(
  app: App,
  services: Pick<Services, 'chat' | 'store' | 'readRunRecord'>,
): void {
  registerList(app, services)
  registerReading(app, services)
  registerEvents(app, services)
  registerControl(app, services)
  registerPlan(app, services)
}

/** The route that lists the user's runs. */
function registerList(app: App, { store }: Pick<Services, 'store'>): void {
  app.get(
    '/api/runs',
    {
      schema: {
        summary: 'List your runs, newest first',
        description: 'Omits runs of conversations that are temporary or in the trash.',
        tags,
        querystring: PageQuery,
        response: { 200: envelope(page(ListedRun)) },
      },
    },
    async ({ user, query: { limit = DEFAULT_LIMIT, cursor } }) => {
      const { items, nextCursor, hasMore } = await store.runs.list(user.id, { limit, cursor })
      return success({
        items: items.map(presentListed),
        next_cursor: nextCursor,
        has_more: hasMore,
      })
    },
  )
}

/** Routes that read the state, timeline and record of a run. */
function registerReading(
  app: App,
  { store, readRunRecord }: Pick<Services, 'store' | 'readRunRecord'>,
): void {
  const present = presenterOf(store)

  app.get(
    '/api/runs/:id',
    { schema: { summary: 'Get a run', tags, ...answersRun } },
    async ({ user, params }) => {
      const run = await getOwned(store, user.id, params.id)
      return await present(run)
    },
  )

  app.get(
    '/api/runs/:id/timeline',
    {
      schema: {
        summary: 'Get the timeline of a run: its model and tool calls with times, tokens and cost',
        tags,
        params: OfRun,
        response: { 200: envelope(RunTimeline) },
      },
    },
    async ({ user, params }) => {
      const run = await getOwned(store, user.id, params.id)
      return success({ run_id: run.id, entries: [...(run.timeline ?? [])] })
    },
  )

  app.get(
    '/api/runs/:id/record',
    {
      schema: {
        summary:
          'Get the record of a run: its requests to models (without secrets), their responses, tool calls, and what was stored when',
        description:
          'A request is a list of fields. Long values are replaced with the hash of their JSON text and stored once in `parts`. To rebuild the text of a request, write `{`, each field as `"name":value` with the parts of a list joined by commas, and `}` (docs/protocol.md).',
        tags,
        params: OfRun,
        response: { 200: envelope(RunRecord) },
      },
    },
    async ({ user, params }) => {
      const run = await getOwned(store, user.id, params.id)
      return success(await readRunRecord(run))
    },
  )
}

/** The route of a run's event stream. */
function registerEvents(app: App, { chat, store }: Pick<Services, 'chat' | 'store'>): void {
  const streamTo = createRunStreamer({ chat, store })

  app.get(
    '/api/runs/:id/events',
    {
      config: { stream: true },
      schema: {
        summary:
          'Stream the events of a run after `Last-Event-ID`, or a snapshot followed by live events',
        description:
          'Server-sent events (docs/protocol.md), also after the run has ended. With an ID that does not belong to this run, the stream starts with a snapshot.',
        tags,
        produces: ['text/event-stream'],
        params: OfRun,
        querystring: EventsQuery,
      },
    },
    async ({ user, params, query, headers }, reply) => {
      const run = await getOwned(store, user.id, params.id)
      const header = headers['last-event-id']
      const afterId = readEventId(typeof header === 'string' ? header : query.last_event_id)
      // Only this status keeps an EventSource from connecting again for ever (https://html.spec.whatwg.org/#sse-intro).
      if (run.endedAt !== null && afterId === run.lastEvent) return await reply.code(204).send()
      await streamTo(reply, run, { mode: query.stream_mode ?? 'cumulative', afterId })
      return reply
    },
  )
}

/** Routes that stop and resume a run, and decide what it waits for. */
function registerControl(app: App, { chat, store }: Pick<Services, 'chat' | 'store'>): void {
  const present = presenterOf(store)

  app.post(
    '/api/runs/:id/stop',
    { schema: { summary: 'Stop a run; its partial answer is kept', tags, ...answersRun } },
    async ({ user, params }) => await present(await chat.stop(user.id, params.id)),
  )

  app.post(
    '/api/runs/:id/resume',
    {
      schema: {
        summary: 'Continue a run that failed, was stopped or interrupted, or reached a limit',
        description:
          'A complete answer is not continued, also one that went beyond a limit at its end (`limit.complete`): 409 `run_not_resumable`, reason `run_completed`.',
        tags,
        ...answersRun,
      },
    },
    async ({ user, params }) => await present(await chat.resume(user.id, params.id)),
  )

  app.post(
    '/api/runs/:id/approvals',
    {
      schema: {
        summary: 'Approve or reject a waiting tool call',
        description:
          'Of your own runs, and of runs in projects that you are an approver of: there without `arguments` and `remember` (403 `not_yours`). Where `approval_by` of the project is `others`, you cannot decide calls of high risk of your own runs (403 `someone_else_must_decide`).',
        tags,
        ...answersRun,
        body: ApprovalDecisionBody,
      },
    },
    async (request) => {
      const { user, params, body } = request
      const run = await chat.decide(user.id, params.id, body, actorOf(request))
      const pending = await waitsFor(store, run)
      // Approvers decide calls, they do not answer questions.
      return success(presentRun(run, run.userId === user.id ? pending : { ...pending, inputs: [] }))
    },
  )

  app.post(
    '/api/runs/:id/inputs',
    {
      schema: {
        summary: 'Answer a request for input from an MCP server',
        tags,
        ...answersRun,
        body: InputAnswerBody,
      },
    },
    async (request) => {
      const { user, params, body } = request
      return await present(await chat.answerInput(user.id, params.id, body, actorOf(request)))
    },
  )
}

/** The route that changes the plan of a run. */
function registerPlan(app: App, { chat }: Pick<Services, 'chat'>): void {
  app.put(
    '/api/runs/:id/plan',
    {
      schema: {
        summary: 'Change the plan of a run while it works',
        description:
          'The model reads it before its next iteration. Refused with 409 when the run has ended or has no plan.',
        tags,
        params: OfRun,
        body: EditPlanBody,
        response: { 200: envelope(Plan) },
      },
    },
    async ({ user, params, body }) =>
      success(await chat.editPlan(user.id, params.id, body, { id: user.id, name: user.username })),
  )
}

/** @throws AppError `run_not_found`. */
async function getOwned(store: Store, userId: UserId, id: RunId): Promise<RunRow> {
  const run = await store.runs.findOwned(userId, id)
  if (run === undefined) throw appError('run_not_found')
  return run
}

const presenterOf = (store: Store) => async (run: RunRow) =>
  success(presentRun(run, await waitsFor(store, run)))

/** Event ids are integers; anything else is ignored. */
const readEventId = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null

const presentListed = (
  row: Awaited<ReturnType<Store['runs']['list']>>['items'][number],
): ListedRun => ({
  id: row.id,
  conversation_id: row.conversationId,
  conversation_title: row.title,
  message_id: row.messageId,
  kind: row.kind,
  status: row.status,
  model: row.model,
  usage: usageOfRun(row),
  created_at: row.createdAt.toISOString(),
  ended_at: row.endedAt?.toISOString() ?? null,
})
