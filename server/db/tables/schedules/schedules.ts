// Tables of schedules and of the times at which they were due.
import { sql } from 'drizzle-orm'
import type { ConversationId, MessageId, ProjectId, RunId } from '../../../protocol/ids.ts'
import type {
  CheckOutcome,
  DisabledReason,
  NamedFailure,
  OccurrenceId,
  OccurrenceReason,
  OccurrenceState,
  ScheduleId,
} from '../../../protocol/schedules/schedule.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineAccountTables } from '../accounts/accounts.ts'
import type { defineConversationTables } from '../conversations/conversations.ts'
import { ownedBy } from '../owner.ts'
import type { defineProjectTables } from '../projects/projects.ts'

type Needed = Pick<ReturnType<typeof defineAccountTables>, 'users'> &
  Pick<ReturnType<typeof defineProjectTables>, 'projects'> &
  Pick<ReturnType<typeof defineConversationTables>, 'conversations'>

/** What is due, for whom, and how it went. */
const defineSchedules = (c: Columns, { users, projects, conversations }: Needed) =>
  c.table(
    'schedules',
    {
      id: c.key<ScheduleId>('id').primaryKey(),
      userId: ownedBy(c, users),
      projectId: c
        .key<ProjectId>('project_id')
        .references(() => projects.id, { onDelete: 'cascade' }),
      /** With `conversation: same`, the one conversation; null before the first occurrence. */
      conversationId: c
        .key<ConversationId>('conversation_id')
        .references(() => conversations.id, { onDelete: 'set null' }),
      name: c.text('name').notNull(),
      /** What the person chose (`ScheduleSettings`). */
      settings: c.json<unknown>('settings').notNull(),
      enabled: c.boolean('enabled').notNull(),
      disabledReason: c.choice<DisabledReason>('disabled_reason'),
      /** The next due time; null if there is none, and while it is disabled. */
      nextAt: c.time('next_at'),
      /** From when intervals count. */
      since: c.time('since').notNull(),
      /** Occurrences in a row that failed. */
      failures: c.integer('failures').notNull(),
      watchedAt: c.time('watched_at'),
      /** Looks in a row that failed. */
      watchFailures: c.integer('watch_failures').notNull(),
      /** The hash of the token of its hook. */
      hookHash: c.text('hook_hash'),
      sealedHookSecret: c.text('sealed_hook_secret'),
      createdByRun: c.key<RunId>('created_by_run'),
      /** The only tools that its runs may use; null: all. */
      tools: c.json<string[]>('tools'),
      createdAt: c.time('created_at').notNull(),
    },
    (t) => [
      c.index('schedules_user').on(t.userId, t.createdAt, t.id),
      c.index('schedules_due').on(t.nextAt).where(sql`${t.nextAt} is not null`),
      c.index('schedules_project').on(t.projectId),
      c.index('schedules_conversation').on(t.conversationId),
      c.uniqueIndex('schedules_hook').on(t.hookHash).where(sql`${t.hookHash} is not null`),
    ],
  )

/** They are deleted with their user and their project. */
export function defineScheduleTables(c: Columns, { users, projects, conversations }: Needed) {
  const schedules = defineSchedules(c, { users, projects, conversations })

  const occurrences = c.table(
    'occurrences',
    {
      id: c.key<OccurrenceId>('id').primaryKey(),
      scheduleId: c
        .key<ScheduleId>('schedule_id')
        .notNull()
        .references(() => schedules.id, { onDelete: 'cascade' }),
      dueAt: c.time('due_at').notNull(),
      trigger: c.choice<'clock' | 'manual' | 'hook'>('trigger_kind').notNull(),
      state: c.choice<OccurrenceState>('state').notNull(),
      reason: c.choice<OccurrenceReason>('reason'),
      detail: c.text('detail'),
      /** The failure whose text `detail` is. */
      failure: c.json<NamedFailure>('failure'),
      /** How many due times it stands for. */
      count: c.integer('count').notNull(),
      /** The key by which a repeated request to a hook is known. */
      requestKey: c.text('request_key'),
      /** What is given to the model as text from outside: the body of a request, or what has changed. */
      input: c.json<{ name: string; content: string }>('input'),
      conversationId: c
        .key<ConversationId>('conversation_id')
        .references(() => conversations.id, { onDelete: 'set null' }),
      runId: c.key<RunId>('run_id'),
      messageId: c.key<MessageId>('message_id'),
      checks: c.json<CheckOutcome[]>('checks').notNull(),
      cost: c.json<Record<string, number>>('cost'),
      createdAt: c.time('created_at').notNull(),
      startedAt: c.time('started_at'),
      endedAt: c.time('ended_at'),
      /** Whom its end is still to be told to; null: nobody. */
      untold: c.json<string[]>('untold'),
    },
    (t) => [
      c.uniqueIndex('occurrences_due').on(t.scheduleId, t.dueAt).where(sql`${t.trigger} = 'clock'`),
      c
        .uniqueIndex('occurrences_request')
        .on(t.scheduleId, t.requestKey)
        .where(sql`${t.requestKey} is not null`),
      c.index('occurrences_list').on(t.scheduleId, t.dueAt, t.id),
      c.index('occurrences_conversation').on(t.conversationId),
      c
        .index('occurrences_open')
        .on(t.createdAt)
        .where(sql`${t.state} in ('running', 'waiting') or ${t.untold} is not null`),
    ],
  )

  /** What the last look at a watched page or at watched files saw. */
  const scheduleWatches = c.table('schedule_watches', {
    scheduleId: c
      .key<ScheduleId>('schedule_id')
      .primaryKey()
      .references(() => schedules.id, { onDelete: 'cascade' }),
    content: c.text('content').notNull(),
  })

  return { schedules, occurrences, scheduleWatches }
}
