// Performs one run: takes the loop's events, stores and emits them, and brings the run to its end.

import { type LoopEvent, runAgentLoop } from '../agent/loop.ts'
import { createWorkClock } from '../agent/work-clock.ts'
import type { RunRow } from '../db/repositories/runs.ts'
import { toStep } from '../db/repositories/steps.ts'
import { AppError, appError } from '../errors.ts'
import { toSchema } from '../tools/definition.ts'
import { createToolExecutor } from '../tools/executor.ts'
import type { ActiveRun } from './active-run.ts'
import { createApprovals } from './approvals/request.ts'
import { createTaint } from './approvals/taint.ts'
import { createRunContext, type RunContext } from './context/context.ts'
import { recallShown } from './context/tool-recall.ts'
import { fitToWindow } from './context/window.ts'
import { endBroken } from './end/end-broken.ts'
import { type Ending, makeTitle, storeEnd, titleWithoutAnswer } from './end/finish.ts'
import { watchListeners } from './end/unattended.ts'
import { outlast, RETRY_DELAYS_MS, type WriteGroup } from './group-commit.ts'
import type { PerformedRun, RunDependencies } from './performed-run.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import { type RunState, readRunState } from './state.ts'
import { createAgentStarter } from './sub-agents/agents.ts'
import { createSubAgentJournal } from './sub-agents/journal.ts'
import { createRunUsage, type RunUsage } from './usage/usage.ts'

/**
 * Performs the run from where the store says it is until it ends, or until the server goes away.
 * Contract: never throws. What the store does not take ends the run, it never makes the model answer again.
 */
export async function performRun(
  active: ActiveRun,
  run: RunRow,
  dependencies: RunDependencies,
  writes: WriteGroup,
): Promise<void> {
  const usage = createRunUsage(run, dependencies)
  try {
    await createPerformance(active, run, dependencies, writes, usage).perform()
  } catch (error) {
    const event = await endBroken(error, { active, run, usage, dependencies })
    if (event === null) active.runLog.close()
    else active.runLog.appendEvent(event)
  } finally {
    usage.leave()
  }
}

