// Starts the run of an occurrence, once: its conversation is stored with it, and its message is known by its id.

import type { ChatService } from '../chat/chat-service.ts'
import type { createConversationStart } from '../chat/new-conversation.ts'
import type { Database } from '../db/database.ts'
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import type { OccurrenceRow } from '../db/repositories/schedules/occurrences.ts'
import type { ScheduleRow } from '../db/repositories/schedules/schedules.ts'
import type { Store } from '../db/store.ts'
import { AppError, appError, errorText, namedFailure } from '../errors.ts'
import type { Change } from '../protocol/change.ts'
import type { UserId } from '../protocol/ids.ts'
import type {
  CheckOutcome,
  NamedFailure,
  OccurrenceReason,
  OccurrenceState,
} from '../protocol/schedules/schedule.ts'
import { assertRight } from '../workspace/open-project.ts'
import type { Schedules } from './schedules.ts'
import type { ScheduleSettings } from './settings.ts'

/** How long an occurrence waits for a conversation in which a person's run works, or for a free place. */
const BUSY_MS = 10 * 60_000

/** What starting needs. */
export interface StartDependencies {
  database: Database
  store: Store
  now(): Date
  announce(userId: UserId, change: Change): void
  chat: Pick<ChatService, 'send' | 'trashConversation'>
  conversationStart: ReturnType<typeof createConversationStart>
  schedules: Pick<Schedules, 'assertAllowed'>
}

/** How an occurrence ends. */
export interface End {
  state: OccurrenceState
  reason: OccurrenceReason | null
  detail: string | null
  /** The failure whose text `detail` is. */
  failure: NamedFailure | null
  checks: CheckOutcome[]
  /** Whether a quota of the account, not a limit of the schedule, is why. */
  isQuota?: boolean
}

type Started =
  | { kind: 'started'; runId: string }
  /** It is tried again later. */
  | { kind: 'wait' }
  | { kind: 'ended'; end: End; disables: ScheduleRow['disabledReason'] | 'trashed' }

/** Refusals that pass by themselves. */
const PASSING: readonly string[] = [
  'run_active',
  'too_many_runs',
  'shutting_down',
  'server_busy',
  'store_busy',
  'store_unavailable',
  'conflict',
]
const QUOTA_REACHED: readonly string[] = ['budget_exceeded', 'quota_exceeded', 'quota_reached']
const MODEL_GONE: readonly string[] = ['unknown_model', 'model_not_found']

const ended = (
  end: Partial<End> & Pick<End, 'state' | 'reason'>,
  disables: ScheduleRow['disabledReason'] | 'trashed' = null,
): Started => ({
  kind: 'ended',
  end: { detail: null, failure: null, checks: [], ...end },
  disables,
})

const why = (error: unknown): Pick<End, 'detail' | 'failure'> => ({
  detail: errorText(error),
  failure: namedFailure(error),
})

/** Starts the run, or says why it waits or does not begin. Calling it again after a crash finds the same run. */
export async function startRun(
  occurrence: OccurrenceRow,
  schedule: ScheduleRow & { isActive: boolean },
  settings: ScheduleSettings,
  dependencies: StartDependencies,
): Promise<Started> {
  const { store, now, database } = dependencies
  const open = await store.occurrences.open(database.read, schedule.id)
  // Those of one schedule begin in order.
  if (
    open.some(
      ({ id, createdAt, dueAt }) =>
        id !== occurrence.id && isBefore({ id, createdAt, dueAt }, occurrence),
    )
  )
    return { kind: 'wait' }
  const { userId, projectId } = schedule
  // Outside of what follows: a store that does not answer is no reason to switch the schedule off.
  const project = projectId === null ? null : await store.projects.find(userId, projectId)
  try {
    if (!schedule.isActive) throw appError('account_disabled')
    dependencies.schedules.assertAllowed(userId)
    if (project !== null) assertRight(project, 'change')
  } catch (error) {
    return ended({ state: 'skipped', reason: 'not_started', ...why(error) }, 'owner')
  }
  const conversation = await conversationOf(occurrence, schedule, settings, dependencies)
  // Its end is stored by whoever ended it.
  if (conversation === 'ended') return { kind: 'wait' }
  if (conversation === 'trashed') return ended({ state: 'skipped', reason: 'ended' }, 'trashed')
  const input = await store.occurrences.input(occurrence.id)
  try {
    const run = await dependencies.chat.send(
      schedule.userId,
      conversation.id,
      messageOf(occurrence, schedule, settings, input),
    )
    await database.write(async (tx) => {
      await store.occurrences.change(tx, occurrence.id, {
        state: 'running',
        // The message has it now.
        input: null,
        runId: run.id,
        messageId: run.messageId,
        startedAt: run.startedAt ?? now(),
      })
    })
    return { kind: 'started', runId: run.id }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (PASSING.includes(error.code)) {
      // The time behind earlier ones of the schedule does not count.
      const turn = await store.occurrences.lastTurn(schedule.id)
      const since = Math.max(occurrence.createdAt.getTime(), turn?.getTime() ?? 0)
      if (now().getTime() - since < BUSY_MS) return { kind: 'wait' }
      const reason = error.code === 'too_many_runs' ? 'too_many_runs' : 'conversation_busy'
      return ended({ state: 'skipped', reason, ...why(error) })
    }
    const isModelGone = MODEL_GONE.includes(error.code)
    const isQuota = QUOTA_REACHED.includes(error.code)
    return ended(
      { state: 'failed', reason: 'not_started', ...why(error), isQuota },
      isModelGone ? 'model' : null,
    )
  }
}

