// Routes for conversations: list, create, get, update, delete.
import { z } from 'zod'
import type { ConversationItem } from '../../db/repositories/conversations/conversation-items.ts'
import type { ConversationRepository } from '../../db/repositories/conversations/conversations.ts'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { withoutAbsent } from '../../lib/without-absent.ts'
import {
  type ApprovalMode,
  Conversation,
  ConversationListQuery,
  ConversationPage,
  CreateConversationBody,
  PatchConversationBody,
  PinOrderBody,
  TagList,
} from '../../protocol/conversations/conversation.ts'
import { Deleted, envelope } from '../../protocol/envelope.ts'
import { ConversationId, type ProjectId, type UserId } from '../../protocol/ids.ts'
import type { TextCounter } from '../../runs/dependencies.ts'
import { deleted, presentPage, success } from '../envelope.ts'
import { type BulkRouteDependencies, registerBulkRoute } from './bulk.ts'

/** The dependencies of the routes for conversations. */
export interface ConversationRouteDependencies extends BulkRouteDependencies {
  conversations: ConversationRepository
  storage: TextCounter
  /** @throws AppError if the model does not exist, or the user may not use it. */
  assertModel(userId: UserId, id: string): Promise<void>
  /** @throws AppError `approval_mode_not_permitted`. */
  assertApprovalMode(userId: UserId, mode: ApprovalMode): void
  /** The model of the project's new conversations; null if the project sets none or the model no longer exists. */
  projectModel(userId: UserId, projectId: ProjectId): Promise<string | null>
  /** Whether new conversations with this model (null: the default model) start with thinking enabled. */
  thinksByDefault(userId: UserId, model: string | null): Promise<boolean>
}

const DEFAULT_LIMIT = 20
const Params = z.object({ id: ConversationId })
const One = envelope(Conversation)

/** `/api/conversations` and `/api/conversations/:id`. */
export function registerConversationRoutes(
  app: App,
  dependencies: ConversationRouteDependencies,
): void {
  registerBulkRoute(app, dependencies)
  registerList(app, dependencies)
  registerOne(app, dependencies)
  registerTrash(app, dependencies)
}

/** Lists and creates conversations. */
function registerList(app: App, dependencies: ConversationRouteDependencies): void {
  const { conversations, assertModel, assertApprovalMode, projectModel } = dependencies

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
    async ({ user, body }) => {
      if (body.model !== undefined) await assertModel(user.id, body.model)
      if (body.approval !== undefined) assertApprovalMode(user.id, body.approval)
      const model =
        body.model ??
        (body.project_id === undefined ? null : await projectModel(user.id, body.project_id))
      const thinks = body.thinking_enabled ?? (await dependencies.thinksByDefault(user.id, model))
      await dependencies.storage.countText(
        user.id,
        Buffer.byteLength(body.title ?? '') + Buffer.byteLength(body.system_prompt ?? ''),
      )
      const { id } = await conversations.create(user.id, newFields(body, model, thinks))
      return success(presentConversation(await conversations.get(user.id, id)))
    },
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

/** The initial values of a new conversation. */
const newFields = (
  body: CreateConversationBody,
  model: string | null,
  thinkingEnabled: boolean,
) => ({
  ...(body.title === undefined ? {} : { title: body.title }),
  model,
  projectId: body.project_id ?? null,
  systemPrompt: body.system_prompt ?? null,
  temperature: body.temperature ?? null,
  maxTokens: body.max_tokens ?? null,
  thinkingEnabled,
  approval: body.approval ?? null,
  disabledMcpServers: body.disabled_mcp_servers ?? [],
  temporary: body.temporary ?? false,
  tags: body.tags ?? [],
})

/** Reading and changing one conversation. */
function registerOne(
  app: App,
  { conversations, assertModel, assertApprovalMode }: ConversationRouteDependencies,
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
      if (body.model != null) await assertModel(user.id, body.model)
      if (body.approval != null) assertApprovalMode(user.id, body.approval)
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
  { conversations, trash, chat }: ConversationRouteDependencies,
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
  system_prompt: item.systemPrompt,
  temperature: item.temperature,
  max_tokens: item.maxTokens,
  thinking_enabled: item.thinkingEnabled,
  approval: item.approval,
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
})
