// What a new conversation starts with: what the person has chosen, else what the project and the server set; also one that a
// schedule or a messenger begins.
import type { ConversationItem } from '../db/repositories/conversations/conversation-items.ts'
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import { settingsOf } from '../db/repositories/projects/projects.ts'
import type { Store } from '../db/store.ts'
import type {
  ApprovalMode,
  CreateConversationBody,
} from '../protocol/conversations/conversation.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { DEFAULT_PROJECT_SETTINGS } from '../protocol/projects/project.ts'
import type { TextCounter, UserAccess } from '../runs/dependencies.ts'

/** The rules and defaults of new conversations. */
export interface NewConversationDependencies {
  store: Pick<Store, 'conversations' | 'projects'>
  /** Counts the texts against the user's storage. */
  storage: TextCounter
  access: Pick<UserAccess, 'assertApprovalMode' | 'approvalMode'>
  offeredModels: {
    isOffered(userId: UserId, id: string): Promise<boolean>
    assertOffered(userId: UserId, id: string): Promise<void>
    thinksByDefault(userId: UserId, id: string | null): Promise<boolean>
  }
}

/** @throws AppError `unknown_model`, `approval_mode_not_permitted`, or the quota's refusal. */
export async function createConversation(
  { store, storage, access, offeredModels }: NewConversationDependencies,
  userId: UserId,
  given: CreateConversationBody,
): Promise<ConversationItem> {
  if (given.model !== undefined) await offeredModels.assertOffered(userId, given.model)
  if (given.approval !== undefined) access.assertApprovalMode(userId, given.approval)

  const start = await startOf(
    { userId, projectId: given.project_id ?? null },
    given.model ?? null,
    { store, access, offeredModels },
  )
  const { model } = start
  await storage.countText(
    userId,
    Buffer.byteLength(given.title ?? '') + Buffer.byteLength(given.system_prompt ?? ''),
  )
  const { id } = await store.conversations.create(userId, {
    ...(given.title === undefined ? {} : { title: given.title }),
    model,
    projectId: given.project_id ?? null,
    systemPrompt: given.system_prompt ?? null,
    temperature: given.temperature ?? start.temperature,
    maxTokens: given.max_tokens ?? start.maxTokens,
    thinkingEnabled:
      given.thinking_enabled ??
      start.thinkingEnabled ??
      (await offeredModels.thinksByDefault(userId, model)),
    approval: given.approval ?? start.approval,
    approvalDeadline: given.approval_deadline ?? null,
    disabledMcpServers: given.disabled_mcp_servers ?? [],
    temporary: given.temporary ?? false,
    tags: given.tags ?? [],
  })
  return await store.conversations.get(userId, id)
}

/** What a new conversation starts with where the person has chosen nothing. */
export type ConversationStart = Pick<
  ConversationRow,
  'model' | 'thinkingEnabled' | 'temperature' | 'maxTokens' | 'approval'
>

type StartDependencies = {
  store: Pick<Store, 'projects'>
  access: Pick<UserAccess, 'approvalMode'>
  offeredModels: Pick<NewConversationDependencies['offeredModels'], 'isOffered' | 'thinksByDefault'>
}

/** Chooses what a conversation that nobody began at the page starts with: the wanted model, and what its project says. */
export const createConversationStart =
  (dependencies: StartDependencies) =>
  async (
    place: { userId: UserId; projectId: ProjectId | null },
    wanted: string | null,
  ): Promise<ConversationStart> => {
    const { offeredModels } = dependencies
    const model = wanted === null ? null : await ifOffered(place.userId, wanted, offeredModels)
    const start = await startOf(place, model, dependencies)
    return {
      ...start,
      // Without any model, the run says so.
      thinkingEnabled:
        start.thinkingEnabled ??
        (await offeredModels.thinksByDefault(place.userId, start.model).catch(() => false)),
    }
  }

/**
 * The model, or else that of the project, and the defaults of the project as far as the user may use them.
 * `thinkingEnabled`: null if the model decides.
 */
async function startOf(
  { userId, projectId }: { userId: UserId; projectId: ProjectId | null },
  model: string | null,
  { store, access, offeredModels }: StartDependencies,
): Promise<Omit<ConversationStart, 'thinkingEnabled'> & { thinkingEnabled: boolean | null }> {
  const settings = await projectSettings({ userId, projectId }, store)
  const { defaults } = settings
  return {
    model: model ?? (await ifOffered(userId, settings.model, offeredModels)),
    thinkingEnabled: defaults.thinking_enabled ?? null,
    temperature: defaults.temperature ?? null,
    maxTokens: defaults.max_tokens ?? null,
    approval: permittedApproval(userId, defaults, access),
  }
}

/** How runs of a conversation that nobody began at the page ask, before it has begun; null: as the server says. */
export const startingApproval = async (
  place: { userId: UserId; projectId: ProjectId | null },
  { store, access }: Pick<StartDependencies, 'store' | 'access'>,
): Promise<ApprovalMode | null> =>
  permittedApproval(place.userId, (await projectSettings(place, store)).defaults, access)

async function projectSettings(
  { userId, projectId }: { userId: UserId; projectId: ProjectId | null },
  { projects }: StartDependencies['store'],
) {
  const project = projectId === null ? undefined : await projects.find(userId, projectId)
  return project === undefined ? DEFAULT_PROJECT_SETTINGS : settingsOf(project)
}

const permittedApproval = (
  userId: UserId,
  { approval }: ReturnType<typeof settingsOf>['defaults'],
  access: StartDependencies['access'],
): ApprovalMode | null => (approval === undefined ? null : access.approvalMode(userId, approval))

/** The model; null if the user can no longer use it, which does not keep a conversation from beginning. */
const ifOffered = async (
  userId: UserId,
  model: string | null,
  offeredModels: Pick<NewConversationDependencies['offeredModels'], 'isOffered'>,
): Promise<string | null> =>
  model !== null && (await offeredModels.isOffered(userId, model)) ? model : null
