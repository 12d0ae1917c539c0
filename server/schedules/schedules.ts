// What a person or a tool does with schedules: make, change, delete, start now. Each act leaves its audit entry and tells the pages.
import type { SecretBox } from '../auth/secret-box.ts'
import type { Database, Writer } from '../db/database.ts'
import type { NewOccurrence, OccurrenceRow } from '../db/repositories/schedules/occurrences.ts'
import type { ScheduleRow } from '../db/repositories/schedules/schedules.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { removeScheduleGrants } from '../grants/remove.ts'
import { newId } from '../lib/ids.ts'
import { hashLinkToken, newLinkToken } from '../lib/link-token.ts'
import type { Webhooks } from '../messaging/webhooks.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { Change } from '../protocol/change.ts'
import type { RunId, UserId } from '../protocol/ids.ts'
import {
  type CreateScheduleBody,
  OccurrenceId,
  type PatchScheduleBody,
  type ScheduleId,
} from '../protocol/schedules/schedule.ts'
import { requireProject } from '../workspace/open-project.ts'
import { checkSettings, type ScheduleRules } from './check-settings.ts'
import { ScheduleSettings } from './settings.ts'
import { nextDue, spreadOf } from './times.ts'

/** Binds a sealed secret to the schedule whose hook needs it. */
export const hookSealPurpose = (id: string): string => `hook of schedule ${id}`

/** What acts on schedules need. */
export interface ScheduleDependencies extends ScheduleRules {
  database: Database
  store: Store
  box: Pick<SecretBox, 'seal'>
  /** Are told of ends in the transaction that stores them, and send them after it. */
  webhooks: Pick<Webhooks, 'events' | 'afterCommit'>
  /** Notifies the user's open pages. Call it after the commit. */
  announce(userId: UserId, change: Change): void
}

/** How often a change is checked again because another one was stored meanwhile. */
const MAX_ATTEMPTS = 5

/** A run that makes a schedule: the schedule may use no more than it. */
export interface MakingRun {
  /** Null: a schedule of an export, which a run has made elsewhere. */
  runId: RunId | null
  /** The names of its tools. */
  tools: readonly string[]
}

/** A schedule, with the token of its hook if it was made just now. */
export interface MadeSchedule {
  row: ScheduleRow
  hookToken?: string
}

/** Something will be due, or an occurrence of a user waits to be started. */
type DueItem = { dueAt: Date } | { occurrence: OccurrenceId; userId: UserId }

/** The schedules of users. */
export type Schedules = ReturnType<typeof createSchedules>

/** Create one per server. */
export function createSchedules(dependencies: ScheduleDependencies) {
  const parts = scheduleParts(dependencies)
  return {
    assertAllowed: parts.assertAllowed,
    maxPerUser: parts.maxPerUser,
    find: parts.find,
    ...makeSchedules(dependencies, parts),
    ...endSchedules(dependencies, parts),
    ...runSchedules(dependencies, parts),
  }
}

/** Schedules by their user, and who is told of changes. */
function scheduleParts(dependencies: ScheduleDependencies) {
  const { store, announce, access, defaultPerUser } = dependencies

  /** @throws AppError `schedules_off`. */
  const assertAllowed = (userId: UserId): void => access.assertFeature(userId, 'schedules')
  const maxPerUser = (userId: UserId): number => access.quota(userId).schedules ?? defaultPerUser

  const listeners = new Set<(item: DueItem) => void>()
  const changed = (userId: UserId, id: string, change: Change['change']): void =>
    announce(userId, { type: 'schedule', id, change })

  async function find(userId: UserId, id: ScheduleId): Promise<ScheduleRow> {
    assertAllowed(userId)
    return await findOwn(userId, id)
  }

  /** Also of somebody who may no longer have schedules. */
  async function findOwn(userId: UserId, id: ScheduleId): Promise<ScheduleRow> {
    const row = await store.schedules.find(userId, id)
    if (row === undefined) throw appError('schedule_not_found')
    return row
  }

  return { listeners, changed, find, findOwn, assertAllowed, maxPerUser }
}

