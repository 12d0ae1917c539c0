// Tables of conversations and their messages.
import { sql } from 'drizzle-orm'
import type { ApprovalMode } from '../../protocol/conversations/conversation.ts'
import type { Feedback, MessageStatus } from '../../protocol/conversations/message.ts'
import type {
  ConversationId,
  FileId,
  MessageId,
  ProjectId,
  RunId,
  UserId,
} from '../../protocol/ids.ts'
import type { Artifact, Step } from '../../protocol/runs/step.ts'
import type { AnyColumn, Columns } from '../columns/postgres.ts'
import type { defineAccountTables } from './accounts.ts'
import type { defineFileTables } from './files.ts'
import type { defineProjectTables } from './projects.ts'

type Needed = Pick<ReturnType<typeof defineAccountTables>, 'users'> &
  Pick<ReturnType<typeof defineProjectTables>, 'projects'> &
  Pick<ReturnType<typeof defineFileTables>, 'files'>

export function defineConversationTables(c: Columns, { users, projects, files }: Needed) {
  const conversations = c.table(
    'conversations',
    {
      id: c.key<ConversationId>('id').primaryKey(),
      userId: c
        .key<UserId>('user_id')
        .notNull()
        .references(() => users.id, { onDelete: 'cascade' }),
      projectId: c
        .key<ProjectId>('project_id')
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
      disabledMcpServers: c.json<string[]>('disabled_mcp_servers').notNull(),
      /** Names of tools that a person granted for this whole conversation. */
      approvalGrants: c.json<string[]>('approval_grants').notNull(),
      /** The taint: the conversation contains text from outside. */
      tainted: c.boolean('tainted').notNull(),
      pinned: c.boolean('pinned').notNull(),
      /** Its place among the pinned conversations, from 0; null: above them, since nobody has placed it. */
      pinPosition: c.integer('pin_position'),
      archived: c.boolean('archived').notNull(),
      /** The message whose branch is shown. */
      leafId: c.key<MessageId>('leaf_id'),
      messageCount: c.integer('message_count').notNull(),
      /** A title was generated or given; false while it is only the placeholder. */
      titled: c.boolean('titled').notNull(),
      createdAt: c.time('created_at').notNull(),
      updatedAt: c.time('updated_at').notNull(),
      /** When it was moved to the trash; until it is restored, only the trash shows it. */
      deletedAt: c.time('deleted_at'),
      /** In no list, and removed when its run has ended. */
      temporary: c.boolean('temporary').notNull().default(false),
      /** What its user sorts it by; each tag once, in the order of adding. */
      tags: c.json<string[]>('tags').notNull().default([]),
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
    ],
  )

  const messages = c.table(
    'messages',
    {
      /** The order in which messages were created, independent of the clock. */
      row: c.counter('row'),
      id: c.key<MessageId>('id').notNull().unique('messages_id'),
      conversationId: c
        .key<ConversationId>('conversation_id')
        .notNull()
        .references(() => conversations.id, { onDelete: 'cascade' }),
      /**
       * No foreign key: a subtree is deleted explicitly, because a cascade over a long chain exceeds SQLite's trigger
       * depth.
       */
      parentId: c.key<MessageId>('parent_id'),
      role: c.choice<'user' | 'assistant'>('role').notNull(),
      text: c.text('text').notNull(),
      tokenCount: c.integer('token_count').notNull(),
      model: c.text('model'),
      runId: c.key<RunId>('run_id'),
      status: c.choice<MessageStatus>('status').notNull(),
      error: c.text('error'),
      createdAt: c.time('created_at').notNull(),
      /** When it was deleted. Until it is purged, it can be restored; nothing else reads it. */
      deletedAt: c.time('deleted_at'),
      /** The message whose deletion included this one (or this one itself): restoring that one restores this one. */
      deletedWith: c.key<MessageId>('deleted_with'),
      /** The answer whose text a person changed into this one. */
      editedFrom: c.key<MessageId>('edited_from'),
      /** What the person thinks of the answer. */
      feedback: c.json<Feedback>('feedback'),
    },
    (t) => [
      c.index('messages_conversation').on(t.conversationId, t.parentId, t.row),
      c.index('messages_parent').on(t.parentId),
      c.index('messages_deleted').on(t.deletedAt).where(sql`${t.deletedAt} is not null`),
      c.index('messages_deleted_with').on(t.deletedWith).where(sql`${t.deletedWith} is not null`),
    ],
  )

  const attachments = c.table(
    'attachments',
    {
      messageId: c
        .key<MessageId>('message_id')
        .notNull()
        .references(() => messages.id, { onDelete: 'cascade' }),
      position: c.integer('position').notNull(),
      kind: c.choice<'text' | 'image'>('kind').notNull(),
      name: c.text('name').notNull(),
      extension: c.text('extension'),
      mime: c.text('mime'),
      /** Empty once `file_id` is set. Until then text as it is, images as base64. */
      content: c.text('content').notNull(),
      /** Bytes of the file; null for attachments stored before this column existed. */
      size: c.integer('size'),
      /** The file; null until the contents of an older attachment have moved to one. */
      fileId: c.key<FileId>('file_id').references((): AnyColumn => files.id),
      /** The part of its text that the search index continues with; null when it has all of them. */
      searchFrom: c.integer('search_from'),
      /**
       * The document of a project that a run made of a file too large for its window. No foreign key: it stays when the
       * document is deleted, so that no later run adds it again.
       */
      documentId: c.text('document_id'),
    },
    (t) => [
      c.primaryKey({ columns: [t.messageId, t.position] }),
      c.index('attachments_file').on(t.fileId),
      c.index('attachments_inline').on(t.messageId).where(sql`${t.fileId} is null`),
      c.index('attachments_search').on(t.messageId).where(sql`${t.searchFrom} is not null`),
    ],
  )

  const steps = c.table(
    'steps',
    {
      messageId: c
        .key<MessageId>('message_id')
        .notNull()
        .references(() => messages.id, { onDelete: 'cascade' }),
      position: c.integer('position').notNull(),
      type: c.choice<Step['type']>('type').notNull(),
      /** The text, the result, or for a call its arguments as the model wrote them. */
      content: c.text('content').notNull(),
      idRef: c.text('id_ref'),
      name: c.text('name'),
      skipped: c.boolean('skipped').notNull(),
      artifact: c.json<Artifact>('artifact'),
      /** The step is complete. */
      closed: c.boolean('closed').notNull(),
      /** The id of the run event that began it. */
      firstEvent: c.integer('first_event'),
      /** Where events split its text, so that a replay emits the same pieces. */
      cuts: c.text('cuts'),
      /** When the call of a `tool_call` step began. */
      startedAt: c.time('started_at'),
      /** What its provider, and no other, must receive back with an iteration's calls; in the row of the first call. */
      carry: c.text('carry'),
      /** How long the model thought, in a complete `thinking` step. */
      durationMs: c.integer('duration_ms'),
    },
    (t) => [c.primaryKey({ columns: [t.messageId, t.position] })],
  )

  return { conversations, messages, attachments, steps }
}
