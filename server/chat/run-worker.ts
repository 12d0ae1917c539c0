// Performs one run: takes the loop's events, stores and tells them, and brings the run to its end.

import type { Writer } from '../db/database.ts'
import type { RunRow } from '../db/repositories/runs.ts'
import { toStep } from '../db/repositories/steps.ts'
import { AppError, errorText } from '../errors.ts'
import type { LlmMessage } from '../llm/client.ts'
import type {
  DoneEvent,
  ErrorEvent,
  FinishReason,
  RiskLevel,
  RunEvent,
} from '../protocol/run-event.ts'
import type { ToolAnswer } from '../tools/answer.ts'
import { toSchema } from '../tools/definition.ts'
import { createToolExecutor, type ExecutorHooks } from '../tools/executor.ts'
import { needsApproval } from '../tools/risk.ts'
import type { ActiveRun } from './active-runs.ts'
import { type LoopEvent, runAgentLoop } from './agent-loop.ts'
import { createBookkeeping } from './bookkeeping.ts'
import type { ChatDependencies } from './chat-dependencies.ts'
import { fitMessages, messageBudget } from './context-window.ts'
import { roundsOf } from './history.ts'
import { recallShown } from './recall-shown.ts'
import { createRecorder } from './recorder.ts'
import { createRunContext, DEFAULT_CONTEXT_WINDOW, type RunContext } from './run-context.ts'
import { createWorkClock, watchListeners } from './run-guards.ts'
import { createQuestions } from './run-questions.ts'
import type { RunScopes } from './run-scopes.ts'
import { type RunState, readRunOptions, readRunState } from './run-state.ts'
import { createSubAgentJournal } from './sub-agent-journal.ts'
import { summarizeTurns } from './summarize.ts'
import { titleFromMessage, titleFromModel } from './title.ts'
import type { WriteGroup } from './write-group.ts'

/** `scopes`: what the run lends to the tools that start sub-agents. */
export type RunDependencies = ChatDependencies & { scopes: RunScopes }

/** How a run came to its end. */
type Ending =
  | { kind: 'done'; finish: FinishReason }
  | { kind: 'error'; error: AppError }
  | { kind: 'left' }

/**
 * Performs the run from where the store says it is until it ends, or until the server goes away.
 * Contract: never throws; `active.ended` is settled afterwards. Answers false when the store did not take the run's
 * end, so that somebody has to look after it once the store is back.
 */
export async function performRun(
  active: ActiveRun,
  run: RunRow,
  dependencies: RunDependencies,
  writes: WriteGroup,
): Promise<boolean> {
  try {
    await createPerformance(active, run, dependencies, writes).perform()
    return true
  } catch (error) {
    dependencies.log.error({ err: error, run_id: run.id }, 'a run could not be stored')
    active.channel.close()
    return false
  } finally {
    active.markEnded()
  }
}

