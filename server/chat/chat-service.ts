// The operations of a conversation: send, edit, regenerate, stop, resume, decide, delete.

import type { Writer } from '../db/database.ts'
import type { ConversationRow } from '../db/repositories/conversations/conversations.ts'
import { isResumable } from '../db/repositories/runs/resumable.ts'
import type { RunSite } from '../db/repositories/runs/run-site.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { appError } from '../errors.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type {
  EditMessageBody,
  RegenerateBody,
  SendMessageBody,
} from '../protocol/conversations/message.ts'
import type { ConversationId, MessageId, ProjectId, RunId, UserId } from '../protocol/ids.ts'
import type { InputAnswerBody } from '../protocol/runs/input.ts'
import type { ApprovalDecisionBody } from '../protocol/runs/run.ts'
import type { StopReason } from '../runs/active-run.ts'
import { decideApproval } from '../runs/approvals/decide.ts'
import type { ChatDependencies } from '../runs/dependencies.ts'
import { answerInput } from '../runs/inputs/answer.ts'
import { createRunRegistry, type RunRegistry } from '../runs/registry.ts'
import { activeRunError, assertRunAllowed } from '../runs/start/admission.ts'
import { readRunState } from '../runs/state.ts'
import type { Budgets } from '../runs/usage/budgets.ts'
import { createProgramRuns, type ProgramRuns } from './program-runs.ts'
import { createRunStart } from './start-run.ts'
import { createTemporaryRemoval } from './temporary.ts'

/** Maximum number of attempts to stop the runs of a conversation before its deletion fails. */
const MAX_STOP_ATTEMPTS = 5

/**
 * What a person can do in a conversation. Every method acts for one user, and throws an AppError for conversations of
 * others.
 */
export interface ChatService extends ProgramRuns {
  /** Stores the message and starts a run, or returns the run that was started with the same `client_id`. */
  send(userId: UserId, conversationId: ConversationId, body: SendMessageBody): Promise<RunRow>
  /** Creates a sibling of the user message and answers it. */
  edit(
    userId: UserId,
    conversationId: ConversationId,
    messageId: MessageId,
    body: EditMessageBody,
  ): Promise<RunRow>
  /** Creates a sibling of the assistant message; with `beside`, also while another one is being written. */
  regenerate(
    userId: UserId,
    conversationId: ConversationId,
    messageId: MessageId,
    body: RegenerateBody,
  ): Promise<RunRow>
  stop(userId: UserId, runId: RunId): Promise<RunRow>
  /** Continues an ended run that failed, was stopped, or reached a limit. */
  resume(userId: UserId, runId: RunId): Promise<RunRow>
  /** Decides an approval request. `actor`: who decides, for the audit log. */
  decide(userId: UserId, runId: RunId, body: ApprovalDecisionBody, actor: Actor): Promise<RunRow>
  /** Answers a question of an MCP server. */
  answerInput(userId: UserId, runId: RunId, body: InputAnswerBody): Promise<RunRow>
  /**
   * Stops the runs of the conversation, then deletes the message and everything below it. Returns the number of deleted
   * messages.
   * @throws AppError `not_found`.
   */
  removeMessage(
    userId: UserId,
    conversationId: ConversationId,
    messageId: MessageId,
  ): Promise<number>
  /** Stops the runs of a conversation, then moves it to the trash. @throws AppError `not_found`. */
  trashConversation(userId: UserId, conversationId: ConversationId): Promise<void>
  /**
   * Stops the runs of a conversation, then deletes it with all of its contents, even if it is in the trash.
   * @throws AppError `not_found`.
   */
  removeConversation(userId: UserId, conversationId: ConversationId): Promise<void>
  /**
   * Stops every run that uses the project. Resolves when they have ended, or after a second. Call it before deleting the
   * project, and again when its row is deleted: a run that starts in between is rejected, or stopped by the second call.
   */
  stopProject(projectId: ProjectId): Promise<void>
  /** Like `stopProject`, for every run of a user. */
  stopUser(userId: UserId): Promise<void>
  readonly runs: RunRegistry
  /** Continues the runs that an earlier process left unfinished. */
  recover(): Promise<void>
}

