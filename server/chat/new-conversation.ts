// What a new conversation starts with: what the person has chosen, else what the project and the server set; also one that a
// schedule or a messenger begins.
import type { ConversationItem } from '../db/repositories/conversations/conversation-items.ts'
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

  const project =
    given.project_id === undefined ? undefined : await store.projects.find(userId, given.project_id)
  const settings = project === undefined ? DEFAULT_PROJECT_SETTINGS : settingsOf(project)
  const { defaults } = settings
  const model = given.model ?? (await ifOffered(userId, settings.model, offeredModels))
  const thinkingEnabled =
    given.thinking_enabled ??
    defaults.thinking_enabled ??
    (await offeredModels.thinksByDefault(userId, model))
  const permitted = (mode: ApprovalMode | undefined) =>
    mode === undefined ? undefined : access.approvalMode(userId, mode)
  await storage.countText(
    userId,
    Buffer.byteLength(given.title ?? '') + Buffer.byteLength(given.system_prompt ?? ''),
  )
  const { id } = await store.conversations.create(userId, {
    ...(given.title === undefined ? {} : { title: given.title }),
    model,
    projectId: given.project_id ?? null,
    systemPrompt: given.system_prompt ?? null,
    temperature: given.temperature ?? defaults.temperature ?? null,
    maxTokens: given.max_tokens ?? defaults.max_tokens ?? null,
    thinkingEnabled,
    approval: given.approval ?? permitted(defaults.approval) ?? null,
    approvalDeadline: given.approval_deadline ?? null,
    disabledMcpServers: given.disabled_mcp_servers ?? [],
    temporary: given.temporary ?? false,
    tags: given.tags ?? [],
  })
  return await store.conversations.get(userId, id)
}

/** What is chosen for a conversation that nobody began at the page. */
export interface StartedWith {
  model: string | null
  thinkingEnabled: boolean
}

/** Chooses the model that is wanted, or else what the project says, if the user may still use it. */
export const createConversationModel =
  ({
    store,
    offeredModels,
  }: {
    store: Pick<Store, 'projects'>
    offeredModels: Pick<
      NewConversationDependencies['offeredModels'],
      'isOffered' | 'thinksByDefault'
    >
  }) =>
  async (
    { userId, projectId }: { userId: UserId; projectId: ProjectId | null },
    wanted: string | null,
  ): Promise<StartedWith> => {
    const ofProject = projectId === null ? undefined : await store.projects.find(userId, projectId)
    const chosen = wanted ?? ofProject?.settings?.model ?? null
    const model = await ifOffered(userId, chosen, offeredModels)
    return {
      model,
      // Without any model, the run says so.
      thinkingEnabled: await offeredModels.thinksByDefault(userId, model).catch(() => false),
    }
  }

/** The model; null if the user can no longer use it, which does not keep a conversation from beginning. */
const ifOffered = async (
  userId: UserId,
  model: string | null,
  offeredModels: Pick<NewConversationDependencies['offeredModels'], 'isOffered'>,
): Promise<string | null> =>
  model !== null && (await offeredModels.isOffered(userId, model)) ? model : null