function createPerformance(
  active: ActiveRun,
  run: RunRow,
  dependencies: RunDependencies,
  writes: WriteGroup,
) {
  const { store, settings, log, now } = dependencies
  const { channel } = active
  const isResumed = run.attempt > 1
  const state: RunState = readRunState(run.state)
  const books = createBookkeeping(run, dependencies)
  const endWatch = watchListeners(active, {
    onDisconnect: optionsOf(run),
    graceMs: settings.disconnectGrace * 1_000,
    isResumed,
  })
  const journal = createSubAgentJournal({
    runId: run.id,
    repository: store.subAgents,
    books,
    writes,
    isLeaving: () => active.stopReason === 'shutdown',
  })
  let leaveScope = (): void => {}
  const clock = createWorkClock(settings.runMinutes * 60_000, () => active.stop('time_limit'))

  const setStatus = async (tx: Writer, status: 'running' | 'awaiting_approval'): Promise<void> => {
    await store.runs.update(tx, run.id, { status })
    await store.messages.update(tx, run.messageId, {
      status: status === 'running' ? 'streaming' : status,
    })
  }

  async function perform(): Promise<void> {
    const rows = isResumed ? await store.steps.list(run.messageId) : []
    const context = await createRunContext(run, rows, dependencies).catch((error: unknown) =>
      asAppError(error),
    )
    if (isResumed && !(context instanceof AppError))
      await recallShown(run.id, rows.map(toStep), dependencies)
    const resume = context instanceof AppError ? null : context.resume
    const recorder = createRecorder({
      channel,
      run,
      nextIndex: resume?.nextIndex ?? rows.length,
      openCalls: resume?.places ?? new Map(),
      stepRepository: store.steps,
      writes,
      onLateStore: (error) => log.warn({ err: error, run_id: run.id }, 'text not stored in time'),
      now,
    })
    try {
      const ending: Ending =
        context instanceof AppError
          ? { kind: 'error', error: context }
          : state.finish === undefined
            ? await work(context, recorder)
            : { kind: 'done', finish: state.finish }
      if (ending.kind === 'left') {
        await recorder.leave()
        channel.close()
        return
      }
      const title =
        ending.kind === 'done' && !(context instanceof AppError)
          ? await makeTitle(context, ending.finish, recorder)
          : null
      await end(ending, title, recorder)
    } finally {
      leaveScope()
      endWatch()
      clock.end()
    }
  }

  /** Consumes the loop until it ends. */
  async function work(
    context: RunContext,
    recorder: ReturnType<typeof createRecorder>,
  ): Promise<Ending> {
    const taint = createTaint(context)
    const ask = createQuestions({
      active,
      run,
      runs: store.runs,
      writes,
      clock,
      setStatus,
      now,
    })
    const executor = createToolExecutor({
      registry: dependencies.registry,
      cache: dependencies.cache,
      results: dependencies.results,
      maxWorkers: settings.toolMaxWorkers,
      allowedTools: new Set(context.tools.map((tool) => tool.name)),
    })
    const schemas = context.tools.map(toSchema)
    const { model, options } = context
    const maxTokens = context.conversation.maxTokens ?? model.max_tokens ?? undefined
    const { temperature, thinkingEnabled } = context.conversation
    const needsPerson = (tool: { name: string; riskLevel: RiskLevel }): boolean =>
      needsApproval({
        ...tool,
        mode: options.approval,
        tainted: taint.isTainted(),
        remembered: taint.remembered(),
      })
    const askPerson: ExecutorHooks['ask'] = async (question) => {
      const decision = await ask(question)
      await taint.reload()
      return decision
    }
    const thinking = thinkingEnabled ? (model.thinking === false ? true : model.thinking) : false
    leaveScope = dependencies.scopes.enter(run.id, {
      llm: context.llm,
      request: { ...(temperature === null ? {} : { temperature }), thinking },
      contextWindow: model.context_window ?? DEFAULT_CONTEXT_WINDOW,
      tools: context.tools,
      needsApproval: needsPerson,
      ask: askPerson,
      see: (answer) => taint.see(answer),
      isBudgetLeft: () => books.isBudgetLeft(),
      journal,
    })
    const loop = runAgentLoop({
      llm: context.llm,
      messages: context.messages,
      tools: schemas,
      request: {
        ...(options.toolChoice === undefined || isResumed
          ? {}
          : { toolChoice: options.toolChoice }),
        ...(temperature === null ? {} : { temperature }),
        ...(maxTokens === undefined ? {} : { maxTokens }),
        thinking,
      },
      maxRounds: Math.max(0, (state.roundLimit ?? settings.maxIterations) - run.round),
      pendingCalls: context.resume.pendingCalls,
      budgetLeft: () => books.isBudgetLeft(),
      fitToWindow: (messages) => fitToWindow(messages, context, maxTokens),
      signal: active.signal,
      runTools: (calls) =>
        executor.execute(calls, {
          signal: active.signal,
          interrupted: context.resume.interrupted,
          context: {
            userId: run.userId,
            conversationId: run.conversationId,
            projectId: run.projectId,
            runId: run.id,
            messageId: run.messageId,
            model: run.model,
          },
          progress: (callId, progress) => channel.reportProgress({ id_ref: callId, progress }),
          hooks: {
            needsApproval: needsPerson,
            ask: askPerson,
            begin: (call) => recorder.begin(call),
            // What the end of the process cut off is no result: the next start looks at it again.
            settled: async (_position, answer) => {
              if (active.stopReason !== 'shutdown') await recorder.settled(answer)
            },
          },
        }),
    })
    for await (const event of loop) {
      const ending = await take(event, recorder, taint)
      if (ending !== null) return ending
    }
    return { kind: 'error', error: new AppError('internal', 'The run ended without an answer.') }
  }

  async function take(
    event: LoopEvent,
    recorder: ReturnType<typeof createRecorder>,
    taint: ReturnType<typeof createTaint>,
  ): Promise<Ending | null> {
    switch (event.type) {
      case 'prose': {
        const stored = recorder.prose(event.kind, event.text)
        if (stored !== undefined) await stored
        return null
      }
      case 'round': {
        books.add(event.usage, event.model)
        // The last round is stored together with the run's end, unless a title is still to be made.
        if (event.finish !== null) return { kind: 'done', finish: event.finish }
        await recorder.round(event.calls, await books.takeWrite(true))
        return null
      }
      case 'answer':
        recorder.answer(event.answer)
        await taint.see(event.answer)
        return null
      case 'retrying':
        log.warn({ run_id: run.id, attempt: event.attempt, reason: event.reason }, 'model retry')
        return null
      case 'failed':
        if (event.usage !== undefined) books.add(event.usage, '')
        return { kind: 'error', error: event.error }
      case 'stopped':
        if (event.usage !== undefined) books.add(event.usage, '')
        if (active.stopReason === 'shutdown') return { kind: 'left' }
        return { kind: 'done', finish: active.stopReason === 'time_limit' ? 'budget' : 'stopped' }
    }
  }

  /** Whether outside text was read, and what a person allowed for good: both decide who is asked. */
  function createTaint(context: RunContext) {
    let tainted = context.conversation.tainted
    let granted = new Set([...state.grants, ...context.conversation.approvalGrants])
    return {
      isTainted: () => tainted,
      remembered: () => granted,
      async see(answer: ToolAnswer): Promise<void> {
        if (!answer.untrusted || tainted) return
        tainted = true
        await writes.commit((tx) =>
          store.conversations.update(tx, run.conversationId, { tainted: true }),
        )
      },
      async reload(): Promise<void> {
        const [fresh, conversation] = await Promise.all([
          store.runs.find(run.id),
          store.conversations.find(run.userId, run.conversationId),
        ])
        state.grants = readRunState(fresh?.state).grants
        granted = new Set([...state.grants, ...(conversation?.approvalGrants ?? [])])
      },
    }
  }

  async function fitToWindow(
    messages: readonly LlmMessage[],
    context: RunContext,
    maxTokens: number | undefined,
  ): Promise<readonly LlmMessage[]> {
    const window = context.model.context_window ?? DEFAULT_CONTEXT_WINDOW
    const budget = messageBudget(window, maxTokens, context.tools.map(toSchema))
    return await fitMessages(messages, budget, async (dropped, turns) => {
      if (context.model.demo) return null
      const text = await summarizeTurns(context.llm, dropped, active.signal)
      const untilMessageId = context.turnEnds[turns - 1]
      if (text !== null && untilMessageId !== undefined)
        await writes.commit((tx) =>
          store.summaries.insert(tx, {
            conversationId: run.conversationId,
            untilMessageId,
            text,
            createdAt: now(),
          }),
        )
      return text
    })
  }

  async function makeTitle(
    context: RunContext,
    finish: FinishReason,
    recorder: ReturnType<typeof createRecorder>,
  ): Promise<string | null> {
    const { conversation, model, question } = context
    if (conversation.titled || settings.titles === 'off' || finish === 'stopped') return null
    if (run.kind !== 'chat') return null
    const first = titleFromMessage(question)
    if (settings.titles === 'first_message' || model.demo) return first === '' ? null : first
    state.finish = finish
    const writeBooks = await books.takeWrite(true)
    await recorder.round([], async (tx) => {
      await writeBooks(tx, { state })
    })
    const { title, usage } = await titleFromModel(
      context.llm,
      question,
      answerText(recorder),
      active.signal,
    )
    books.addAside(usage)
    return title ?? (first === '' ? null : first)
  }

  const answerText = (recorder: ReturnType<typeof createRecorder>): string =>
    roundsOf(recorder.steps()).findLast((round) => round.text !== '')?.text ?? ''

  async function end(
    ending: Exclude<Ending, { kind: 'left' }>,
    title: string | null,
    recorder: ReturnType<typeof createRecorder>,
  ): Promise<void> {
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
      if (isResumed || journal.isUsed) await store.subAgents.removeOf(tx, run.id)
      if (title !== null) await store.conversations.setMadeTitle(tx, run.conversationId, title)
      if (run.kind === 'background' && !stopped && readRunOptions(run.options).announce !== false)
        await store.messages.attach(tx, run.conversationId, run.messageId, endedAt)
    }, events)
  }

  return { perform }
}

const optionsOf = (run: RunRow) =>
  // Options are checked in full where the run's context is made; a watch needs only this one.
  (run.options as { onDisconnect?: 'grace' | 'stop' | 'continue' }).onDisconnect ?? 'grace'

const asAppError = (error: unknown): AppError =>
  error instanceof AppError
    ? error
    : new AppError('internal', 'The answer could not be prepared. Try again.', { cause: error })
