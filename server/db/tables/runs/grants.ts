// Tables of grants: permissions for tool calls that a person stored, and the calls that used them.
import type { ConversationId, ProjectId, RunId } from '../../../protocol/ids.ts'
import type { GrantMatch } from '../../../protocol/runs/grant.ts'
import type { ScheduleId } from '../../../protocol/schedules/schedule.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineAccountTables } from '../accounts/accounts.ts'
import type { defineConversationTables } from '../conversations/conversations.ts'
import { ownedBy } from '../owner.ts'
import type { defineProjectTables } from '../projects/projects.ts'
import type { defineScheduleTables } from '../schedules/schedules.ts'
import type { defineRunTables } from './runs.ts'

type Needed = Pick<ReturnType<typeof defineAccountTables>, 'users'> &
  Pick<ReturnType<typeof defineProjectTables>, 'projects'> &
  Pick<ReturnType<typeof defineConversationTables>, 'conversations'> &
  Pick<ReturnType<typeof defineRunTables>, 'runs'> &
  Pick<ReturnType<typeof defineScheduleTables>, 'schedules'>

/** A grant never changes but for its uses. It is deleted with its place. */
export function defineGrantTables(
  c: Columns,
  { users, projects, conversations, runs, schedules }: Needed,
) {
  const grants = c.table(
    'grants',
    {
      id: c.text('id').primaryKey(),
      userId: ownedBy(c, users),
      /** Of conversation, project and schedule, the one in which it holds is set. */
      conversationId: c
        .key<ConversationId>('conversation_id')
        .references(() => conversations.id, { onDelete: 'cascade' }),
      projectId: c
        .key<ProjectId>('project_id')
        .references(() => projects.id, { onDelete: 'cascade' }),
      scheduleId: c
        .key<ScheduleId>('schedule_id')
        .references(() => schedules.id, { onDelete: 'cascade' }),
      /** Set if it holds only for one run of the conversation. */
      runId: c.key<RunId>('run_id').references(() => runs.id, { onDelete: 'cascade' }),
      tool: c.text('tool').notNull(),
      /** Identifies the tool's description and schema; null if it holds for every version of the tool. */
      toolPrint: c.text('tool_print'),
      /** Null: every call of the tool. */
      match: c.json<GrantMatch>('arguments_match'),
      evenTainted: c.boolean('even_tainted').notNull(),
      expiresAt: c.time('expires_at'),
      maxUses: c.integer('max_uses'),
      uses: c.integer('uses').notNull(),
      lastUsedAt: c.time('last_used_at'),
      createdAt: c.time('created_at').notNull(),
      /** The approval request that it was made for. */
      createdFrom: c.text('created_from'),
    },
    (t) => [
      c.index('grants_user').on(t.userId, t.createdAt, t.id),
      c.index('grants_tool').on(t.userId, t.tool),
      c.index('grants_conversation').on(t.conversationId),
      c.index('grants_project').on(t.projectId),
      c.index('grants_schedule').on(t.scheduleId),
      c.index('grants_run').on(t.runId),
    ],
  )

  /** The calls that used a grant: each counts once, however often it is repeated after a restart. */
  const grantUses = c.table(
    'grant_uses',
    {
      grantId: c
        .text('grant_id')
        .notNull()
        .references(() => grants.id, { onDelete: 'cascade' }),
      runId: c
        .key<RunId>('run_id')
        .notNull()
        .references(() => runs.id, { onDelete: 'cascade' }),
      idRef: c.text('id_ref').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.grantId, t.runId, t.idRef] }),
      c.index('grant_uses_run').on(t.runId),
    ],
  )

  return { grants, grantUses }
}