/** Create one per process. `budgets` is shared with all other code that calls models for users. */
export function createChatService(
  dependencies: ChatDependencies & { budgets: Budgets },
): ChatService {
  const { store, database, settings, log } = dependencies
  const runs = createRunRegistry(dependencies)
  const temporary = createTemporaryRemoval(dependencies, runs)
  const { admit, begin } = createRunStart(dependencies, runs, temporary)

  async function conversationOf(userId: UserId, id: ConversationId): Promise<ConversationRow> {
    const conversation = await store.conversations.find(userId, id)
    if (conversation === undefined) throw appError('conversation_not_found')
    return conversation
  }

  async function runSiteOf(
    userId: UserId,
    id: ConversationId,
    clientId: string | undefined,
  ): Promise<RunSite> {
    const site = await store.conversations.findRunSite(userId, id, clientId)
    if (site === undefined) throw appError('conversation_not_found')
    return site
  }

  async function getOwnedRun(userId: UserId, id: RunId): Promise<RunRow> {
    const run = await store.runs.findOwned(userId, id)
    if (run === undefined) throw appError('run_not_found')
    return run
  }

  return {
    runs,
    ...createProgramRuns(dependencies, begin),

    async send(userId, conversationId, body) {
      const site = await runSiteOf(userId, conversationId, body.client_id)
      if (body.parent_id !== undefined) {
        const parent = await store.messages.get(conversationId, body.parent_id)
        if (parent.role !== 'assistant') throw appError('parent_not_an_answer')
      }
      return await begin(userId, site, body, {
        kind: 'message',
        text: body.text ?? '',
        attachments: body.attachments ?? [],
        place: body.parent_id === undefined ? 'leaf' : { under: body.parent_id },
      })
    },

    async edit(userId, conversationId, messageId, body) {
      const site = await runSiteOf(userId, conversationId, body.client_id)
      const message = await store.messages.get(conversationId, messageId)
      if (message.role !== 'user') throw appError('only_own_messages_editable')
      return await begin(userId, site, body, {
        kind: 'message',
        // Read the text again, because `get` omits long texts.
        text: body.text ?? (await store.messages.find(conversationId, messageId))?.text ?? '',
        attachments: body.attachments ?? { of: message.id, stored: message.attachments },
        place: { siblingOf: message.id },
      })
    },

    async regenerate(userId, conversationId, messageId, body) {
      const site = await runSiteOf(userId, conversationId, body.client_id)
      const message = await store.messages.get(conversationId, messageId)
      const userMessageId = message.role === 'user' ? message.id : message.parentId
      if (userMessageId === null) throw appError('answer_without_question')
      const beside = body.beside === true
      return await begin(userId, site, body, { kind: 'answer', to: userMessageId, beside })
    },

    async stop(userId, runId) {
      const run = await getOwnedRun(userId, runId)
      if (run.endedAt !== null) return run
      await runs.stop(runId, 'stopped')
      return await getOwnedRun(userId, runId)
    },

    async resume(userId, runId) {
      await getOwnedRun(userId, runId)
      await runs.withEndedRun(runId, async () => {
        const run = await getOwnedRun(userId, runId)
        assertResumable(run)
        await dependencies.catalog.resolve(run.model, dependencies.access.models(userId))
        // Another answer to the same question may be in progress; the transaction checks it.
        const site = await runSiteOf(userId, run.conversationId, undefined)
        await admit(userId, { ...site, activeRunId: null })
        const { finish: _finish, ...state } = readRunState(run.state)
        try {
          await database.write(async (tx) => {
            await assertRunAllowed(tx, userId, dependencies)
            const other = await store.runs.findInTheWay(tx, { ...run, beside: true })
            if (other !== undefined) throw activeRunError(other)
            const reopened = await store.runs.reopen(tx, run.id, {
              status: 'running',
              error: null,
              finishReason: null,
              reachedLimit: null,
              state: {
                ...state,
                iterationLimit: run.iteration + settings.maxIterations,
                resumedAfter: run.finishReason,
              },
              owner: dependencies.instance,
            })
            if (reopened === undefined) throw appError('run_still_active')
            // If the message has been deleted, nobody would see the answer.
            const { conversationId, messageId } = run
            if ((await store.messages.find(conversationId, messageId, tx)) === undefined)
              throw appError('run_not_found')
            await store.messages.update(tx, messageId, { status: 'streaming', error: null })
          })
        } catch (error) {
          if (!database.isUniqueViolation(error)) throw error
          const active = await store.runs.findActive(run.conversationId)
          throw active === undefined
            ? appError('store_busy', {}, { retryAfter: 1 })
            : activeRunError(active.id)
        }
      })
      await runs.continue(runId)
      return await getOwnedRun(userId, runId)
    },

    async decide(userId, runId, body, actor) {
      const run = await getOwnedRun(userId, runId)
      const decision = await decideApproval(run, body, actor, dependencies)
      const isDelivered = runs.get(runId)?.decide(body.id_ref, decision) ?? false
      if (!isDelivered) await runs.continue(runId)
      return await getOwnedRun(userId, runId)
    },

    async answerInput(userId, runId, body) {
      const run = await getOwnedRun(userId, runId)
      const answer = await answerInput(run, body, dependencies)
      const isDelivered = runs.get(runId)?.answer(body.id_ref, answer) ?? false
      if (!isDelivered) await runs.continue(runId)
      return await getOwnedRun(userId, runId)
    },

    stopProject: (id) => stopAll((run) => run.projectId === id, 'project_deleted'),
    stopUser: (id) => stopAll((run) => run.userId === id),

    async removeMessage(userId, conversationId, messageId) {
      await conversationOf(userId, conversationId)
      await store.messages.get(conversationId, messageId)
      return await withoutRuns(conversationId, (tx) =>
        store.messages.removeSubtree(tx, conversationId, messageId),
      )
    },

    async trashConversation(userId, conversationId) {
      await conversationOf(userId, conversationId)
      await withoutRuns(conversationId, (tx) =>
        store.trash.put(tx, conversationId, dependencies.now()),
      )
    },

    async removeConversation(userId, conversationId) {
      const stop = () => stopAll((run) => run.conversationId === conversationId)
      await stop()
      if (!(await store.conversations.remove(userId, conversationId)))
        throw appError('conversation_not_found')
      // Runs that started in the meantime can no longer store anything. Stop them, too.
      await stop()
    },

    async recover() {
      const unfinished = await store.runs.unfinished()
      for (const run of unfinished) await runs.continueWithRetry(run.id)
      await temporary.afterRestart(unfinished)
      if (unfinished.length > 0)
        log.info({ runs: unfinished.length }, 'continued runs of an earlier process')
    },
  }

  /**
   * Stops the runs of a conversation, then performs `write` while none can start. @throws AppError if new runs keep
   * starting.
   */
  async function withoutRuns<T>(
    conversationId: ConversationId,
    write: (tx: Writer) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 0; attempt < MAX_STOP_ATTEMPTS; attempt += 1) {
      await stopAll((run) => run.conversationId === conversationId)
      const done = await database.write(async (tx) => {
        if ((await store.messages.lockLeaf(tx, conversationId)) === undefined)
          throw appError('conversation_not_found')
        // A run may have started since the others were stopped. Under this lock, none can start.
        if (await store.runs.hasActive(tx, conversationId)) return null
        return { result: await write(tx) }
      })
      if (done !== null) return done.result
    }
    throw appError('conversation_busy')
  }

  async function stopAll(
    matches: (run: RunRow) => boolean,
    reason: StopReason = 'deleted',
  ): Promise<void> {
    const stored = (await store.runs.unfinished()).filter(matches).map(({ id }) => id)
    const ids = new Set([...runs.findIds(matches), ...stored])
    await Promise.all([...ids].map((id) => runs.stop(id, reason)))
  }
}

function assertResumable(run: RunRow): void {
  if (run.endedAt === null) throw appError('run_still_active')
  if (!isResumable(run)) throw appError('run_completed')
}
