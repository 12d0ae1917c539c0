// Ends a run: stores the outcome and the title of its conversation in one transaction.
import { iterationsOf } from '../../agent/history.ts'
import { titleFromModel } from '../../agent/title.ts'
import { inParallel } from '../../db/fragments.ts'
import type { SettledRequest } from '../../db/repositories/runs/approvals.ts'
import type { NewRun, RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import { type AppError, appError, errorText } from '../../errors.ts'
import { deadline, linkedController } from '../../lib/abort.ts'
import type { Citation } from '../../protocol/conversations/citation.ts'
import { citedIds } from '../../protocol/conversations/cited-ids.ts'
import { titleFromMessage } from '../../protocol/conversations/title.ts'
import type { ReceiptCounts, StoredReceipt } from '../../protocol/runs/receipt.ts'
import type {
  DoneEvent,
  ErrorEvent,
  FinishReason,
  ReachedLimit,
  RunEvent,
} from '../../protocol/runs/run-event.ts'
import { reasoningIn } from '../../protocol/runs/run-timeline.ts'
import type { Usage } from '../../protocol/runs/usage.ts'
import type { RunContext } from '../context.ts'
import type { ChatSettings } from '../dependencies.ts'
import type { Write } from '../group-commit.ts'
import type { PerformedRun } from '../performed-run.ts'
import type { Recorder } from '../recorder.ts'
import { announceSettled, withdrawRequests } from '../requests.ts'
import { limitsOf } from '../state.ts'
import { runFailure } from './run-failure.ts'

/** An outcome that is stored. */
export type StoredEnding =
  | { kind: 'done'; finish: FinishReason }
  | { kind: 'error'; error: AppError }

/** How the work on a run ended. `suspended`: the server is shutting down, and the next start continues the run. */
export type Ending = StoredEnding | { kind: 'suspended' }

/** The last text of the answer so far. */
export const answerText = (recorder: Recorder): string =>
  iterationsOf(recorder.steps()).findLast((iteration) => iteration.text !== '')?.text ?? ''

/** Stores the outcome of the run in one transaction, then emits the terminal event. */
export async function storeEnd(
  performed: PerformedRun,
  ending: StoredEnding,
  title: string | null,
  recorder: Recorder,
): Promise<void> {
  const { active, run, options, runState, usage, timeline, journal } = performed
  const { store, now, redact, notices } = performed.dependencies
  await journal.close()
  const total = await usage.total()
  const stopped = ending.kind === 'done' && ending.finish === 'stopped'
  const status = ending.kind === 'error' ? 'failed' : stopped ? 'stopped' : 'completed'
  const receipt = await receiptOf(performed, total, recorder)
  const citations = await citationsOf(performed, recorder)
  const counts = receipt === null ? NOTHING : receiptCounts(receipt)
  const failure = ending.kind === 'error' ? runFailure(ending.error, redact) : null
  const limit = ending.kind === 'done' ? limitOf(performed, ending.finish) : null
  const last: DoneEvent | ErrorEvent =
    failure !== null
      ? { event: 'error', ...failure }
      : {
          event: 'done',
          message_id: run.messageId,
          token_count: total.completion_tokens,
          suggested_title: title,
          usage: total,
          ...reasoningIn(timeline.entries()),
          finish_reason: ending.kind === 'done' ? ending.finish : 'stop',
          ...(limit === null ? {} : { limit }),
          receipt: counts,
        }
  if (ending.kind === 'error') logFailure(performed, ending.error)
  runState.end(title, counts)
  const events: RunEvent[] = title === null ? [last] : [{ event: 'title', title }, last]
  const endedAt = now()
  const change: Partial<NewRun> = {
    status,
    finishReason: ending.kind === 'done' ? ending.finish : null,
    reachedLimit: limit,
    error: failure,
    ...runState.nextChange(),
    timeline: timeline.entries(),
    endedAt,
  }
  const announces = run.kind === 'background' && !stopped && options.announce !== false
  let withdrawn: SettledRequest[] = []
  const batch = await usage.nextBatch({ endsIteration: ending.kind === 'done' })
  const writeRest: Write = async (tx) => {
    await inParallel(
      () =>
        store.messages.update(tx, run.messageId, {
          status,
          // Read here, so that it includes text that the recorder has not emitted yet.
          text: answerText(recorder),
          tokenCount: total.completion_tokens,
          error: failure?.content ?? null,
          ...(receipt === null ? {} : { receipt }),
          ...(citations === null ? {} : { citations }),
        }),
      () => store.conversations.endTurn(tx, run.conversationId, { endedAt, title }),
    )
    await notices?.runEnded(tx, run, {
      status,
      finishReason: ending.kind === 'done' ? ending.finish : null,
      error: failure?.reason ?? null,
      usage: total,
      receipt: counts,
      endedAt,
    })
    if (run.attempt > 1 || hasAsked(active.runLog))
      withdrawn = await withdrawRequests(tx, run, performed.dependencies)
    if (hasApps(recorder)) await store.appCalls.moveToSteps(tx, run)
    if (run.attempt > 1 || journal.isUsed) await store.subAgents.removeOf(tx, run.id)
    if (announces) {
      const { conversationId, messageId, parentRunId } = run
      await store.messages.attach(tx, conversationId, messageId, endedAt, parentRunId)
    }
  }
  const stored = recorder.end(
    (tx, lastEvent) => batch.write(tx, { ...change, lastEvent }, writeRest),
    events,
  )
  await batch.settle(stored)
  if (withdrawn.length > 0) announceSettled(run, withdrawn, performed.dependencies)
}

/** The limit that ended the run, perhaps in an earlier attempt; null if none did. */
export function limitOf(
  { active, options, runState, usage, dependencies }: PerformedRun,
  finish: FinishReason,
): ReachedLimit | null {
  if (finish !== 'budget') return null
  if (runState.current.limit !== undefined) return runState.current.limit
  const { settings, redact } = dependencies
  const limit = asLimit(
    active.stopReason === 'time_limit'
      ? appError('run_minutes_used_up', { limit: limitsOf(options, settings).minutes })
      : usage.reachedLimit(),
    redact,
  )
  const isComplete = active.stopReason !== 'time_limit' && usage.isComplete()
  return limit !== null && isComplete ? { ...limit, complete: true } : limit
}

function logFailure({ run, dependencies }: PerformedRun, error: AppError): void {
  const { cause } = error
  dependencies.log.warn(
    { err: error, ...(cause === undefined ? {} : { cause: errorText(cause) }), run_id: run.id },
    'a run failed',
  )
}

const NOTHING: ReceiptCounts = { files: 0, commands: 0, sent: 0, unresolved: 0 }

const receiptCounts = ({ summary }: StoredReceipt): ReceiptCounts => {
  const { files, commands, sent, unresolved } = summary
  return { files, commands, sent, unresolved }
}

/** What to store of an answer that has called tools; null for others, which cost no statement. */
async function receiptOf(
  { run, retry, dependencies }: PerformedRun,
  usage: Usage,
  recorder: Recorder,
): Promise<StoredReceipt | null> {
  if (!recorder.steps().some(({ type }) => type === 'tool_call')) return null
  const tools = dependencies.registry.snapshot(run.userId)
  try {
    return await retry(() =>
      dependencies.receipts.atEnd({ ...run, runId: run.id, usage }, (name) => {
        const level = tools.get(name)?.riskLevel
        return level === undefined || level === 'low'
      }),
    )
  } catch (error) {
    // The answer counts more than what is said about it. The receipt can still be read: it is computed from the tables.
    dependencies.log.error({ err: error, run_id: run.id }, 'no receipt could be stored')
    return null
  }
}

/**
 * The citations of the answer with those of earlier answers that it refers to, too; null if nothing changes. An answer without
 * such a reference costs no statement.
 */
async function citationsOf(
  { run, retry, dependencies }: PerformedRun,
  recorder: Recorder,
): Promise<readonly Citation[] | null> {
  const texts = recorder.steps().flatMap((step) => (step.type === 'text' ? [step.content] : []))
  const cited = citedIds(texts.join('\n\n'))
  if (cited.length === 0) return null
  const { citations } = dependencies.store
  const own = await retry(() => citations.ofAnswer(run.conversationId, run.messageId))
  const missing = cited.filter((id) => !own.some((one) => one.id === id))
  if (missing.length === 0) return null
  const all = await retry(() => citations.ofConversation(run.conversationId))
  const found = missing.flatMap((id) => all.find((one) => one.id === id) ?? [])
  return found.length === 0 ? null : [...own, ...found]
}

/** A refusal as the limit that ended the run. */
function asLimit(refusal: AppError | null, redact: (text: string) => string): ReachedLimit | null {
  if (refusal === null) return null
  const { content, reason, params } = runFailure(refusal, redact)
  return reason === undefined
    ? null
    : { content, reason, ...(params === undefined ? {} : { params }) }
}

/** Whether apps of MCP servers show results of this answer, and may have made calls. Others cost no statement. */
const hasApps = (recorder: Recorder): boolean =>
  recorder.steps().some((step) => step.type === 'tool_result' && step.artifact?.app !== undefined)

/** Whether a person was asked in this attempt. */
const hasAsked = ({ entries }: PerformedRun['active']['runLog']): boolean =>
  entries.findLastEvent(
    ({ event }) => event === 'input_required' || event === 'approval_required',
  ) !== undefined

// The title of a conversation: the model writes it beside the first answer; otherwise it is the beginning of the first message.

/** How long the end of an answer waits for the title. */
const TITLE_TIMEOUT_MS = 15_000

/** The title of the conversation of one run. */
export interface RunTitle {
  /**
   * Has the model write it, from the question alone, unless it is already doing so. Call it once the answer has begun: a
   * provider that answers one request after the other then answers the question first.
   */
  begin(): void
  /**
   * Returns the title once the answer is complete; null if the conversation has one or needs none. The answer is stored
   * before it waits for a model.
   */
  finish(finish: FinishReason, recorder: Recorder): Promise<string | null>
  /** Stops the model. Call it if the answer was not completed. */
  abandon(): void
}

/** Whether the run names its conversation; of two answers beside each other, the first does. */
const entitles = ({ kind, beside }: Pick<RunRow, 'kind' | 'beside'>): boolean =>
  kind === 'chat' && !beside

/** Creates the title of a run's conversation. Nothing happens before `begin` or `finish`. */
export function createRunTitle(performed: PerformedRun, context: RunContext): RunTitle {
  const { active, run, runState, usage, dependencies } = performed
  const { settings, database, store, log } = dependencies
  const { conversation, model, question, llm } = context
  const isWanted = !conversation.titled && settings.titles !== 'off' && entitles(run)
  const asksModel = isWanted && settings.titles === 'model' && !model.demo
  const { controller, release } = linkedController(active.signal)
  /** What became of the request beside the answer; null while there is none. */
  let writing: Promise<'refused' | 'named' | { title: string | null }> | null = null
  let hasEnded = false

  async function write(): Promise<'refused' | 'named' | { title: string | null }> {
    if (!(await usage.isBudgetLeft({ isOptional: true }))) return 'refused'
    const { title, used } = await titleFromModel(llm, question, '', controller.signal)
    usage.addExtra(used)
    if (title === null) return { title }
    const isFirst = await database.write((tx) =>
      store.conversations.setGeneratedTitle(tx, conversation.id, title),
    )
    if (!isFirst) return 'named'
    dependencies.announce(run.userId, {
      type: 'conversation',
      id: conversation.id,
      change: 'updated',
    })
    return { title }
  }

  return {
    begin() {
      // A message without text, such as a picture, says nothing: its answer does.
      if (!asksModel || writing !== null || question.trim() === '') return
      writing = write()
        .catch((error: unknown) => {
          log.warn({ err: error, run_id: run.id }, 'a title was not stored beside its answer')
          return { title: null }
        })
        .finally(() => {
          hasEnded = true
          release()
        })
    },
    async finish(finish, recorder) {
      if (!isWanted) return null
      const first = titleFromMessage(question)
      const withFirst = (title: string | null): string | null =>
        title ?? (first === '' ? null : first)
      let isStored = false
      const storeAnswer = async (): Promise<void> => {
        if (isStored) return
        isStored = true
        runState.setFinish(finish, limitOf(performed, finish))
        const change = runState.nextChange()
        const batch = await usage.nextBatch({ endsIteration: true })
        await batch.settle(recorder.endIteration([], (tx) => batch.write(tx, change)))
      }
      const isStopped = finish === 'stopped'
      if (writing !== null) {
        if (!hasEnded && !isStopped) await storeAnswer()
        const timer = setTimeout(() => controller.abort(), TITLE_TIMEOUT_MS)
        const outcome = await writing.finally(() => clearTimeout(timer))
        if (outcome === 'named') return null
        if (outcome !== 'refused') return withFirst(outcome.title)
      }
      if (!asksModel || isStopped || !(await usage.isBudgetLeft())) return withFirst(null)
      await storeAnswer()
      const { title, used } = await titleFromModel(
        llm,
        question,
        answerText(recorder),
        deadline(TITLE_TIMEOUT_MS, active.signal),
      )
      usage.addExtra(used)
      return withFirst(title)
    },
    abandon() {
      controller.abort()
      release()
    },
  }
}

/**
 * The title for a conversation whose first answer was not completed: the beginning of its first message. Null if the
 * conversation already has a title or titles are off.
 */
export async function titleWithoutAnswer(
  run: Pick<RunRow, 'kind' | 'beside' | 'userId' | 'conversationId' | 'userMessageId'>,
  store: Pick<Store, 'conversations' | 'messages'>,
  titles: ChatSettings['titles'],
): Promise<string | null> {
  if (!entitles(run) || titles === 'off' || run.userMessageId === null) return null
  const [conversation, message] = await Promise.all([
    store.conversations.find(run.userId, run.conversationId),
    store.messages.find(run.conversationId, run.userMessageId),
  ])
  if (conversation === undefined || conversation.titled) return null
  const title = titleFromMessage(message?.text ?? '')
  return title === '' ? null : title
}