type ScheduleParts = ReturnType<typeof scheduleParts>

/** New schedules, and their settings. */
function makeSchedules(
  dependencies: ScheduleDependencies,
  { listeners, changed, find, findOwn, assertAllowed, maxPerUser }: ScheduleParts,
) {
  const { database, store, now, announce } = dependencies
  const wake = ({ nextAt }: Pick<ScheduleRow, 'nextAt'>): void => {
    if (nextAt !== null) for (const listener of listeners) listener({ dueAt: nextAt })
  }

  return {
    /** @throws AppError what `checkSettings` throws, and `schedules_exhausted`. */
    async create(
      userId: UserId,
      body: CreateScheduleBody,
      actor: Actor,
      run?: MakingRun,
    ): Promise<MadeSchedule> {
      assertAllowed(userId)
      const at = now()
      const settings = await checkSettings(userId, body, dependencies, {
        isPerson: run === undefined,
      })
      const id = newId<ScheduleId>()
      const enabled = body.enabled ?? true
      const hookToken = 'hook' in settings.when ? newLinkToken() : undefined
      const row: ScheduleRow = {
        id,
        userId,
        projectId: body.project_id ?? null,
        conversationId: null,
        name: body.name,
        settings,
        enabled,
        disabledReason: null,
        nextAt: enabled ? firstStart(id, settings, at, at) : null,
        since: at,
        failures: 0,
        watchedAt: null,
        watchFailures: 0,
        hookHash: hookToken === undefined ? null : hashLinkToken(hookToken),
        sealedHookSecret: sealed(id, body.hook_secret ?? null, dependencies),
        createdByRun: run?.runId ?? null,
        tools: run === undefined ? null : [...run.tools],
        createdAt: at,
      }
      const limit = maxPerUser(userId)
      await database.write(async (tx) => {
        if ((await store.schedules.count(tx, userId)) >= limit)
          throw appError('schedules_exhausted', { limit })
        await store.schedules.insert(tx, row)
        await store.audit.record(tx, actor, {
          action: 'schedule_created',
          at,
          details: {
            id,
            name: row.name,
            ...(run == null || run.runId === null ? {} : { run_id: run.runId }),
          },
        })
      })
      changed(userId, id, 'created')
      wake(row)
      return { row, ...(hookToken === undefined ? {} : { hookToken }) }
    },

    /** Absent fields stay unchanged. Who may no longer have schedules can still switch them off. @throws AppError `schedule_not_found`, and what `checkSettings` throws. */
    async change(
      userId: UserId,
      id: ScheduleId,
      body: PatchScheduleBody,
      actor: Actor,
      { isPerson = true }: { isPerson?: boolean } = {},
    ): Promise<MadeSchedule> {
      const named = new Set(
        Object.entries(body).flatMap(([name, value]) => (value === undefined ? [] : [name])),
      )
      const onlyEnds = body.enabled === false && named.size === 1
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
        const before = onlyEnds ? await findOwn(userId, id) : await find(userId, id)
        const settings = await checkSettings(
          userId,
          merged(before, ScheduleSettings.parse(before.settings), body),
          dependencies,
          { isPerson, named, isEnabled: body.enabled ?? before.enabled },
        )
        const made = await storeChange({ before, settings, body, named, actor }, dependencies)
        // It changed while its settings were checked: what was checked is no longer what would be stored.
        if (made === null) continue
        changed(userId, id, 'updated')
        for (const grant of made.endedGrants)
          announce(userId, { type: 'grant', id: grant, change: 'deleted' })
        wake(made.row)
        return made
      }
      throw appError('store_busy')
    },
  }
}

