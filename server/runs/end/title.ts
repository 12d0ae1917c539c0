// The title of a conversation: the model writes it beside the first answer; otherwise it is the beginning of the first message.
import { titleFromModel } from '../../agent/title.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import { deadline, linkedController } from '../../lib/abort.ts'
import { titleFromMessage } from '../../protocol/conversations/title.ts'
import type { FinishReason } from '../../protocol/runs/run-event.ts'
import type { RunContext } from '../context.ts'
import type { ChatSettings } from '../dependencies.ts'
import type { PerformedRun } from '../performed-run.ts'
import type { Recorder } from '../recorder.ts'
import { answerText, limitOf } from './finish.ts'

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
