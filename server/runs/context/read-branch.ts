// Reads what a run answers, unless the transaction that stored the run already has it.
import type { RunSetting } from '../../db/repositories/runs/run-setting.ts'
import type { PublicModel } from '../../protocol/models/catalog.ts'
import type { ChatDependencies } from '../dependencies.ts'
import type { PerformedRun } from '../performed-run.ts'
import { type Branch, loadBranch, type ReadPage } from './branch.ts'

/** Tokens. Used for models whose context window is unknown. */
export const DEFAULT_CONTEXT_WINDOW = 128_000

/**
 * The messages that the run answers, and the settings of the conversation, which are at least as recent as the newest
 * message.
 */
export async function readBranch(
  { run, known }: Pick<PerformedRun, 'run' | 'known'>,
  model: PublicModel,
  { store, database, files }: ChatDependencies,
): Promise<Branch & { setting: RunSetting | undefined }> {
  if (run.userMessageId === null) return { messages: [], summary: undefined, setting: undefined }
  let setting = known?.setting
  const readHistory = store.messages.history(run.conversationId)
  const readPage: ReadPage = async (from, page) => {
    if (known?.branch !== undefined && from === run.userMessageId) return known.branch
    if (setting !== undefined) return await readHistory(from, page)
    // The conversation is read after its newest messages, so that its taint is at least as recent as they are.
    return await database.readInOrder(async (read) => {
      const [messages, found] = await Promise.all([
        readHistory(from, page, read),
        store.conversations.findRunSetting(run.userId, run.conversationId, read),
      ])
      setting = found
      return messages
    })
  }
  const branch = await loadBranch(store, readPage, run.userMessageId, {
    windowTokens: model.context_window ?? DEFAULT_CONTEXT_WINDOW,
    vision: model.vision,
    pdf: model.pdf,
    readFile: files.read,
  })
  return { ...branch, setting }
}
