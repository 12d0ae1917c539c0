// Everything a person can ask of a conversation: send, edit, regenerate, stop, resume, decide.

import type { ConversationRow } from '../db/repositories/conversations.ts'
import type { MessageRow } from '../db/repositories/messages.ts'
import type { RunRow } from '../db/repositories/runs.ts'
import { AppError } from '../errors.ts'
import { newId } from '../lib/ids.ts'
import type { ConversationId, MessageId, RunId, UserId } from '../protocol/ids.ts'
import type { EditMessageBody, RegenerateBody, SendMessageBody } from '../protocol/message.ts'
import type { ApprovalDecisionBody } from '../protocol/run.ts'
import type { ChatDependencies } from './chat-dependencies.ts'
import { decideApproval } from './decide-approval.ts'
import { createRunRegistry, type RunRegistry, stopAndWait } from './run-registry.ts'
import { createRunScopes, type RunScopes } from './run-scopes.ts'
import { activeRunError, createRunStart } from './run-start.ts'
import { readRunState } from './run-state.ts'
import { performRun } from './run-worker.ts'
import { createWriteGroup, OUTLAST_DELAYS } from './write-group.ts'

/** A stop is promised within a second. */
const STOP_MS = 1_000
/** A run that took the server down this often is not tried again by itself. */
const MAX_ATTEMPTS = 8

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
  /** Stops what runs in a conversation that is about to change under it. */
  stopConversation(conversationId: ConversationId): Promise<void>
  /** Begins a task in the background; `message` will hold its answer, beside the conversation until it is announced. */
  beginBackground(run: RunRow, message: MessageRow): Promise<void>
  readonly runs: RunRegistry
  /** What the runs of this process lend to the tools that start sub-agents. */
  readonly scopes: RunScopes
  /** Goes on with what a former process left. */
  recover(): Promise<void>
  /** No new runs; those that are there get `graceMs`, then they are left for the next start. */
  drain(graceMs: number): Promise<void>
  readonly isDraining: boolean
}