function createPerformance(
  active: ActiveRun,
  run: RunRow,
  dependencies: RunDependencies,
  writes: WriteGroup,
  usage: RunUsage,
) {
  const { store, settings, log, now } = dependencies
  const { runLog } = active
  const isResumed = run.attempt > 1
  const state: RunState = readRunState(run.state)
  const endWatch = watchListeners(active, {
    onDisconnect: optionsOf(run),
    graceMs: settings.disconnectGrace * 1_000,
  })
  const journal = createSubAgentJournal({
    runId: run.id,
    repository: store.subAgents,
    usage,
    writes,
    isLeaving: () => active.stopReason === 'shutdown',
  })
  const performed: PerformedRun = {
    active,
    run,
    state,
    usage,
    journal,
    writes,
    dependencies,
  }
  const clock = createWorkClock(settings.runMinutes * 60_000, () => active.stop('time_limit'))

  /** A store that is away for a while is waited for, as with writes. */
  const outlasting = <T>(read: () => Promise<T>): Promise<T> =>
    outlast(read, RETRY_DELAYS_MS, () => !active.signal.aborted && !dependencies.isDraining())

  async function perform(): Promise<void> {
    const rows = isResumed ? await outlasting(() => store.steps.list(run.messageId)) : []
    const context = await outlasting(() => createRunContext(run, rows, dependencies)).catch(
      (error: unknown) => asAppError(error),
    )
    if (isResumed && !(context instanceof AppError))
      await recallShown(run.id, rows.map(toStep), store, context.allTools)
    const resume = context instanceof AppError ? null : context.resume
    const recorder = createRecorder({
      runLog,
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
        await recorder.leave((tx) => store.runs.write(tx, run, { failedAttempts: 0 }))
        runLog.close()
        return
      }
      const title =
        ending.kind === 'done' && !(context instanceof AppError)
          ? await makeTitle(performed, context, ending.finish, recorder)
          : await titleWithoutAnswer(run, dependencies)
      await storeEnd(performed, ending, title, recorder)
    } finally {
      endWatch()
      clock.end()
    }
  }

  /** Consumes the loop until it ends. */
  async function work(context: RunContext, recorder: Recorder): Promise<Ending> {
    const taint = await createTaint(performed, context)
    const approvals = createApprovals({
      ...dependencies,
      active,
      run,
      mode: context.options.approval,
      taint,
      writes,
      clock,
    })
    const resources = {
      tools: context.allTools,
      cache: dependencies.cache,
      results: dependencies.results,
      safety: dependencies.safety,
      maxWorkers: settings.toolMaxWorkers,
    }
    const executor = createToolExecutor({
      ...resources,
      allowedTools: new Set(context.tools.map((tool) => tool.name)),
    })
    const schemas = context.tools.map(toSchema)
    const { model, options } = context
    const maxTokens = context.conversation.maxTokens ?? model.max_tokens ?? undefined
    const { temperature, thinkingEnabled } = context.conversation
    const thinking = thinkingEnabled ? (model.thinking === false ? true : model.thinking) : false
    const request = { ...(temperature === null ? {} : { temperature }), thinking }
    const agents = createAgentStarter({
      performed,
      context,
      request,
      resources,
      approvals,
      taint,
    })
    const loop = runAgentLoop({
      llm: context.llm,
      messages: context.messages,
      tools: schemas,
      request: {
        ...(options.toolChoice === undefined || isResumed
          ? {}
          : { toolChoice: options.toolChoice }),
        ...request,
        ...(maxTokens === undefined ? {} : { maxTokens }),
      },
      maxIterations: Math.max(0, (state.roundLimit ?? settings.maxIterations) - run.round),
      pendingCalls: context.resume.pendingCalls,
      budgetLeft: () => outlasting(() => usage.isBudgetLeft()),
      fitToWindow: (messages) => fitToWindow(messages, context, maxTokens, performed),
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
            isTainted: taint.isTainted,
            agents,
          },
          progress: (callId, progress) => runLog.reportProgress({ id_ref: callId, progress }),
          approvals,
          recorder: {
            begin: async (call) => {
              await dependencies.whenOwner(active.signal)
              await recorder.begin(call)
            },
            // What the end of the process cut off is no result: the next start looks at it again.
            settled: async (result) => {
              if (active.stopReason !== 'shutdown')
                await recorder.storeResult(result, taint.see(result))
            },
          },
        }),
    })
    for await (const event of loop) {
      const ending = await take(event, recorder)
      if (ending !== null) return ending
    }
    return { kind: 'error', error: new AppError('internal', 'The run ended without an answer.') }
  }

  async function take(event: LoopEvent, recorder: Recorder): Promise<Ending | null> {
    switch (event.type) {
      case 'prose': {
        const stored = recorder.append(event.kind, event.text)
        if (stored !== undefined) await stored
        return null
      }
      case 'iteration': {
        usage.add(event)
        // The last iteration is stored together with the run's end, unless a title is still to be made.
        if (event.finish !== null) return { kind: 'done', finish: event.finish }
        await usage.storeWith(true, (write) =>
          recorder.endIteration(event.calls, async (tx) => void (await write(tx))),
        )
        return null
      }
      case 'result':
        // What the end of the process cut off is not stored, so nobody learns of it.
        if (active.stopReason !== 'shutdown') recorder.emitResult(event.result)
        return null
      case 'retrying':
        log.warn({ run_id: run.id, attempt: event.attempt, reason: event.reason }, 'model retry')
        runLog.reportRetry({
          attempt: event.attempt,
          delay_ms: event.delayMs,
          reason: event.reason,
          ...(event.code === undefined ? {} : { code: event.code }),
          ...(event.params === undefined ? {} : { params: event.params }),
        })
        return null
      case 'failed':
        if (event.usage !== undefined) usage.add({ usage: event.usage, model: '' })
        return { kind: 'error', error: event.error }
      case 'stopped':
        if (event.usage !== undefined) usage.add({ usage: event.usage, model: '' })
        if (active.stopReason === 'shutdown') return { kind: 'left' }
        if (active.stopReason === 'project_deleted')
          return { kind: 'error', error: appError('project_deleted_during_run') }
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
