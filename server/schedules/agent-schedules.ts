// Schedules as the agent makes, lists and changes them: in the name of the user, and with no more freedom than its run has.
import { startingApproval } from '../chat/new-conversation.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import type { ApprovalMode } from '../protocol/conversations/conversation.ts'
import type { RunId, UserId } from '../protocol/ids.ts'
import { readRunOptions } from '../runs/state.ts'
import type { ListedSchedule, ScheduleTools } from '../tools/builtin/schedules/schedule-tools.ts'
import { zoneOf } from './check-settings.ts'
import type { Schedules } from './schedules.ts'
import { ScheduleSettings } from './settings.ts'
import { nextDues } from './times.ts'

const actorOf = (userId: UserId, runId: RunId) => ({
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

/** Schedules for the tools of runs. */
export function agentSchedules({
  store,
  now,
  schedules,
  access,
  settings,
}: {
  store: Pick<Store, 'conversations' | 'projects' | 'runs' | 'schedules' | 'settings'>
  now(): Date
  schedules: Schedules
  access: Parameters<typeof startingApproval>[1]['access']
  /** Names the mode of conversations without one of their own. */
  settings: { current(): { effective: { default_approval: ApprovalMode } } }
}): ScheduleTools {
  /** What a run may do by itself. @throws AppError `run_not_found`. */
  const optionsOf = async (runId: RunId) => {
    const run = await store.runs.find(runId)
    if (run === undefined) throw appError('run_not_found')
    return readRunOptions(run.options)
  }

  return {
    async create({ userId, runId, projectId, tools }, schedule) {
      const { approval } = await optionsOf(runId)
      const made = await schedules.create(
        userId,
        {
          ...EMPTY_BODY,
          ...schedule,
          project_id: projectId,
          approval,
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
      const options = await optionsOf(runId)
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
        (conversation === undefined
          ? await startingApproval(row, { store, access })
          : conversation.approval) ??
        settings.current().effective.default_approval
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
