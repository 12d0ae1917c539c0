// Everything a person can ask of a conversation: send, edit, regenerate, stop, resume, decide.

import type { ConversationRow } from '../db/repositories/conversations.ts'
import type { RunRow } from '../db/repositories/runs.ts'
import { appError } from '../errors.ts'
import type { ConversationId, MessageId, ProjectId, RunId, UserId } from '../protocol/ids.ts'
import type { EditMessageBody, RegenerateBody, SendMessageBody } from '../protocol/message.ts'
import type { ApprovalDecisionBody } from '../protocol/run.ts'
import type { StopReason } from '../runs/active-run.ts'
import { decideApproval } from '../runs/approvals/decide.ts'
import type { ChatDependencies } from '../runs/dependencies.ts'
import { createRunRegistry, type RunRegistry } from '../runs/registry.ts'
import { assertRunAllowed } from '../runs/start/admission.ts'
import { readRunState } from '../runs/state.ts'
import { activeRunError, createRunStart } from './start-run.ts'

/** Runs that begin again and again in a conversation are stopped this often before a deletion gives up. */
const MAX_STOPS = 5

export interface ChatService {
  /** Stores the message and begins a run, or joins the run that the same `client_id` began. */
  send(userId: UserId, conversationId: ConversationId, body: SendMessageBody): Promise<RunRow>
  /** A new branch beside the message. */
  edit(
    userId: UserId,
    conversationId: ConversationId,
    messageId: MessageId,
    body: EditMessageBody,
  ): Promise<RunRow>
  /** A new answer beside the old one. */
  regenerate(
    userId: UserId,
    conversationId: ConversationId,
    messageId: MessageId,
    body: RegenerateBody,
  ): Promise<RunRow>
  stop(userId: UserId, runId: RunId): Promise<RunRow>
  resume(userId: UserId, runId: RunId): Promise<RunRow>
  decide(userId: UserId, runId: RunId, body: ApprovalDecisionBody): Promise<RunRow>
  /**
   * Deletes a message and everything below it; what runs in its conversation is stopped. Returns how many messages are gone.
   * @throws AppError `not_found`.
   */
  removeMessage(
    userId: UserId,
    conversationId: ConversationId,
    messageId: MessageId,
  ): Promise<number>
  /** Deletes a conversation with everything in it; what runs in it is stopped. @throws AppError `not_found`. */
  removeConversation(userId: UserId, conversationId: ConversationId): Promise<void>
  /**
   * Stops every run that works in a project; resolves when they have ended, or after a second. Call it before the
   * project goes and again when its row is gone: a run that begins in between is refused or stopped by the second call.
   */
  stopProject(projectId: ProjectId): Promise<void>
  /** The same for every run of a user. */
  stopUser(userId: UserId): Promise<void>
  readonly runs: RunRegistry
  /** Goes on with what a former process left. */
  recover(): Promise<void>
}