/** The message of an occurrence, with what only this run may use. @param input what a hook was given. */
function messageOf(
  { id, trigger }: OccurrenceRow,
  schedule: ScheduleRow,
  { text, skills, model, approval, approvalDeadline, limits, quiet }: ScheduleSettings,
  input: { name: string; content: string } | null,
): Parameters<ChatService['send']>[2] {
  return {
    text,
    attachments: input === null ? [] : [{ ...input, extension: undefined }],
    client_id: id,
    origin: {
      type: trigger === 'hook' ? 'hook' : 'schedule',
      id: schedule.id,
      name: schedule.name,
    },
    skills,
    ...(model === null ? {} : { model }),
    ...(approval === null ? {} : { approval }),
    ...(approvalDeadline === undefined ? {} : { approval_deadline: approvalDeadline }),
    ...(schedule.tools === null ? {} : { tools: schedule.tools }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    quiet,
  }
}

const isBefore = (
  one: Pick<OccurrenceRow, 'id' | 'createdAt' | 'dueAt'>,
  other: Pick<OccurrenceRow, 'id' | 'createdAt' | 'dueAt'>,
): boolean => {
  const order =
    one.createdAt.getTime() - other.createdAt.getTime() ||
    one.dueAt.getTime() - other.dueAt.getTime()
  return order < 0 || (order === 0 && one.id < other.id)
}

/** The conversation of the occurrence, made with it if there is none; `ended` if the occurrence has ended meanwhile. */
async function conversationOf(
  occurrence: OccurrenceRow,
  schedule: ScheduleRow,
  settings: ScheduleSettings,
  { database, store, announce, conversationStart }: StartDependencies,
): Promise<Pick<ConversationRow, 'id'> | 'trashed' | 'ended'> {
  const { userId, projectId } = schedule
  const known =
    occurrence.conversationId ?? (settings.conversation === 'same' ? schedule.conversationId : null)
  if (known !== null) {
    const found = await store.conversations.find(userId, known)
    if (found === undefined) return 'trashed'
    if (occurrence.conversationId === null)
      await database.write(async (tx) => {
        await store.occurrences.change(tx, occurrence.id, { conversationId: known })
      })
    return found
  }
  const chosen = await conversationStart(schedule, settings.model)
  const conversation = await database.write(async (tx) => {
    const locked = await store.schedules.lock(tx, schedule.id)
    const current = await store.occurrences.find(occurrence.id, tx)
    if (locked === undefined || current === undefined || current.endedAt !== null) return 'ended'
    // Another instance, or this one before it was paused, has made it.
    const other =
      current.conversationId ?? (settings.conversation === 'same' ? locked.conversationId : null)
    if (other !== null) {
      if (current.conversationId === null)
        await store.occurrences.change(tx, occurrence.id, { conversationId: other })
      return other
    }
    const made = await store.conversations.createIn(tx, userId, {
      title: schedule.name,
      projectId,
      ...chosen,
      scheduleId: schedule.id,
    })
    await store.occurrences.change(tx, occurrence.id, { conversationId: made.id })
    if (settings.conversation === 'same')
      await store.schedules.change(tx, schedule.id, { conversationId: made.id })
    return made
  })
  if (conversation === 'ended') return 'ended'
  if (typeof conversation === 'string') {
    const found = await store.conversations.find(userId, conversation)
    return found ?? 'trashed'
  }
  announce(userId, { type: 'conversation', id: conversation.id, change: 'created' })
  return conversation
}
