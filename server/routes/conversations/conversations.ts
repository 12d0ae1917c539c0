// Routes for conversations: list, create, get, update, delete, and change many at once.
import { z } from 'zod'
import { createConversation } from '../../chat/new-conversation.ts'
import type { ConversationItem } from '../../db/repositories/conversations/conversation-items.ts'
import type { Marks } from '../../db/repositories/conversations/marks.ts'
import { AppError, appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { withoutAbsent } from '../../lib/without-absent.ts'
import type { Change } from '../../protocol/change.ts'
import {
  type BulkAction,
  BulkBody,
  BulkResult,
  Conversation,
  ConversationListQuery,
  ConversationPage,
  CreateConversationBody,
  PatchConversationBody,
  PinOrderBody,
  TagList,
} from '../../protocol/conversations/conversation.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import { ConversationId, type UserId } from '../../protocol/ids.ts'
import type { Services } from '../../services.ts'
import { deleted, presentPage, success } from '../envelope.ts'

// The route that changes many conversations at once.

/** The change that other tabs receive; `updated` for actions that are not listed. */
const CHANGES: Partial<Record<BulkAction, Change['change']>> = {
  delete: 'deleted',
  delete_permanently: 'deleted',
  restore: 'created',
}

/** Changes conversations of a user and yields each that is changed; one that the user does not have is left out. */
type Apply = (userId: UserId, ids: readonly ConversationId[]) => AsyncIterable<ConversationId>

/** For what needs only the database: one statement for all. */
const together = (
  apply: (userId: UserId, ids: readonly ConversationId[]) => Promise<ConversationId[]>,
): Apply =>
  async function* (userId, ids) {
    yield* await apply(userId, ids)
  }

/** For what also stops runs: one conversation after the other. */
const oneByOne = (apply: (userId: UserId, id: ConversationId) => Promise<void>): Apply =>
  async function* (userId, ids) {
    for (const id of ids)
      try {
        await apply(userId, id)
        yield id
      } catch (error) {
        // The conversation was deleted in the meantime. The others must still be changed.
        if (!(error instanceof AppError) || error.status !== 404) throw error
      }
  }

/** `POST /api/conversations/bulk`. */
function registerBulkRoute(
  app: App,
  { store: { conversations, trash }, chat, changes }: Pick<Services, 'store' | 'chat' | 'changes'>,
): void {
  const mark = (marks: Marks): Apply =>
    together((userId, ids) => conversations.mark(userId, ids, marks))
  const actions: Record<BulkAction, Apply> = {
    archive: mark({ archived: true }),
    unarchive: mark({ archived: false }),
    pin: mark({ pinned: true }),
    unpin: mark({ pinned: false }),
    delete: oneByOne(chat.trashConversation),
    restore: together(trash.restore),
    delete_permanently: oneByOne(chat.removeConversation),
  }

  app.post(
    '/api/conversations/bulk',
    {
      config: { whileDiskFull: true },
      schema: {
        summary:
          'Archive, pin, delete or restore several conversations; `delete` moves them to the trash',
        body: BulkBody,
        response: { 200: envelope(BulkResult) },
      },
    },
    async ({ user, body: { ids: given, action } }) => {
      const ids = [...new Set(given)]
      const changed = new Set<ConversationId>()
      for await (const id of actions[action](user.id, ids)) {
        changed.add(id)
        changes.publish(user.id, { type: 'conversation', id, change: CHANGES[action] ?? 'updated' })
      }
      return success({
        changed: ids.filter((id) => changed.has(id)),
        not_found: ids.filter((id) => !changed.has(id)),
      })
    },
  )
}

const DEFAULT_LIMIT = 20
const Params = z.object({ id: ConversationId })
const One = envelope(Conversation)

/** `/api/conversations` and `/api/conversations/:id`. */
export function registerConversationRoutes(
  app: App,
  services: Pick<Services, 'store' | 'chat' | 'changes' | 'workspace' | 'access' | 'offeredModels'>,
): void {
  registerBulkRoute(app, services)
  registerList(app, services)
  registerOne(app, services)
  registerTrash(app, services)
}

/** Lists and creates conversations. */
function registerList(
  app: App,
  {
    store,
    workspace,
    access,
    offeredModels,
  }: Pick<Services, 'store' | 'workspace' | 'access' | 'offeredModels'>,
): void {
  const { conversations } = store
  const { storage } = workspace.workspaces

  app.get(
    '/api/conversations',
    {
      schema: {
        summary: 'List your conversations, newest activity first',
        querystring: ConversationListQuery,
        response: { 200: envelope(ConversationPage) },
      },
    },
    async ({ user, query }) => {
      const found = await conversations.list(user.id, {
        limit: query.limit ?? DEFAULT_LIMIT,
        cursor: query.cursor,
        projectId: query.project_id,
        archived: query.archived === 'true',
        pinned: query.pinned === undefined ? undefined : query.pinned === 'true',
        trashed: query.trashed === 'true',
        tag: query.tag,
        q: query.q,
      })
      return success(presentPage(found, presentConversation))
    },
  )

  app.post(
    '/api/conversations',
    {
      schema: {
        summary: 'Create a conversation',
        body: CreateConversationBody,
        response: { 200: One },
      },
    },
    async ({ user, body }) =>
      success(
        presentConversation(
          await createConversation({ store, storage, access, offeredModels }, user.id, body),
        ),
      ),
  )

  app.put(
    '/api/conversations/pins',
    {
      schema: {
        summary: 'Reorder your pinned conversations',
        body: PinOrderBody,
        response: { 200: envelope(PinOrderBody) },
      },
    },
    async ({ user, body }) => {
      await conversations.orderPins(user.id, body.ids)
      return success(body)
    },
  )

  app.get(
    '/api/tags',
    {
      schema: {
        summary: 'List the tags of your conversations, most used first',
        response: { 200: envelope(TagList) },
      },
    },
    async ({ user }) => success({ items: await conversations.tags(user.id) }),
  )
}

/** Reading and changing one conversation. */
function registerOne(
  app: App,
  {
    store: { conversations },
    access,
    offeredModels,
  }: Pick<Services, 'store' | 'access' | 'offeredModels'>,
): void {
  app.get(
    '/api/conversations/:id',
    { schema: { summary: 'Get a conversation', params: Params, response: { 200: One } } },
    async ({ user, params }) =>
      success(presentConversation(await conversations.get(user.id, params.id))),
  )

  app.patch(
    '/api/conversations/:id',
    {
      schema: {
        summary: 'Update a conversation; `null` clears optional fields',
        params: Params,
        body: PatchConversationBody,
        response: { 200: One },
      },
    },
    async ({ user, params, body }) => {
      if (body.model != null) await offeredModels.assertOffered(user.id, body.model)
      if (body.approval != null) access.assertApprovalMode(user.id, body.approval)
      const changed = await conversations.patch(
        user.id,
        params.id,
        withoutAbsent({
          title: body.title,
          model: body.model,
          projectId: body.project_id,
          systemPrompt: body.system_prompt,
          temperature: body.temperature,
          maxTokens: body.max_tokens,
          thinkingEnabled: body.thinking_enabled,
          approval: body.approval,
          approvalDeadline: body.approval_deadline,
          disabledMcpServers: body.disabled_mcp_servers,
          pinned: body.pinned,
          archived: body.archived,
          leafId: body.leaf_id,
          tags: body.tags,
        }),
      )
      return success(presentConversation(changed))
    },
  )
}

/** Deletes conversations and restores them from the trash. */
function registerTrash(
  app: App,
  { store: { conversations, trash }, chat }: Pick<Services, 'store' | 'chat'>,
): void {
  app.delete(
    '/api/conversations/:id',
    {
      schema: {
        summary:
          'Move a conversation to the trash for 30 days, or delete it permanently; stops its runs',
        params: Params,
        querystring: z.object({
          permanent: z
            .enum(['true', 'false'])
            .optional()
            .describe(
              'Whether to delete the conversation at once instead of moving it to the trash. Default: false.',
            ),
        }),
        response: { 200: Deleted },
      },
    },
    async ({ user, params, query }) => {
      if (query.permanent === 'true') await chat.removeConversation(user.id, params.id)
      else await chat.trashConversation(user.id, params.id)
      return deleted
    },
  )

  app.post(
    '/api/conversations/:id/restore',
    {
      schema: {
        summary: 'Restore a conversation from the trash',
        params: Params,
        response: { 200: One },
      },
    },
    async ({ user, params }) => {
      const restored = await trash.restore(user.id, [params.id])
      if (restored.length === 0) throw appError('conversation_not_found')
      return success(presentConversation(await conversations.get(user.id, params.id)))
    },
  )
}

/** The wire format of a conversation. */
export const presentConversation = (item: ConversationItem): Conversation => ({
  id: item.id,
  title: item.title,
  model: item.model,
  project_id: item.projectId,
  project_name: item.projectName,
  scratch_project_id: item.scratchProjectId,
  system_prompt: item.systemPrompt,
  temperature: item.temperature,
  max_tokens: item.maxTokens,
  thinking_enabled: item.thinkingEnabled,
  approval: item.approval,
  approval_deadline: item.approvalDeadline,
  disabled_mcp_servers: [...item.disabledMcpServers],
  pinned: item.pinned,
  pin_position: item.pinPosition,
  archived: item.archived,
  leaf_id: item.leafId,
  message_count: item.messageCount,
  active_run_id: item.activeRunId,
  active_run_status: item.activeRunStatus,
  beside_run_id: item.besideRunId === item.activeRunId ? null : item.besideRunId,
  created_at: item.createdAt.toISOString(),
  updated_at: item.updatedAt.toISOString(),
  deleted_at: item.deletedAt?.toISOString() ?? null,
  temporary: item.temporary,
  tags: item.tags,
  ...(item.scheduleId === null ? {} : { schedule_id: item.scheduleId }),
  ...(item.channel === null ? {} : { channel: item.channel }),
})
