// Performs one run: takes the loop's events, stores and tells them, and brings the run to its end.

import type { Writer } from '../db/database.ts'
import type { RunRow } from '../db/repositories/runs.ts'
import { toStep } from '../db/repositories/steps.ts'
import { AppError } from '../errors.ts'
import type { RiskLevel } from '../protocol/run-event.ts'
import { toSchema } from '../tools/definition.ts'
import { createToolExecutor, type ExecutorHooks } from '../tools/executor.ts'
import { needsApproval } from '../tools/risk.ts'
import type { ActiveRun } from './active-runs.ts'
import { type LoopEvent, runAgentLoop } from './agent-loop.ts'
import { createBookkeeping } from './bookkeeping.ts'
import { recallShown } from './recall-shown.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import { createRunContext, DEFAULT_CONTEXT_WINDOW, type RunContext } from './run-context.ts'
import { type Ending, makeTitle, storeEnd } from './run-ending.ts'
import { createWorkClock, watchListeners } from './run-guards.ts'
import type { RunDependencies, RunParts } from './run-parts.ts'
import { createQuestions } from './run-questions.ts'
import { type RunState, readRunState } from './run-state.ts'
import { createTaint, type Taint } from './run-taint.ts'
import { fitToWindow } from './run-window.ts'
import { createSubAgentJournal } from './sub-agent-journal.ts'
import type { WriteGroup } from './write-group.ts'

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
  const parts: RunParts = { active, run, state, books, journal, writes, dependencies }
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
          ? await makeTitle(parts, context, ending.finish, recorder)
          : null
      await storeEnd(parts, ending, title, recorder)
    } finally {
      leaveScope()
      endWatch()
      clock.end()
    }
  }

  /** Consumes the loop until it ends. */
  async function work(context: RunContext, recorder: Recorder): Promise<Ending> {
    const taint = createTaint(parts, context)
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
      fitToWindow: (messages) => fitToWindow(messages, context, maxTokens, parts),
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

  async function take(event: LoopEvent, recorder: Recorder, taint: Taint): Promise<Ending | null> {
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

  return { perform }
}

const optionsOf = (run: RunRow) =>
  // Options are checked in full where the run's context is made; a watch needs only this one.
  (run.options as { onDisconnect?: 'grace' | 'stop' | 'continue' }).onDisconnect ?? 'grace'

const asAppError = (error: unknown): AppError =>
  error instanceof AppError
    ? error
    : new AppError('internal', 'The answer could not be prepared. Try again.', { cause: error })
