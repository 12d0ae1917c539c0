// Routes for schedules: what runs by itself, when it is due next, and what came of each due time.
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { OccurrenceRow } from '../../db/repositories/schedules/occurrences.ts'
import type { ScheduleRow } from '../../db/repositories/schedules/schedules.ts'
import type { App } from '../../http/app.ts'
import { actorOf } from '../../http/audit.ts'
import { Deleted, envelope, PageQuery, page } from '../../protocol/envelope.ts'
import {
  CreateScheduleBody,
  HookUrl,
  Occurrence,
  PatchScheduleBody,
  PreviewQuery,
  Schedule,
  ScheduleId,
  SchedulePreview,
  StartedOccurrence,
} from '../../protocol/schedules/schedule.ts'
import { zoneOf } from '../../schedules/check-settings.ts'
import { ScheduleSettings } from '../../schedules/settings.ts'
import { nextDues, spreadOf } from '../../schedules/times.ts'
import type { Services } from '../../services.ts'
import { deleted, success } from '../envelope.ts'
import { pageUrl } from '../page-url.ts'

const DEFAULT_LIMIT = 50
const DEFAULT_TIMES = 5
const tags = ['schedules']
const params = z.object({ id: ScheduleId })

type Needed = Pick<Services, 'store' | 'schedules' | 'publicUrl' | 'now'>

/** `/api/schedules` and the routes below. */
export function registerScheduleRoutes(app: App, services: Needed): void {
  registerReading(app, services)
  registerChanges(app, services)
}

function registerReading(app: App, { store, schedules, now }: Needed): void {
  app.get(
    '/api/schedules',
    {
      schema: {
        summary: 'List your schedules, newest first',
        tags,
        querystring: PageQuery,
        response: { 200: envelope(page(Schedule)) },
      },
    },
    async ({ user, query: { limit = DEFAULT_LIMIT, cursor } }) => {
      schedules.assertAllowed(user.id)
      const found = await store.schedules.list(user.id, { limit, cursor })
      const last = await store.occurrences.last(found.items.map(({ id }) => id))
      return success({
        items: found.items.map((row) => presentSchedule(row, last.get(row.id))),
        next_cursor: found.nextCursor,
        has_more: found.hasMore,
      })
    },
  )

  app.get(
    '/api/schedules/preview',
    {
      schema: {
        summary: 'The next due times of a cron pattern or an interval',
        description:
          'A pattern that never comes has no times. Without `tz`, the time zone of your preferences.',
        tags,
        querystring: PreviewQuery,
        response: { 200: envelope(SchedulePreview) },
      },
    },
    async ({ user, query: { cron, every, tz, count = DEFAULT_TIMES } }) => {
      schedules.assertAllowed(user.id)
      const when =
        cron === undefined ? { every: every ?? '' } : { cron, ...(tz === undefined ? {} : { tz }) }
      const zone = await zoneOf(user.id, when, { store })
      const times = nextDues({ when, zone, since: now() }, now(), count)
      return success({ times: times.map((time) => time.toISOString()) })
    },
  )

  app.get(
    '/api/schedules/:id',
    { schema: { summary: 'Get a schedule', tags, params, response: { 200: envelope(Schedule) } } },
    async ({ user, params: { id } }) => {
      const row = await schedules.find(user.id, id)
      return success(presentSchedule(row, (await store.occurrences.last([id])).get(id)))
    },
  )

  app.get(
    '/api/schedules/:id/occurrences',
    {
      schema: {
        summary: 'List the due times of a schedule and what came of each, newest first',
        tags,
        params,
        querystring: PageQuery,
        response: { 200: envelope(page(Occurrence)) },
      },
    },
    async ({ user, params: { id }, query: { limit = DEFAULT_LIMIT, cursor } }) => {
      await schedules.find(user.id, id)
      const found = await store.occurrences.list(id, { limit, cursor })
      return success({
        items: found.items.map(presentOccurrence),
        next_cursor: found.nextCursor,
        has_more: found.hasMore,
      })
    },
  )
}