/** Schedules that go, and addresses of hooks that change. */
function endSchedules(dependencies: ScheduleDependencies, { changed, find }: ScheduleParts) {
  const { database, store, now } = dependencies
  return {
    /** @throws AppError `schedule_not_found`. */
    async remove(userId: UserId, id: ScheduleId, actor: Actor): Promise<void> {
      await find(userId, id)
      await database.write(async (tx) => {
        const removed = await store.schedules.remove(tx, userId, id)
        if (removed === undefined) throw appError('schedule_not_found')
        await store.audit.record(tx, actor, {
          action: 'schedule_deleted',
          at: now(),
          details: { id, name: removed.name },
        })
      })
      changed(userId, id, 'deleted')
    },

    /** Replaces the token of a hook; the old one no longer works. @throws AppError `schedule_not_found`, `hook_needed`. */
    async replaceHookToken(userId: UserId, id: ScheduleId, actor: Actor): Promise<string> {
      const row = await find(userId, id)
      if (row.hookHash === null) throw appError('hook_needed')
      const token = newLinkToken()
      await database.write(async (tx) => {
        await store.schedules.change(tx, id, { hookHash: hashLinkToken(token) })
        await store.audit.record(tx, actor, {
          action: 'hook_token_replaced',
          at: now(),
          details: { id, name: row.name },
        })
      })
      return token
    },
  }
}

/** What is due, runs and ends. */
function runSchedules(dependencies: ScheduleDependencies, { listeners, find }: ScheduleParts) {
  const { database, store, now, announce } = dependencies

  return {
    /** Calls `listener` when something will be due, or waits to be started. Returns a function that ends this. */
    onDue(listener: (item: DueItem) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },

    /**
     * Stores an occurrence that begins now, whether the schedule is enabled or not.
     * @throws AppError `schedule_not_found`; `project_not_found`, `read_only_project` for who may no longer change its project.
     */
    async runNow(userId: UserId, id: ScheduleId): Promise<OccurrenceId> {
      const { projectId } = await find(userId, id)
      if (projectId !== null) await requireProject(store.projects, userId, projectId, 'change')
      const at = now()
      const occurrence = newOccurrence(id, { dueAt: at, trigger: 'manual', at })
      await database.write(async (tx) => {
        const stored = await addOccurrence(tx, occurrence, dependencies)
        await endedAsStored(tx, userId, stored === null ? [] : [stored], dependencies)
      })
      dependencies.webhooks.afterCommit(userId)
      announceOccurrence(occurrence, userId, announce)
      for (const listener of listeners) listener({ occurrence: occurrence.id, userId })
      return occurrence.id
    },

    /** Tells the clock of an occurrence that waits to be started. */
    started(occurrence: OccurrenceRow, userId: UserId): void {
      announceOccurrence(occurrence, userId, announce)
      for (const listener of listeners) listener({ occurrence: occurrence.id, userId })
    },
  }
}

/** Tells the user's pages of a new occurrence. */
export const announceOccurrence = (
  { id, scheduleId }: Pick<OccurrenceRow, 'id' | 'scheduleId'>,
  userId: UserId,
  announce: ScheduleDependencies['announce'],
  change: Change['change'] = 'created',
): void => announce(userId, { type: 'occurrence', id, change, schedule_id: scheduleId })

/** When a schedule that is made or changed now starts first: only a due time that is still to come counts. */
function firstStart(
  id: string,
  settings: Pick<ScheduleSettings, 'when' | 'zone'>,
  since: Date,
  at: Date,
): Date | null {
  return nextStart(id, settings, since, new Date(at.getTime() + spreadOf(id, settings.when)))
}

/** When a schedule starts next: its next due time, moved on by what spreads schedules over the minute. */
export function nextStart(
  id: string,
  { when, zone }: Pick<ScheduleSettings, 'when' | 'zone'>,
  since: Date,
  after: Date,
): Date | null {
  if ('at' in when)
    return new Date(when.at) > new Date(after.getTime() - 60_000) ? new Date(when.at) : null
  const spread = spreadOf(id, when)
  const due = nextDue({ when, zone, since }, new Date(after.getTime() - spread))
  return due === null ? null : new Date(due.getTime() + spread)
}

