// The operations of a conversation: send, edit, regenerate, stop, resume, decide, delete.

import { setTimeout as sleep } from 'node:timers/promises'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { appError } from '../errors.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import type { ConversationId, MessageId, ProjectId, RunId, UserId } from '../protocol/ids.ts'
import type { LinkDecisionBody, MayApprove } from '../protocol/runs/approval-link.ts'
import type { InputAnswerBody } from '../protocol/runs/input.ts'
import type { Plan } from '../protocol/runs/plan.ts'
import type { ApprovalDecisionBody } from '../protocol/runs/run.ts'
import { createAppCalls } from '../runs/app-calls.ts'
import type { ChatDependencies } from '../runs/dependencies.ts'
import { createRunRegistry, type RunRegistry } from '../runs/registry.ts'
import type { Budgets } from '../runs/usage/budgets.ts'
import { answerInput } from './answer-input.ts'
import { type AppActs, callFromApp, readAppCall, setAppContext } from './app-acts.ts'
import {
  createApprovalLink,
  decideByLink,
  type LinkUser,
  mayApprove,
  type OpenLink,
  openApprovalLink,
} from './approval-links.ts'
import { decide } from './decide.ts'
import { editPlan } from './edit-plan.ts'
import { ownedConversation } from './owned.ts'
import { createProgramRuns, type ProgramRuns } from './program-runs.ts'
import { resume } from './resume.ts'
import { createSending, type Sending } from './send.ts'
import { stop, stopAll, withoutRuns } from './stop.ts'
import { createTemporaryRemoval } from './temporary.ts'

/**
 * What a person can do in a conversation. Every method acts for one user, and throws an AppError for conversations of
 * others.
 */
export interface ChatService extends ProgramRuns, Pick<Sending, 'send' | 'edit' | 'regenerate'> {
  /** Stops a run. Does nothing if it has ended. */
  stop(userId: UserId, runId: RunId): Promise<RunRow>
  /** Continues an ended run that failed, was stopped, or reached a limit. */
  resume(userId: UserId, runId: RunId): Promise<RunRow>
  /** Decides an approval request. `actor`: who decides, for the audit log. */
  decide(userId: UserId, runId: RunId, body: ApprovalDecisionBody, actor: Actor): Promise<RunRow>
  /** Makes a link with which an approval request is decided. */
  createApprovalLink(
    link: { userId: UserId; id: string; lifetimeSeconds: number },
    actor: Actor,
  ): Promise<{ token: string; expiresAt: Date }>
  /** What a link decides; undefined for an unknown token. @throws AppError `link_gone`. */
  openApprovalLink(token: string): Promise<OpenLink | undefined>
  /** Whether the sender can approve with the link. */
  mayApprove(link: OpenLink, user: Pick<LinkUser, 'sessionUser'>): MayApprove
  /** Decides the request of a link. */
  decideByLink(link: OpenLink, body: LinkDecisionBody, user: LinkUser): Promise<void>
  /** Answers a question of an MCP server. */
  answerInput(userId: UserId, runId: RunId, body: InputAnswerBody, actor: Actor): Promise<RunRow>
  /** Changes the plan of a run while it works. @throws AppError if it has ended or has none. */
  editPlan(
    userId: UserId,
    runId: RunId,
    body: Parameters<typeof editPlan>[1],
    editor: Parameters<typeof editPlan>[2],
  ): Promise<Plan>
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
   * @param reason what happens to the project, which the runs give as the reason of their end.
   */
  stopProject(
    projectId: ProjectId,
    reason?: 'project_deleted' | 'project_handed_over',
  ): Promise<void>
  /** Like `stopProject`, for the runs of users in projects that they are no members of any more. */
  stopMembers(lost: readonly { projectId: ProjectId; userId: UserId }[]): Promise<void>
  /** Like `stopProject`, for every run of a user. */
  stopUser(userId: UserId): Promise<void>
  readonly runs: RunRegistry
  /** What apps of MCP servers do beside the answers of the user. */
  readonly appCalls: AppActs
  /** Continues the runs that an earlier process left unfinished. */
  recover(): Promise<void>
}

/** A statement that PostgreSQL has been sent ends within 15 s, also when its sender has died. */
const LATE = { everyMs: 4_000, looks: 4 }