export function createChatService(dependencies: ChatDependencies): ChatService {
  const { store, database, settings, log } = dependencies
  const runs = createRunRegistry(dependencies)
  const { admit, begin } = createRunStart(dependencies, runs)

  async function conversationOf(userId: UserId, id: ConversationId): Promise<ConversationRow> {
    const conversation = await store.conversations.find(userId, id)
    if (conversation === undefined) throw appError('conversation_not_found')
    return conversation
  }

  async function ownRun(userId: UserId, id: RunId): Promise<RunRow> {
    const run = await store.runs.findOwned(userId, id)
    if (run === undefined) throw appError('run_not_found')
    return run
  }

  return {
    runs,

    async send(userId, conversationId, body) {
      const conversation = await conversationOf(userId, conversationId)
      if (body.parent_id !== undefined) {
        const parent = await store.messages.get(conversationId, body.parent_id)
        if (parent.role !== 'assistant') throw appError('parent_not_an_answer')
      }
      return await begin(userId, conversation, body, {
        kind: 'message',
        text: body.text ?? '',
        attachments: body.attachments ?? [],
        place:
          body.parent_id === undefined
            ? { under: 'leaf' }
            : { under: 'answer', id: body.parent_id },
      })
    },

    async edit(userId, conversationId, messageId, body) {
      const conversation = await conversationOf(userId, conversationId)
      const message = await store.messages.get(conversationId, messageId)
      if (message.role !== 'user') throw appError('only_own_messages_editable')
      return await begin(userId, conversation, body, {
        kind: 'message',
        // Read again, because a long text is not read along with its message.
        text: body.text ?? (await store.messages.find(conversationId, messageId))?.text ?? '',
        attachments: body.attachments ?? { of: message.id, kept: message.attachments },
        place: { beside: message.id },
      })
    },

    async regenerate(userId, conversationId, messageId, body) {
      const conversation = await conversationOf(userId, conversationId)
      const message = await store.messages.get(conversationId, messageId)
      const userMessageId = message.role === 'user' ? message.id : message.parentId
      if (userMessageId === null) throw appError('answer_without_question')
      return await begin(userId, conversation, body, { kind: 'answer', to: userMessageId })
    },

    async stop(userId, runId) {
      const run = await ownRun(userId, runId)
      if (run.endedAt !== null) return run
      await runs.stop(runId, 'stopped')
      return await ownRun(userId, runId)
    },

    async resume(userId, runId) {
      await ownRun(userId, runId)
      await runs.whileEnded(runId, async () => {
        const run = await ownRun(userId, runId)
        assertResumable(run)
        await admit(userId, run.conversationId)
        const { finish: _finish, ...state } = readRunState(run.state)
        try {
          await database.write(async (tx) => {
            await assertRunAllowed(tx, userId, dependencies)
            const again = await store.runs.reopen(tx, run.id, {
              status: 'running',
              error: null,
              finishReason: null,
              state: { ...state, roundLimit: run.round + settings.maxIterations },
              owner: dependencies.instance,
            })
            if (again === undefined) throw appError('run_still_active')
            // Deleted, it would go on unseen.
            const { conversationId, messageId } = run
            if ((await store.messages.find(conversationId, messageId, tx)) === undefined)
              throw appError('run_not_found')
            await store.messages.update(tx, messageId, { status: 'streaming', error: null })
          })
        } catch (error) {
          if (!database.isUniqueViolation(error)) throw error
          const active = await store.runs.findActive(run.conversationId)
          throw active === undefined ? error : activeRunError(active.id)
        }
      })
      await runs.continue(runId)
      return await ownRun(userId, runId)
    },

    async decide(userId, runId, body) {
      const run = await ownRun(userId, runId)
      const decision = await decideApproval(run, body, dependencies)
      const isHeard = runs.get(runId)?.decide(body.id_ref, decision) ?? false
      if (!isHeard) await runs.continue(runId)
      return await ownRun(userId, runId)
    },

    stopProject: (id) => stopAll((run) => run.projectId === id, 'project_deleted'),
    stopUser: (id) => stopAll((run) => run.userId === id),

    async removeMessage(userId, conversationId, messageId) {
      await conversationOf(userId, conversationId)
      await store.messages.get(conversationId, messageId)
      for (let stops = 0; stops < MAX_STOPS; stops += 1) {
        await stopAll((run) => run.conversationId === conversationId)
        const removed = await database.write(async (tx) => {
          await store.messages.lockLeaf(tx, conversationId)
          // One may have begun since they were stopped; from here on none can.
          if (await store.runs.hasActive(tx, conversationId)) return null
          return await store.messages.removeSubtree(tx, conversationId, messageId)
        })
        if (removed !== null) return removed
      }
      throw appError('conversation_busy')
    },

    async removeConversation(userId, conversationId) {
      await conversationOf(userId, conversationId)
      const stop = () => stopAll((run) => run.conversationId === conversationId)
      await stop()
      if (!(await store.conversations.remove(userId, conversationId)))
        throw appError('conversation_not_found')
      // What began meanwhile finds nothing to store in; it need not find that out by itself.
      await stop()
    },

    async recover() {
      const unfinished = await store.runs.unfinished()
      for (const run of unfinished) await runs.continueWhenPossible(run.id)
      if (unfinished.length > 0)
        log.info({ runs: unfinished.length }, 'went on with runs that an earlier process left')
    },
  }

  async function stopAll(
    fits: (run: RunRow) => boolean,
    reason: StopReason = 'deleted',
  ): Promise<void> {
    const stored = (await store.runs.unfinished()).filter(fits).map(({ id }) => id)
    const ids = new Set([...runs.where(fits), ...stored])
    await Promise.all([...ids].map((id) => runs.stop(id, reason)))
  }
}

function assertResumable(run: RunRow): void {
  if (run.endedAt === null) throw appError('run_still_active')
  const reachedLimit = run.finishReason === 'max_iterations' || run.finishReason === 'budget'
  if (run.status === 'completed' && !reachedLimit) throw appError('run_completed')
}