/** A new occurrence that is to be started. */
export const newOccurrence = (
  scheduleId: ScheduleId,
  { dueAt, trigger, at }: { dueAt: Date; trigger: OccurrenceRow['trigger']; at: Date },
): NewOccurrence => ({
  id: OccurrenceId.parse(newId<string>()),
  scheduleId,
  dueAt,
  trigger,
  state: 'running',
  reason: null,
  detail: null,
  failure: null,
  count: 1,
  requestKey: null,
  input: null,
  conversationId: null,
  runId: null,
  messageId: null,
  checks: [],
  cost: null,
  createdAt: at,
  startedAt: null,
  endedAt: null,
  untold: null,
})

/** Tells webhooks of those that ended as they were stored: missed and skipped ones. Call it in that transaction. */
export async function endedAsStored(
  tx: Writer,
  userId: UserId,
  rows: readonly OccurrenceRow[],
  { webhooks }: { webhooks: Pick<Webhooks, 'events'> },
): Promise<void> {
  for (const { id, scheduleId, state, endedAt } of rows)
    if (endedAt !== null)
      await webhooks.events.scheduleEnded(tx, userId, {
        scheduleId,
        occurrenceId: id,
        state,
        runId: null,
        at: endedAt,
      })
}

/** How many requests of a hook wait at most. */
export const MAX_WAITING_REQUESTS = 20

/**
 * Stores an occurrence, as its schedule's rule for overlaps says: `skipped` while another is open, or `waiting` for it. Locks
 * the schedule. Resolves to what is stored; null if the same due time or request is stored already, or the schedule is gone.
 * @throws AppError `hook_busy` when too many requests wait.
 */
export async function addOccurrence(
  tx: Writer,
  occurrence: NewOccurrence,
  { store }: { store: Pick<Store, 'schedules' | 'occurrences'> },
): Promise<OccurrenceRow | null> {
  const schedule = await store.schedules.lock(tx, occurrence.scheduleId)
  if (schedule === undefined) return null
  const { overlap } = ScheduleSettings.parse(schedule.settings)
  const open = await store.occurrences.open(tx, occurrence.scheduleId)
  const waiting = open.filter(({ state, runId }) => state === 'waiting' && runId === null).length
  const isHook = occurrence.trigger === 'hook'
  if (isHook && overlap === 'queue' && waiting >= MAX_WAITING_REQUESTS) throw appError('hook_busy')
  const skips = open.length > 0 && (overlap === 'skip' || (!isHook && open.length > 1))
  const stored: NewOccurrence = skips
    ? {
        ...occurrence,
        state: 'skipped',
        reason: 'still_running',
        input: null,
        endedAt: occurrence.createdAt,
      }
    : { ...occurrence, state: open.length > 0 ? 'waiting' : 'running' }
  // However often it is asked for meanwhile, it is one entry; a request with a key is one of its own, by which it is known.
  if (skips && occurrence.trigger !== 'clock' && occurrence.requestKey === null) {
    const counted = await store.occurrences.countSkipped(tx, stored)
    if (counted !== undefined) return counted
  }
  return (await store.occurrences.insert(tx, stored)) ? stored : null
}

