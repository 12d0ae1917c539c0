// Schedules as configured: their rules, and the tools with which the agent makes them.
import { appError } from '../errors.ts'
import { removeScheduleGrants } from '../grants/remove.ts'
import type { ApprovalMode } from '../protocol/conversations/conversation.ts'
import type { UserId } from '../protocol/ids.ts'
import { readRunOptions } from '../runs/state.ts'
import { zoneOf } from '../schedules/check-settings.ts'
import {
  createSchedules,
  type ScheduleDependencies,
  type Schedules,
} from '../schedules/schedules.ts'
import { ScheduleSettings } from '../schedules/settings.ts'
import { nextDues } from '../schedules/times.ts'
import type { Services } from '../services.ts'
import type { ListedSchedule, ScheduleTools } from '../tools/builtin/schedules/schedule-tools.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import type { WorkspaceServices } from '../workspace/workspace-services.ts'
import type { Base } from './base.ts'

/** What people and tools do with schedules. */
export function createConfiguredSchedules(
  { config, database, store, access, box, now }: Base,
  {
    channels,
    changes,
    offeredModels,
    skills,
    workspace,
    webhooks,
    registry,
  }: Pick<
    Services,
    'channels' | 'changes' | 'offeredModels' | 'skills' | 'workspace' | 'webhooks'
  > & {
    registry(): ToolRegistry
  },
): Schedules {
  return createSchedules({
    database,
    store,
    box,
    audit: store.audit,
    announce: changes.publish,
    scheduleEnded: webhooks.events.scheduleEnded,
    afterCommit: webhooks.afterCommit,
    removeGrants: (tx, id, actor) => removeScheduleGrants(tx, id, actor, { store, now }),
    skills,
    now,
    minIntervalSeconds: config.schedules.min_interval,
    maxPerUser: (userId) => access.quota(userId).schedules ?? config.schedules.max_per_user,
    assertAllowed(userId) {
      if (!config.schedules.enabled || !access.allowsFeature(userId, 'schedules'))
        throw appError('schedules_off')
    },
    assertApprovalMode: access.assertApprovalMode,
    assertOffered: offeredModels.assertOffered,
    channelNames: async (userId) => (await channels.list(userId)).map(({ name }) => name),
    matchesPattern: patternMatcher(workspace),
    allowsCommands: (userId) => registry().snapshot(userId).get('exec') !== undefined,
  })
}

/** How long a pattern of a check may take. */
const PATTERN_MS = 2_000

/** Runs patterns of checks in a worker thread, with a time limit. */
export const patternMatcher =
  ({ pool }: Pick<WorkspaceServices, 'pool'>): ScheduleDependencies['matchesPattern'] =>
  (userId, pattern, text) =>
    pool.run('matches_linear', { pattern, text }, { timeoutMs: PATTERN_MS, owner: userId })

/** Schedules for the tools of runs. */
export function toScheduleTools(
  { store, now, settings: server }: Base,
  schedules: Schedules,
): ScheduleTools {
  const actorOf = (userId: UserId, runId: string) => ({
    userId,
    username: null,
    address: null,
    details: { by: 'agent', run_id: runId },
  })
  const listed = ({ row }: { row: Awaited<ReturnType<Schedules['find']>> }): ListedSchedule => {
    const { text, when } = ScheduleSettings.parse(row.settings)
    return {
      id: row.id,
      name: row.name,
      text,
      when,
      enabled: row.enabled,
      next_at: row.nextAt?.toISOString() ?? null,
    }
  }
  return {
    async create({ userId, runId, projectId, tools }, schedule) {
      const run = await store.runs.find(runId)
      if (run === undefined) throw appError('run_not_found')
      const options = readRunOptions(run.options)
      const made = await schedules.create(
        userId,
        {
          ...EMPTY_BODY,
          ...schedule,
          project_id: projectId,
          approval: options.approval,
        },
        actorOf(userId, runId),
        { runId, tools },
      )
      return listed(made)
    },
    async list(userId) {
      schedules.assertAllowed(userId)
      const found = await store.schedules.list(userId, { limit: 100 })
      return found.items.map((row) => listed({ row }))
    },
    async change(userId, runId, id, changes) {
      const by = { isPerson: false }
      return listed(
        await schedules.change(
          userId,
          id,
          { ...EMPTY_PATCH, ...changes },
          actorOf(userId, runId),
          by,
        ),
      )
    },
    async exceeds({ userId, runId, tools }, id) {
      const run = await store.runs.find(runId)
      if (run === undefined) throw appError('run_not_found')
      const options = readRunOptions(run.options)
      const row = await schedules.find(userId, id)
      // Without a list of its own, it may use what the user may: so may a run without one.
      const usesOthers =
        row.tools === null
          ? options.tools !== undefined
          : row.tools.some((name) => !tools.includes(name))
      const conversation =
        row.conversationId === null
          ? undefined
          : await store.conversations.find(userId, row.conversationId)
      const approval =
        ScheduleSettings.parse(row.settings).approval ??
        conversation?.approval ??
        server.current().effective.default_approval
      return usesOthers || BY_FREEDOM.indexOf(approval) > BY_FREEDOM.indexOf(options.approval)
    },
    remove: (userId, runId, id) => schedules.remove(userId, id, actorOf(userId, runId)),
    async preview(userId, when) {
      const zone = await zoneOf(userId, when, { store })
      // In the person's own zone, whatever the pattern says.
      const { time_zone: own } = await store.settings.preferences(userId)
      const shown = own === '' ? (zone ?? 'UTC') : own
      const format = new Intl.DateTimeFormat('en-GB', {
        timeZone: shown,
        dateStyle: 'full',
        timeStyle: 'short',
      })
      const times =
        'at' in when ? [new Date(when.at)] : nextDues({ when, zone, since: now() }, now(), 3)
      return times.map((time) => `${format.format(time)} (${shown})`)
    },
    nameOf: async (userId, id) => (await schedules.find(userId, id)).name,
  }
}

/** What asks most often comes first. */
const BY_FREEDOM: readonly ApprovalMode[] = ['ask', 'auto_medium', 'auto']

/** A body in which nothing is chosen. */
const EMPTY_BODY = {
  skills: undefined,
  conversation: undefined,
  checks: undefined,
  catch_up: undefined,
  overlap: undefined,
  limits: undefined,
  enabled: undefined,
}
const EMPTY_PATCH = {
  ...EMPTY_BODY,
  name: undefined,
  text: undefined,
  when: undefined,
  quiet: undefined,
}