export function createChatService(dependencies: ChatDependencies): ChatService {
  const { store, database, settings, log, now } = dependencies
  const writes = createWriteGroup(database, OUTLAST_DELAYS)
  const scopes = createRunScopes()
  const runs = createRunRegistry({ store, database }, (active, run) =>
    performRun(active, run, { ...dependencies, scopes }, writes),
  )
  let isDraining = false
  const { admit, begin } = createRunStart(dependencies, runs, () => isDraining)

  async function conversationOf(userId: UserId, id: ConversationId): Promise<ConversationRow> {
    const conversation = await store.conversations.find(userId, id)
    if (conversation === undefined)
      throw new AppError('not_found', 'There is no such conversation.')
    return conversation
  }

  async function ownRun(userId: UserId, id: RunId): Promise<RunRow> {
    const run = await store.runs.findOwned(userId, id)
    if (run === undefined) throw new AppError('not_found', 'There is no such run.')
    return run
  }

  return {
    runs,
    scopes,
    get isDraining() {
      return isDraining
    },

    async send(userId, conversationId, body) {
      const conversation = await conversationOf(userId, conversationId)
      const parentId = body.parent_id ?? conversation.leafId
      if (body.parent_id !== undefined) {
        const parent = await store.messages.get(conversationId, body.parent_id)
        if (parent.role !== 'assistant')
          throw new AppError('bad_request', '`parent_id` has to be an answer of this conversation.')
      }
      return await begin(userId, conversation, body, {
        userMessageId: newId<MessageId>(),
        userMessage: { text: body.text ?? '', attachments: body.attachments ?? [], parentId },
      })
    },

    async edit(userId, conversationId, messageId, body) {
      const conversation = await conversationOf(userId, conversationId)
      const message = await store.messages.get(conversationId, messageId)
      if (message.role !== 'user')
        throw new AppError('bad_request', 'Only your own messages can be edited.')
      return await begin(userId, conversation, body, {
        userMessageId: newId<MessageId>(),
        userMessage: {
          text: body.text ?? message.text,
          attachments: body.attachments ?? message.attachments,
          parentId: message.parentId,
        },
      })
    },

    async regenerate(userId, conversationId, messageId, body) {
      const conversation = await conversationOf(userId, conversationId)
      const message = await store.messages.get(conversationId, messageId)
      const userMessageId = message.role === 'user' ? message.id : message.parentId
      if (userMessageId === null)
        throw new AppError('bad_request', 'This answer has no question that could be asked again.')
      return await begin(userId, conversation, body, { userMessage: null, userMessageId })
    },

    async stop(userId, runId) {
      const run = await ownRun(userId, runId)
      if (run.endedAt !== null) return run
      const active = runs.get(runId)
      if (active !== undefined) await stopAndWait(active, 'stopped', STOP_MS)
      else await endUnperformed(run)
      return await ownRun(userId, runId)
    },

    async resume(userId, runId) {
      const run = await ownRun(userId, runId)
      const isResumable =
        run.endedAt !== null &&
        (run.status !== 'completed' ||
          run.finishReason === 'max_iterations' ||
          run.finishReason === 'budget')
      if (!isResumable)
        throw new AppError(
          'run_not_resumable',
          run.endedAt === null
            ? 'This run is still going on.'
            : 'This run is completed; there is nothing to go on with.',
        )
      await admit(userId, run.conversationId)
      const { finish: _finish, ...state } = readRunState(run.state)
      const again = {
        status: 'running' as const,
        error: null,
        finishReason: null,
        endedAt: null,
        state: { ...state, roundLimit: run.round + settings.maxIterations },
        owner: dependencies.instance,
      }
      try {
        await database.write(async (tx) => {
          await store.runs.update(tx, run.id, again)
          await store.messages.update(tx, run.messageId, { status: 'streaming', error: null })
        })
      } catch (error) {
        if (!database.isUniqueViolation(error)) throw error
        const active = await store.runs.findActive(run.conversationId)
        throw active === undefined ? error : activeRunError(active.id)
      }
      await runs.continue({ ...run, ...again })
      return await ownRun(userId, runId)
    },

    async decide(userId, runId, body) {
      const run = await ownRun(userId, runId)
      const decision = await decideApproval(run, body, dependencies)
      const isHeard = runs.get(runId)?.decide(body.id_ref, decision) ?? false
      if (!isHeard) await runs.continue(run)
      return await ownRun(userId, runId)
    },

    async stopConversation(conversationId) {
      await Promise.all(
        runs
          .ofConversation(conversationId)
          .map((active) => stopAndWait(active, 'deleted', STOP_MS)),
      )
    },

    async beginBackground(run, message) {
      await runs.begin(run, () =>
        writes.commit(async (tx) => {
          await store.messages.insertApart(tx, message)
          await store.runs.insert(tx, run)
        }),
      )
    },

    async recover() {
      const unfinished = await store.runs.unfinished()
      for (const run of unfinished) {
        if (run.attempt >= MAX_ATTEMPTS) await endUnperformed(run)
        else await runs.continue(run)
      }
      if (unfinished.length > 0)
        log.info({ runs: unfinished.length }, 'went on with runs that an earlier process left')
    },

    async drain(graceMs) {
      isDraining = true
      const waiting = runs.all()
      for (const run of waiting) if (run.channel.pendingApprovals.size > 0) run.stop('shutdown')
      let timer: NodeJS.Timeout | undefined
      const grace = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs)
      })
      await Promise.race([Promise.all(waiting.map((run) => run.ended)), grace])
      clearTimeout(timer)
      for (const run of runs.all()) run.stop('shutdown')
      await Promise.all(runs.all().map((run) => run.ended))
    },
  }

  /** Ends a run that nobody performs: what is stored of it stays. */
  async function endUnperformed(run: RunRow): Promise<void> {
    await database.write(async (tx) => {
      await store.runs.update(tx, run.id, { status: 'interrupted', endedAt: now() })
      await store.messages.update(tx, run.messageId, { status: 'interrupted' })
    })
  }
}
