// The table of conversations.
import { sql } from 'drizzle-orm'
import type {
  ApprovalMode,
  ConversationChannel,
} from '../../../protocol/conversations/conversation.ts'
import type { ConversationId, MessageId, ProjectId } from '../../../protocol/ids.ts'
import type { ScheduleId } from '../../../protocol/schedules/schedule.ts'
import type { AnyColumn, Columns } from '../../columns/postgres.ts'
import type { defineAccountTables } from '../accounts/accounts.ts'
import { ownedBy } from '../owner.ts'
import type { defineProjectTables } from '../projects/projects.ts'

type Needed = Pick<ReturnType<typeof defineAccountTables>, 'users'> &
  Pick<ReturnType<typeof defineProjectTables>, 'projects'>

/** Messages, runs and shared copies refer to it and are deleted with it. */
export function defineConversationTables(c: Columns, { users, projects }: Needed) {
  const conversations = c.table(
    'conversations',
    {
      id: c.key<ConversationId>('id').primaryKey(),
      userId: ownedBy(c, users),
      projectId: c
        .key<ProjectId>('project_id')
        .references((): AnyColumn => projects.id, { onDelete: 'set null' }),
      /** The project with the files of this conversation alone; null before the first. Kept while it has another project. */
      scratchProjectId: c
        .key<ProjectId>('scratch_project_id')
        .references((): AnyColumn => projects.id, { onDelete: 'set null' }),
      title: c.text('title').notNull(),
      /** The title folded to lower case, so that both databases search it in the same way. */
      titleKey: c.text('title_key').notNull(),
      model: c.text('model'),
      systemPrompt: c.text('system_prompt'),
      temperature: c.real('temperature'),
      maxTokens: c.integer('max_tokens'),
      thinkingEnabled: c.boolean('thinking_enabled').notNull(),
      approval: c.choice<ApprovalMode>('approval'),
      /** Seconds after which requests for a decision expire; null: none does. */
      approvalDeadline: c.integer('approval_deadline'),
      disabledMcpServers: c.json<string[]>('disabled_mcp_servers').notNull(),
      /** Only for versions without the table of grants, which may run beside this one. */
      approvalGrants: c.json<string[]>('approval_grants').notNull(),
      /** The taint: the conversation contains text from outside. */
      tainted: c.boolean('tainted').notNull(),
      pinned: c.boolean('pinned').notNull(),
      /** Its position among the pinned conversations, from 0; null places it above them, until the user moves it. */
      pinPosition: c.integer('pin_position'),
      archived: c.boolean('archived').notNull(),
      /** The message whose branch is shown. */
      leafId: c.key<MessageId>('leaf_id'),
      messageCount: c.integer('message_count').notNull(),
      /** Whether a title was generated or given; false while it is only the placeholder. */
      titled: c.boolean('titled').notNull(),
      createdAt: c.time('created_at').notNull(),
      updatedAt: c.time('updated_at').notNull(),
      /** When it was moved to the trash; until it is restored, only the trash shows it. */
      deletedAt: c.time('deleted_at'),
      /** In no list, and removed when its run has ended. */
      temporary: c.boolean('temporary').notNull().default(false),
      /** The user's tags; each once, in the order of adding. */
      tags: c.json<string[]>('tags').notNull().default([]),
      /** The schedule that made it; it may have been deleted since. */
      scheduleId: c.key<ScheduleId>('schedule_id'),
      /** The chat of a messenger to which it belongs, as it was called then. */
      channel: c.json<ConversationChannel>('channel'),
      /** Of an imported conversation: its source and its id there, so that importing it again adds nothing. */
      origin: c.text('origin'),
    },
    (t) => [
      c
        .uniqueIndex('conversations_origin')
        .on(t.userId, t.origin)
        .where(sql`${t.origin} is not null`),
      c
        .index('conversations_trash')
        .on(t.userId, t.deletedAt, t.id)
        .where(sql`${t.deletedAt} is not null`),
      c.index('conversations_temporary').on(t.createdAt).where(sql`${t.temporary}`),
      c.index('conversations_list').on(t.userId, t.archived, t.updatedAt, t.id),
      c
        .index('conversations_list_in_project')
        .on(t.userId, t.projectId, t.archived, t.updatedAt, t.id),
      c.index('conversations_project').on(t.projectId),
      c.uniqueIndex('conversations_scratch_project').on(t.scratchProjectId),
    ],
  )

  return { conversations }
}