/** Create one per process. `budgets` is shared with all other code that calls models for users. */
export function createChatService(given: ChatDependencies & { budgets: Budgets }): ChatService {
  const { store, log, now } = given
  const runs = createRunRegistry(given)
  const temporary = createTemporaryRemoval(given, runs)
  const { admit, begin, ...sending } = createSending(given, runs, temporary)
  const appCalls = createAppCalls(given)
  const dependencies = { ...given, runs, admit, appCalls }

  /** Continues the runs that no process performs. */
  async function continueUnfinished(): Promise<void> {
    const unfinished = await store.runs.unfinished()
    const left = unfinished.filter(({ id }) => runs.get(id) === undefined)
    for (const { id } of left) await runs.continueWithRetry(id)
    if (left.length > 0) log.info({ runs: left.length }, 'continued runs of an earlier process')
    await temporary.afterRestart(left)
  }

  /** Continues runs that a process which was killed had sent, and that PostgreSQL has committed since. */
  async function continueLate(): Promise<void> {
    for (let look = 0; look < LATE.looks; look += 1) {
      await sleep(LATE.everyMs, undefined, { ref: false })
      if (runs.isDraining) return
      try {
        await continueUnfinished()
      } catch (error) {
        log.warn({ err: error }, 'runs of an earlier process could not be looked for')
      }
    }
  }

  const withdrawDeleted = (conversationId: ConversationId): Promise<void> =>
    appCalls.withdrawAll((run, isDeleted) => isDeleted && run.conversationId === conversationId)

  return {
    runs,
    appCalls: {
      call: (userId, runId, request, actor) =>
        callFromApp({ userId, runId }, request, actor, dependencies),
      read: (userId, runId, idRef) => readAppCall({ userId, runId }, idRef, dependencies),
      setContext: (userId, runId, context) =>
        setAppContext({ userId, runId }, context, dependencies),
      close: appCalls.close,
    },
    ...sending,
    ...createProgramRuns(given, begin),

    stop: (userId, runId) => stop({ userId, runId }, dependencies),
    resume: (userId, runId) => resume({ userId, runId }, dependencies),
    decide: (userId, runId, body, actor) => decide({ userId, runId }, body, actor, dependencies),
    createApprovalLink: (link, actor) => createApprovalLink(link, actor, dependencies),
    openApprovalLink: (token) => openApprovalLink(token, dependencies),
    mayApprove: (link, user) => mayApprove(link, user, dependencies),
    decideByLink: (link, body, user) =>
      decideByLink(link, body, user, {
        ...dependencies,
        decide: (target, decision, actor) => decide(target, decision, actor, dependencies),
      }),
    editPlan: (userId, runId, body, editor) =>
      editPlan({ userId, runId }, body, editor, dependencies),
    answerInput: (userId, runId, body, actor) =>
      answerInput({ userId, runId }, body, actor, dependencies),

    async stopProject(id, reason = 'project_deleted') {
      await stopAll((run) => run.projectId === id, dependencies, reason)
      await appCalls.withdrawAll((run) => run.projectId === id)
    },
    async stopMembers(lost) {
      const places = new Set(lost.map(({ projectId, userId }) => `${projectId} ${userId}`))
      const isLost = ({ projectId, userId }: RunRow) => places.has(`${projectId} ${userId}`)
      await stopAll(isLost, dependencies)
      await appCalls.withdrawAll(isLost)
    },
    async stopUser(id) {
      await stopAll((run) => run.userId === id, dependencies)
      await appCalls.withdrawAll((run) => run.userId === id)
    },

    async removeMessage(userId, conversationId, messageId) {
      await ownedConversation(store, userId, conversationId)
      await store.messages.get(conversationId, messageId)
      const removed = await withoutRuns(conversationId, dependencies, (tx) =>
        store.messages.removeSubtree(tx, conversationId, messageId),
      )
      await withdrawDeleted(conversationId)
      return removed
    },

    async trashConversation(userId, conversationId) {
      await ownedConversation(store, userId, conversationId)
      await withoutRuns(conversationId, dependencies, async (tx) => {
        await store.trash.add(tx, conversationId, now())
        // Its schedule would otherwise work where nobody looks.
        await store.schedules.disableOfConversations(tx, [conversationId])
      })
      await withdrawDeleted(conversationId)
    },

    async removeConversation(userId, conversationId) {
      const stopRuns = () => stopAll((run) => run.conversationId === conversationId, dependencies)
      await stopRuns()
      await dependencies.scratch.remove(userId, conversationId)
      if (!(await store.conversations.remove(userId, conversationId)))
        throw appError('conversation_not_found')
      // Runs that started in the meantime can no longer store anything. Stop them, too.
      await stopRuns()
    },

    async recover() {
      await continueUnfinished()
      if (given.database.dialect === 'postgres') void continueLate()
      await appCalls.start()
    },
  }
}