/** Stores a change of a schedule; null if the schedule is no longer what its settings were checked with. */
async function storeChange(
  {
    before,
    settings,
    body,
    named,
    actor,
  }: {
    before: ScheduleRow
    settings: ScheduleSettings
    body: PatchScheduleBody
    named: ReadonlySet<string>
    actor: Actor
  },
  { database, store, now, box }: ScheduleDependencies,
): Promise<(MadeSchedule & { endedGrants: readonly string[] }) | null> {
  const { id } = before
  const at = now()
  const isHook = 'hook' in settings.when
  return await database.write(async (tx) => {
    const locked = await store.schedules.lock(tx, id)
    if (locked === undefined) throw appError('schedule_not_found')
    if (checkedOf(locked) !== checkedOf(before)) return null
    const newTimes = body.when !== undefined
    const since = newTimes ? at : locked.since
    const enabled = body.enabled ?? locked.enabled
    const restarts = newTimes || (enabled && !locked.enabled)
    const projectId = body.project_id === undefined ? locked.projectId : body.project_id
    const hookToken = isHook && locked.hookHash === null ? newLinkToken() : undefined
    const forgets =
      JSON.stringify(ScheduleSettings.parse(locked.settings).watch) !==
      JSON.stringify(settings.watch)
    const row = await store.schedules.change(tx, id, {
      projectId,
      name: body.name ?? locked.name,
      settings,
      since,
      // The next occurrence makes a conversation where the schedule works now.
      ...(settings.conversation === 'new' || projectId !== locked.projectId
        ? { conversationId: null }
        : {}),
      ...(body.enabled === undefined ? {} : { enabled }),
      ...(enabled && restarts ? { nextAt: firstStart(id, settings, since, at) } : {}),
      ...(enabled ? {} : { nextAt: null }),
      ...(body.enabled === true ? { failures: 0, disabledReason: null, watchFailures: 0 } : {}),
      ...(body.enabled === false && locked.enabled ? { disabledReason: null } : {}),
      ...(isHook ? {} : { hookHash: null }),
      ...(hookToken === undefined ? {} : { hookHash: hashLinkToken(hookToken) }),
      ...(body.hook_secret === undefined
        ? {}
        : { sealedHookSecret: sealed(id, body.hook_secret, { box }) }),
      ...(forgets ? { watchedAt: null, watchFailures: 0 } : {}),
    })
    if (row === undefined) throw appError('schedule_not_found')
    if (forgets) await store.schedules.forgetWatched(tx, id)
    const earlier = ScheduleSettings.parse(locked.settings)
    // They were given for what the schedule did: another task, project or starter is asked again.
    const isOther =
      projectId !== locked.projectId ||
      settings.text !== earlier.text ||
      isHook !== 'hook' in earlier.when
    const endedGrants = isOther ? await removeScheduleGrants(tx, id, actor, { store, now }) : []
    await store.audit.record(tx, actor, {
      action: 'schedule_changed',
      at,
      details: { id, name: row.name, fields: [...named].join(' ') },
    })
    return { row, endedGrants, ...(hookToken === undefined ? {} : { hookToken }) }
  })
}

/** What the settings of a change are checked with. */
const checkedOf = ({ settings, projectId, name }: ScheduleRow): string =>
  JSON.stringify([settings, projectId, name])

const sealed = (
  id: ScheduleId,
  secret: string | null,
  { box }: Pick<ScheduleDependencies, 'box'>,
): string | null => (secret === null ? null : box.seal(secret, hookSealPurpose(id)))

/** A schedule with the changes of a request, as a request that makes it. */
function merged(
  { name, projectId }: ScheduleRow,
  old: ScheduleSettings,
  { hook_secret: _secret, enabled: _enabled, ...body }: PatchScheduleBody,
): CreateScheduleBody {
  const zoned = 'cron' in old.when && old.zone !== null ? { ...old.when, tz: old.zone } : old.when
  return {
    name: body.name ?? name,
    text: body.text ?? old.text,
    project_id: body.project_id === undefined ? projectId : body.project_id,
    model: body.model === undefined ? old.model : body.model,
    skills: body.skills ?? old.skills,
    when: body.when ?? zoned,
    conversation: body.conversation ?? old.conversation,
    quiet: body.quiet ?? old.quiet,
    watch: body.watch === undefined ? old.watch : body.watch,
    checks: body.checks ?? old.checks,
    catch_up: body.catch_up ?? old.catchUp,
    overlap: body.overlap ?? old.overlap,
    limits: body.limits ?? old.limits,
    approval: body.approval === undefined ? old.approval : body.approval,
    approval_deadline:
      body.approval_deadline === undefined ? old.approvalDeadline : body.approval_deadline,
    notify: body.notify === undefined ? old.notify : body.notify,
    enabled: undefined,
  }
}
