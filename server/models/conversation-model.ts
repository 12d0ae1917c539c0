// The model with which a conversation begins that nobody began at the page.
import type { Store } from '../db/store.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { OfferedModels } from './offered-models.ts'

/** Chooses what is wanted, or else what the project says, if the user may still use it. */
export const createConversationModel =
  ({
    store,
    offeredModels,
  }: {
    store: Pick<Store, 'projects'>
    offeredModels: Pick<OfferedModels, 'isOffered' | 'thinksByDefault'>
  }) =>
  async (
    { userId, projectId }: { userId: UserId; projectId: ProjectId | null },
    wanted: string | null,
  ): Promise<{ model: string | null; thinkingEnabled: boolean }> => {
    const ofProject = projectId === null ? undefined : await store.projects.find(userId, projectId)
    const model = wanted ?? ofProject?.settings?.model ?? null
    const isOffered = model === null || (await offeredModels.isOffered(userId, model))
    const chosen = isOffered ? model : null
    return {
      model: chosen,
      // Without any model, the run says so.
      thinkingEnabled: await offeredModels.thinksByDefault(userId, chosen).catch(() => false),
    }
  }
