// The end of a run: its title, and the transaction that stores what became of it.
import { type AppError, errorText } from '../errors.ts'
import type { DoneEvent, ErrorEvent, FinishReason, RunEvent } from '../protocol/run-event.ts'
import { roundsOf } from './history.ts'
import type { Recorder } from './recorder.ts'
import type { RunContext } from './run-context.ts'
import type { RunParts } from './run-parts.ts'
import { readRunOptions } from './run-state.ts'
import { titleFromMessage, titleFromModel } from './title.ts'

/** An end that the store takes down. */
export type StoredEnding =
  | { kind: 'done'; finish: FinishReason }
  | { kind: 'error'; error: AppError }

/** How the work on a run ended; `left`: the server goes away, and the next start goes on. */
export type Ending = StoredEnding | { kind: 'left' }

/** The conversation's title, where it has none yet; the answer is stored before a model is asked for it. */
export async function makeTitle(
  { active, run, state, books, dependencies: { settings } }: RunParts,
  context: RunContext,
  finish: FinishReason,
  recorder: Recorder,
): Promise<string | null> {
  const { conversation, model, question } = context
  if (conversation.titled || settings.titles === 'off' || finish === 'stopped') return null
  if (run.kind !== 'chat') return null
  const first = titleFromMessage(question)
  if (settings.titles === 'first_message' || model.demo) return first === '' ? null : first
  state.finish = finish
  const writeBooks = await books.takeWrite(true)
  await recorder.round([], (tx) => writeBooks(tx, { state }))
  const { title, usage } = await titleFromModel(
    context.llm,
    question,
    answerText(recorder),
    active.signal,
  )
  books.addAside(usage)
  return title ?? (first === '' ? null : first)
}

const answerText = (recorder: Recorder): string =>
  roundsOf(recorder.steps()).findLast((round) => round.text !== '')?.text ?? ''

/** Stores how the run ended, all in one transaction, and tells it. */
export async function storeEnd(
  { run, state, books, journal, dependencies: { store, log, now } }: RunParts,
  ending: StoredEnding,
  title: string | null,
  recorder: Recorder,
): Promise<void> {
  await journal.close()
  const usage = books.usage()
  const stopped = ending.kind === 'done' && ending.finish === 'stopped'
  const status = ending.kind === 'error' ? 'failed' : stopped ? 'stopped' : 'completed'
  const failure: ErrorEvent | null =
    ending.kind === 'error'
      ? {
          event: 'error',
          content: ending.error.message,
          code: ending.error.code,
          retryable: ending.error.retryable,
        }
      : null
  const last: DoneEvent | ErrorEvent = failure ?? {
    event: 'done',
    message_id: run.messageId,
    token_count: usage.completion_tokens,
    suggested_title: title,
    usage,
    finish_reason: ending.kind === 'done' ? ending.finish : 'stop',
  }
  if (ending.kind === 'error')
    log.warn(
      { err: ending.error, cause: errorText(ending.error.cause), run_id: run.id },
      'a run failed',
    )
  if (title !== null) state.title = title
  delete state.finish
  const events: RunEvent[] = title === null ? [last] : [{ event: 'title', title }, last]
  const writeBooks = await books.takeWrite(ending.kind === 'done')
  const endedAt = now()
  await recorder.end(async (tx, lastEvent) => {
    await writeBooks(tx, {
      status,
      lastEvent,
      finishReason: ending.kind === 'done' ? ending.finish : null,
      error:
        failure === null
          ? null
          : { content: failure.content, code: failure.code, retryable: failure.retryable },
      state,
      endedAt,
    })
    await store.messages.update(tx, run.messageId, {
      status,
      // Read here: what was still being gathered is part of it by now.
      text: answerText(recorder),
      tokenCount: usage.completion_tokens,
      error: failure?.content ?? null,
    })
    await store.conversations.update(tx, run.conversationId, { updatedAt: endedAt })
    if (run.attempt > 1 || journal.isUsed) await store.subAgents.removeOf(tx, run.id)
    if (title !== null) await store.conversations.setMadeTitle(tx, run.conversationId, title)
    if (run.kind === 'background' && !stopped && readRunOptions(run.options).announce !== false)
      await store.messages.attach(tx, run.conversationId, run.messageId, endedAt)
  }, events)
}