function registerChanges(app: App, { store, schedules, publicUrl }: Needed): void {
  const hookUrl = (request: FastifyRequest, token: string): string =>
    pageUrl(publicUrl, `${request.protocol}://${request.host}`, `/hooks/${token}`)

  app.post(
    '/api/schedules',
    {
      schema: {
        summary: 'Create a schedule',
        description:
          'The address of a hook, `hook_url`, is returned only here and by `POST /api/schedules/{id}/hook-token`.',
        tags,
        body: CreateScheduleBody,
        response: { 200: envelope(Schedule) },
      },
    },
    async (request) => {
      const made = await schedules.create(request.user.id, request.body, actorOf(request))
      const url = made.hookToken === undefined ? undefined : hookUrl(request, made.hookToken)
      return success(presentSchedule(made.row, undefined, url))
    },
  )

  app.patch(
    '/api/schedules/:id',
    {
      schema: {
        summary: 'Change a schedule',
        description: 'Absent fields stay unchanged. Enabling sets `failures` to 0.',
        tags,
        params,
        body: PatchScheduleBody,
        response: { 200: envelope(Schedule) },
      },
    },
    async (request) => {
      const { id } = request.params
      const made = await schedules.change(request.user.id, id, request.body, actorOf(request))
      const last = (await store.occurrences.last([id])).get(id)
      const url = made.hookToken === undefined ? undefined : hookUrl(request, made.hookToken)
      return success(presentSchedule(made.row, last, url))
    },
  )

  app.delete(
    '/api/schedules/:id',
    {
      schema: {
        summary: 'Delete a schedule; its conversations stay',
        tags,
        params,
        response: { 200: Deleted },
      },
    },
    async (request) => {
      await schedules.remove(request.user.id, request.params.id, actorOf(request))
      return deleted
    },
  )

  app.post(
    '/api/schedules/:id/run',
    {
      schema: {
        summary: 'Run a schedule now',
        description: 'Also while it is disabled. Its next time stays.',
        tags,
        params,
        response: { 202: envelope(StartedOccurrence) },
      },
    },
    async ({ user, params: { id } }, reply) => {
      const occurrence = await schedules.runNow(user.id, id)
      return await reply.code(202).send(success({ occurrence_id: occurrence }))
    },
  )

  app.post(
    '/api/schedules/:id/hook-token',
    {
      config: { holdsSecret: true },
      schema: {
        summary: 'Replace the address of a hook; the old one no longer works',
        tags,
        params,
        response: { 200: envelope(HookUrl) },
      },
    },
    async (request) => {
      const { id } = request.params
      const token = await schedules.replaceHookToken(request.user.id, id, actorOf(request))
      return success({ hook_url: hookUrl(request, token) })
    },
  )
}

/** The wire format of a schedule. */
function presentSchedule(
  row: ScheduleRow,
  last: OccurrenceRow | undefined,
  hookUrl?: string,
): Schedule {
  const settings = ScheduleSettings.parse(row.settings)
  const spread = spreadOf(row.id, settings.when)
  return {
    id: row.id,
    name: row.name,
    text: settings.text,
    project_id: row.projectId,
    model: settings.model,
    skills: settings.skills,
    when: settings.when,
    conversation: settings.conversation,
    conversation_id: row.conversationId,
    quiet: settings.quiet,
    watch: settings.watch,
    watched_at: row.watchedAt?.toISOString() ?? null,
    watch_failures: row.watchFailures,
    checks: settings.checks,
    catch_up: settings.catchUp,
    overlap: settings.overlap,
    limits: settings.limits,
    approval: settings.approval,
    ...(settings.approvalDeadline === undefined
      ? {}
      : { approval_deadline: settings.approvalDeadline }),
    notify: settings.notify,
    enabled: row.enabled,
    next_at: row.nextAt === null ? null : new Date(row.nextAt.getTime() - spread).toISOString(),
    last: last === undefined ? null : presentOccurrence(last),
    failures: row.failures,
    disabled_reason: row.disabledReason,
    ...(hookUrl === undefined ? {} : { hook_url: hookUrl }),
    signed: row.sealedHookSecret !== null,
    created_by_run: row.createdByRun,
    tools: row.tools,
    created_at: row.createdAt.toISOString(),
  }
}

const presentOccurrence = (row: OccurrenceRow): Occurrence => ({
  id: row.id,
  schedule_id: row.scheduleId,
  due_at: row.dueAt.toISOString(),
  state: row.state,
  reason: row.reason,
  detail: row.detail,
  failure: row.failure,
  manual: row.trigger === 'manual',
  count: row.count,
  run_id: row.runId,
  conversation_id: row.conversationId,
  message_id: row.messageId,
  checks: row.checks,
  cost: row.cost,
  started_at: row.startedAt?.toISOString() ?? null,
  ended_at: row.endedAt?.toISOString() ?? null,
})
