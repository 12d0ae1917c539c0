// Performs one run: sets up its loop, consumes the events, stores and emits them, and ends the run.

import { isLanguage } from '../../locales/languages.ts'
import { createContextWindow, messageBudget } from '../agent/context-window.ts'
import { type AgentLoopInput, type LoopEvent, runAgentLoop } from '../agent/loop.ts'
import { summarizeTurns } from '../agent/summary.ts'
import { toStep } from '../db/repositories/conversations/steps.ts'
import { ROW_BYTES } from '../db/repositories/projects/storage.ts'
import { RunOver } from '../db/repositories/runs/runs.ts'
import { AppError, appError } from '../errors.ts'
import { createRunGrants, type RunGrants, scheduleOf } from '../grants/covering.ts'
import { applyGrant } from '../grants/use.ts'
import { createWorkClock, type WorkClock } from '../lib/clocks.ts'
import { roughLength } from '../lib/json-pieces.ts'
import type { LlmRequest } from '../llm/client.ts'
import { noticingOutput, type ProseSink } from '../llm/prose.ts'
import { estimateToolTokens } from '../llm/tokens.ts'
import { windowTokens } from '../llm/usage.ts'
import type { OnDisconnect } from '../protocol/conversations/message.ts'
import { SUCCESS_BEGINS } from '../protocol/runs/call-outcome.ts'
import type { Step } from '../protocol/runs/step.ts'
import { NOTHING_TO_REPORT } from '../tools/builtin/schedules/nothing-to-report.ts'
import { type OwnFiles, programSchema } from '../tools/definition.ts'
import { type CallRecorder, createToolExecutor } from '../tools/executor.ts'
import { createToolSet } from '../tools/registry.ts'
import type { ActiveRun } from './active-run.ts'
import { createAnswerCheck } from './answer-format.ts'
import { createApprovals } from './approvals/request.ts'
import { createTaint, type Taint } from './approvals/taint.ts'
import {
  mayOwnFiles,
  prepareRunContext,
  type ResumePoint,
  type RunContext,
  recallEarlierResults,
} from './context.ts'
import { endBroken } from './end/end-broken.ts'
import {
  createRunTitle,
  type Ending,
  type RunTitle,
  storeEnd,
  titleWithoutAnswer,
} from './end/finish.ts'
import { failureOfStop, retryNotice } from './end/run-failure.ts'
import { RETRY_DELAYS_MS, retryWhileUnavailable, type WriteGroup } from './group-commit.ts'
import { createPersonInput } from './inputs/request.ts'
import type { RunLog } from './log/log.ts'
import { outcomeOf } from './observation.ts'
import type { PerformedRun, RunDependencies, RunFrame } from './performed-run.ts'
import { createRunPlan, type RunPlan, withNote } from './plan.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import { createWaiting, type TellRequest, tellInTurn } from './requests.ts'
import { createRunState, limitsOf, originOfRun, type RunState, readRunOptions } from './state.ts'
import { createAgentStarter } from './sub-agents/agents.ts'
import { createSubAgentJournal } from './sub-agents/journal.ts'
import { createRunTimeline } from './timeline.ts'
import { type ListedTools, listTools } from './tools-on-demand.ts'
import { createRunUsage, createSpending } from './usage/usage.ts'

/**
 * Performs the run from its stored state until it ends or the server shuts down. Never throws: an unexpected error ends the
 * run and never causes another model call.
 */
export async function performRun(
  { active, run, known }: Pick<RunFrame, 'active' | 'run' | 'known'>,
  dependencies: RunDependencies,
  writes: WriteGroup,
): Promise<void> {
  const { now, observe } = dependencies
  const startedAt = now()
  const stepsBefore = active.runLog.stepCount
  const usage = createRunUsage(run, { ...dependencies, writes })
  const { budgets, store } = dependencies
  const spending = createSpending(run, usage, budgets, store.attachments)
  const record = dependencies.records?.begin(run)
  if (run.attempt === 1) record?.addStored('accepted')
  const timeline = createRunTimeline({
    model: run.model,
    attempt: run.attempt,
    earlier: run.timeline ?? [],
    now,
    costOf: (model, tokens) => usage.priceOf({ model, usage: tokens }),
    record,
  })
  try {
    const isSuspending = () => active.stopReason === 'shutdown'
    await perform({
      active,
      run,
      options: readRunOptions(run.options),
      known,
      writes,
      dependencies,
      retry: (read) =>
        retryWhileUnavailable(
          read,
          RETRY_DELAYS_MS,
          () => !active.signal.aborted && !dependencies.isDraining(),
        ),
      runState: createRunState(run.state),
      usage,
      timeline,
      record,
      journal: createSubAgentJournal(run.id, store.subAgents, usage, isSuspending),
      spending,
    })
  } catch (error) {
    const event = await endBroken(error, { active, run, usage, dependencies })
    if (event === null) active.runLog.close()
    else active.runLog.appendEvent(event)
  } finally {
    dependencies.storage.noteText(run.userId, storedBytes(active.runLog, stepsBefore))
    usage.release()
    spending.release()
    record?.end()
    const { terminal } = active.runLog
    observe?.({
      kind: 'attempt_ended',
      run,
      startedAt,
      endedAt: now(),
      entries: timeline.entries().slice(run.timeline?.length ?? 0),
      outcome: outcomeOf(terminal),
      reason: terminal?.event === 'error' ? (terminal.reason ?? null) : null,
    })
  }
}

/** Roughly the bytes that the steps of the answer from an index on take in the store. */
function storedBytes(runLog: RunLog, first: number): number {
  let bytes = 0
  for (let index = first; index < runLog.stepCount; index += 1) {
    const step = runLog.step(index)
    if (step === undefined) continue
    bytes += ROW_BYTES + Buffer.byteLength('content' in step ? step.content : step.arguments)
    if (step.type === 'tool_result') bytes += roughLength(step.artifact)
  }
  return bytes
}

/** Works on the run within its limits, then stores its end. */
async function perform(performed: PerformedRun): Promise<void> {
  const { active, run, options, runState, record, writes, dependencies } = performed
  const { store, storeMoments, sharing, log, now } = dependencies
  const { disconnectGrace, titles } = dependencies.settings
  const { minutes } = limitsOf(options, dependencies.settings)
  const endWatch = stopWhenUnattended(active, {
    onDisconnect: options.onDisconnect,
    graceMs: disconnectGrace * 1_000,
  })
  const clock = createWorkClock(minutes * 60_000, () => active.stop('time_limit'))
  try {
    const isResumed = run.attempt > 1
    const rows = isResumed ? await performed.retry(() => store.steps.list(run.messageId)) : []
    const context = await performed
      .retry(() => prepareRunContext(performed, rows))
      .catch((error: unknown) => asAppError(error))
    const isPrepared = !(context instanceof AppError)
    if (isResumed && isPrepared)
      await recallEarlierResults(run.id, rows.map(toStep), store, context.allTools)
    const resume = isPrepared ? context.resume : null
    const recorder = createRecorder({
      runLog: active.runLog,
      run,
      nextIndex: resume?.nextIndex ?? rows.length,
      openCalls: resume?.places ?? new Map(),
      continued: resume === null ? null : continuedBy(resume, runState.current),
      stepRepository: store.steps,
      writes,
      storeMoments,
      storesIdsAtOnce: sharing !== undefined,
      onLateStore(error) {
        // Another attempt has begun elsewhere. This one ends as it would at a shutdown, and writes nothing more.
        if (error instanceof RunOver) active.stop('shutdown')
        else log.warn({ err: error, run_id: run.id }, 'text not stored in time')
      },
      onStored: (what, idRef) => record?.addStored(what, idRef),
      now,
    })
    const title = isPrepared ? createRunTitle(performed, context) : null
    const { finish } = runState.current
    const ending: Ending = !isPrepared
      ? { kind: 'error', error: context }
      : finish === undefined
        ? await runLoop(performed, context, recorder, { clock, title })
        : { kind: 'done', finish }
    if (ending.kind === 'suspended') {
      await recorder.suspend((tx) => store.runs.write(tx, run, { failedAttempts: 0, owner: null }))
      active.runLog.close()
      return
    }
    if (ending.kind === 'error') title?.abandon()
    const given =
      ending.kind === 'done' && title !== null
        ? await title.finish(ending.finish, recorder)
        : await titleWithoutAnswer(run, store, titles)
    await storeEnd(performed, ending, given, recorder)
  } finally {
    endWatch()
    clock.end()
  }
}

/** Stores and emits what the loop yields, until it ends. The loop continues only after each event is stored and emitted. */
async function runLoop(
  performed: PerformedRun,
  context: RunContext,
  recorder: Recorder,
  { clock, title }: { clock: WorkClock; title: RunTitle | null },
): Promise<Ending> {
  const { active, run, runState, usage, timeline, dependencies } = performed
  const { log, now, observe, redact } = dependencies
  // Later attempts are left out: they began long after the person asked.
  let isAwaited = run.attempt === 1
  const prose = noticingOutput(recorder, () => {
    title?.begin()
    if (!isAwaited) return
    isAwaited = false
    const seconds = (now().getTime() - run.createdAt.getTime()) / 1_000
    observe?.({ kind: 'first_token', model: run.model, seconds })
  })
  for await (const event of await createRunLoop(performed, context, { recorder, prose, clock })) {
    switch (event.type) {
      case 'iteration': {
        title?.begin()
        usage.add(event)
        // The last iteration is stored together with the end of the run, unless a title has to be generated first.
        if (event.finish !== null) {
          const isOver = event.finish === 'stop' && (await usage.hasExceededLimits())
          return { kind: 'done', finish: isOver ? 'budget' : event.finish }
        }
        const batch = await usage.nextBatch({ endsIteration: true })
        const change = { timeline: timeline.entries(), ...runState.nextChange() }
        await batch.settle(
          recorder.endIteration(event.calls, (tx) => batch.write(tx, change), event.carry),
        )
        break
      }
      case 'result':
        // A result cut off by a shutdown is not stored, so it must not be emitted either.
        if (active.stopReason !== 'shutdown') recorder.emitResult(event.result)
        break
      case 'retrying':
        log.warn(
          { run_id: run.id, attempt: event.attempt, reason: event.error.message },
          'model retry',
        )
        active.runLog.reportRetry(retryNotice(event, redact))
        break
      case 'failed':
        if (event.usage !== undefined) usage.add({ usage: event.usage, model: '' })
        return { kind: 'error', error: event.error }
      case 'stopped': {
        if (event.usage !== undefined) usage.add({ usage: event.usage, model: '' })
        if (active.stopReason === 'shutdown') return { kind: 'suspended' }
        const error = failureOfStop(active.stopReason)
        return error === null
          ? { kind: 'done', finish: active.stopReason === 'time_limit' ? 'budget' : 'stopped' }
          : { kind: 'error', error }
      }
    }
  }
  return { kind: 'error', error: appError('run_without_answer') }
}

/** An answer that the iteration limit ended is complete in itself; any other end may be in the middle of a word. */
const continuedBy = ({ continued }: ResumePoint, { resumedAfter }: RunState) =>
  continued === null
    ? null
    : { index: continued, separator: resumedAfter === 'max_iterations' ? '\n\n' : '' }

const asAppError = (error: unknown): AppError =>
  error instanceof AppError ? error : appError('run_not_prepared', {}, { cause: error })

/** Milliseconds for the first listener to connect after a start or restart, even if `on_disconnect` is `stop`. */
const CONNECT_MS = 30_000

/**
 * Stops the run when it has had no listener for the grace period. A run that waits for a person is not stopped: the
 * decision may come later, from another device.
 * @returns a function that ends the watch.
 */
export function stopWhenUnattended(
  active: ActiveRun,
  options: { onDisconnect: OnDisconnect; graceMs: number },
): () => void {
  if (options.onDisconnect === 'continue') return () => {}
  const delay = options.onDisconnect === 'stop' ? 0 : options.graceMs
  let timer: NodeJS.Timeout | undefined
  const arm = (ms: number): void => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (active.runLog.isWaiting) arm(Math.max(ms, 1_000))
      else active.stop('stopped')
    }, ms)
    timer.unref()
  }
  const endWatch = active.runLog.onListenersChange((count) => {
    if (count === 0) arm(delay)
    else clearTimeout(timer)
  })
  // The client of a new run may disconnect before it subscribes.
  if (active.runLog.listenerCount === 0) arm(Math.max(delay, CONNECT_MS))
  return () => {
    clearTimeout(timer)
    // The log stays in memory for a while after the end, and must not keep the rest of the run there.
    endWatch()
  }
}

// Sets up the agent loop of a run: the model, the tools with their approvals and sub-agents, and the limits.

/** Creates the loop without starting it. `clock` pauses while the run waits for a person; `prose` receives what the model writes. */
async function createRunLoop(
  performed: PerformedRun,
  context: RunContext,
  { recorder, prose, clock }: { recorder: Recorder; prose: ProseSink; clock: WorkClock },
): Promise<AsyncGenerator<LoopEvent, void>> {
  const { active, run, runState, usage, writes, dependencies } = performed
  const { maxIterations } = limitsOf(performed.options, dependencies.settings)
  const { toolChoice } = context.options
  const taint = await createTaint(performed, context)
  const maxTokens = context.conversation.maxTokens ?? context.model.max_tokens ?? undefined
  const listed = listTools({
    tools: context.tools,
    clientTools: context.clientTools.map(programSchema),
    maxMcpTools: dependencies.settings.listedMcpTools,
    found: context.foundTools,
    // Stored with the next iteration.
    onFound: runState.addFoundTools,
  })
  const tools = listed.schemas
  const toolTokens = estimateToolTokens(tools)
  const window = createContextWindow({
    budget: messageBudget(context.contextWindow, maxTokens, toolTokens),
    otherTokens: toolTokens,
    marks: runState.current.window ?? context.marks ?? {},
    async summarize(dropped, turns) {
      if (context.model.demo || !(await usage.isBudgetLeft())) return null
      const { summary, used } = await summarizeTurns(context.llm, dropped, active.signal)
      // Stored together with the next iteration.
      usage.addExtra(used)
      const untilMessageId = turns === null ? undefined : context.turnEnds[turns - 1]
      // Later runs use it, too.
      if (summary !== null && untilMessageId !== undefined)
        await writes.commit((tx) =>
          dependencies.store.summaries.insert(tx, {
            conversationId: run.conversationId,
            untilMessageId,
            text: summary,
            createdAt: dependencies.now(),
          }),
        )
      return summary
    },
  })
  const isPlanned = run.kind === 'chat' && hasPlanned(recorder.steps())
  let plan = isPlanned ? createRunPlan(performed, true) : undefined
  let runTools: AgentLoopInput['runTools'] | undefined
  return runAgentLoop({
    llm: performed.timeline.watch(context.llm),
    messages: context.messages,
    tools,
    clientTools: new Set(context.clientTools.map(({ name }) => name)),
    request: {
      // A forced tool choice applies to the first attempt only.
      ...(toolChoice === undefined || run.attempt > 1 ? {} : { toolChoice }),
      ...settingsOf(context.model, context.conversation),
      cacheKey: run.conversationId,
      ...(await formatOf(context.options)),
      ...(context.options.retries === undefined ? {} : { retries: context.options.retries }),
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(isLanguage(context.options.language) ? { language: context.options.language } : {}),
    },
    maxIterations: Math.max(0, (runState.current.iterationLimit ?? maxIterations) - run.iteration),
    pendingCalls: context.resume.pendingCalls,
    prose,
    budgetLeft: () => performed.retry(() => usage.isBudgetLeft()),
    async fitToWindow(messages) {
      const fitted = await window.fit(messages)
      context.noteSkills(fitted)
      return fitted
    },
    signal: active.signal,
    ...(context.options.quiet === true ? { isDone: () => hasEnded(recorder.steps()) } : {}),
    async beforeIteration(messages) {
      const note = (await plan?.takeNote()) ?? null
      return note === null ? messages : withNote(messages, note)
    },
    runTools(calls) {
      // Created on first use: most answers need no tool.
      if (run.kind === 'chat') plan ??= createRunPlan(performed, false)
      runTools ??= toolRunner(performed, context, { taint, recorder, clock, listed, plan })
      return runTools(calls)
    },
    iterationEnded(used) {
      window.report(windowTokens(used))
      // Stored, because later runs must repeat it.
      runState.setWindow(window.marks)
    },
  })
}

const formatOf = async ({ format }: RunContext['options']): Promise<Pick<LlmRequest, 'format'>> =>
  format === undefined ? {} : { format: { format, check: await createAnswerCheck(format) } }

/** Whether the model has said that there is nothing to report. */
const hasEnded = (steps: readonly Step[]): boolean =>
  steps.some(
    (step) =>
      step.type === 'tool_result' &&
      step.name === NOTHING_TO_REPORT &&
      !step.skipped &&
      step.content.startsWith(SUCCESS_BEGINS),
  )

/** Whether an earlier attempt has made a plan. */
const hasPlanned = (steps: readonly Step[]): boolean =>
  steps.some((step) => step.type === 'tool_call' && step.name === 'plan')

/** The tools that a run may call. One that is not listed may be called, too: the model may know it from earlier. */
const callableTools = (
  { tools, allTools }: RunContext,
  { search }: ListedTools,
): Pick<Parameters<typeof createToolExecutor>[0], 'tools' | 'allowedTools'> => ({
  tools: search === null ? allTools : createToolSet([search, ...allTools.list()]),
  allowedTools: new Set([...tools, ...(search === null ? [] : [search])].map(({ name }) => name)),
})

/** Runs the calls of an iteration. Each call receives what it needs to know about the run in its context. */
function toolRunner(
  performed: PerformedRun,
  context: RunContext,
  {
    taint,
    recorder,
    clock,
    listed,
    plan,
  }: {
    taint: Taint
    recorder: Recorder
    clock: WorkClock
    listed: ListedTools
    plan: RunPlan | undefined
  },
): AgentLoopInput['runTools'] {
  const { active, run, writes, dependencies } = performed
  const { cache, results, safety, settings } = dependencies
  const resources = {
    tools: context.allTools,
    cache,
    results,
    safety,
    maxWorkers: settings.toolMaxWorkers,
  }
  const executor = createToolExecutor({ ...resources, ...callableTools(context, listed) })
  const waiting = createWaiting({ ...dependencies, active, run, writes, clock })
  const { origin } = context.options
  const tell: TellRequest = (request, site) =>
    tellInTurn(request, { ...site, origin }, { ...dependencies, retry: performed.retry })
  const isRefused = context.options.refusesApprovals ?? false
  const grants = createRunGrants({
    store: dependencies.store,
    place: { ...run, scheduleId: scheduleOf(originOfRun(run)), runId: run.id },
    retry: performed.retry,
    now: dependencies.now,
  })
  const approvals = createApprovals({
    ...dependencies,
    active,
    run,
    mode: context.options.approval,
    deadline: context.options.approvalDeadline,
    isRefused,
    retry: performed.retry,
    taint,
    grants,
    tell,
    writes,
    waiting,
  })
  // Nobody can answer in a background task, or when the requesting program does not wait for a person.
  const person =
    run.kind === 'chat' && !isRefused
      ? createPersonInput({
          ...dependencies,
          active,
          run,
          writes,
          waiting,
          recorder,
          taint,
          tell,
          deadline: context.options.approvalDeadline,
        })
      : undefined
  const agents = createAgentStarter({
    performed,
    context,
    listed: listed.tools,
    request: settingsOf(context.model, context.conversation),
    resources,
    approvals,
    grants,
    taint,
  })
  const callRecorder = createCallRecorder(performed, recorder, { taint, grants })
  return (calls) =>
    executor.execute(calls, {
      signal: active.signal,
      interrupted: context.resume.interrupted,
      context: {
        userId: run.userId,
        conversationId: run.conversationId,
        projectId: run.projectId,
        ...(mayOwnFiles(context.options) ? { ownFiles: ownFilesOf(performed) } : {}),
        runId: run.id,
        attempt: run.attempt,
        messageId: run.messageId,
        model: run.model,
        offered: context.tools.map(({ name }) => name),
        isTainted: taint.isTainted,
        agents,
        spending: performed.spending,
        ...(person === undefined ? {} : { person }),
        ...(plan === undefined ? {} : { plan }),
        loadedSkills: context.loadedSkills,
      },
      progress: (callId, progress) => active.runLog.reportProgress({ id_ref: callId, progress }),
      approvals,
      recorder: callRecorder,
    })
}

/** What the run learns here, its later calls know from the beginning. */
const ownFilesOf = ({ run, dependencies: { scratch } }: PerformedRun): OwnFiles => ({
  async find() {
    run.projectId ??= await scratch.find(run.userId, run.conversationId)
    return run.projectId
  },
  async forChange() {
    run.projectId ??= await scratch.forChange(run.userId, run.conversationId)
    return run.projectId
  },
})

/** Stores the start and the result of each call through the run's recorder. */
const createCallRecorder = (
  { active, run, timeline, dependencies }: PerformedRun,
  recorder: Recorder,
  { taint, grants }: { taint: Taint; grants: RunGrants },
): CallRecorder => ({
  async begin(call, grantId) {
    await dependencies.whenOwner(active.signal)
    if (grantId === null) return await recorder.begin(call)
    const used = {
      grantId,
      run,
      idRef: call.id,
      tool: call.name,
      at: dependencies.now(),
      mayBeFirst: !grants.hasUsed(grantId),
    }
    const isUsed = await recorder.begin(call, {
      grantId,
      use: (tx) => applyGrant(tx, used, dependencies),
    })
    grants.settled(grantId, isUsed)
    return isUsed
  },
  async settled(result) {
    // A call cut off by a shutdown has no result: the next attempt decides what to do with it.
    if (active.stopReason === 'shutdown') return
    timeline.addToolCall(result)
    await recorder.storeResult(result, taint.record(result))
    if (result.executionTime !== undefined)
      dependencies.observe?.({
        kind: 'tool_call',
        tool: result.call.name,
        isSuccess: result.success,
        seconds: result.executionTime,
      })
  },
})

/** The settings of the run's model calls. Its sub-agents use the same. */
function settingsOf(
  model: RunContext['model'],
  { temperature, thinkingEnabled }: RunContext['conversation'],
) {
  const thinking = thinkingEnabled ? (model.thinking === false ? true : model.thinking) : false
  return { ...(temperature === null ? {} : { temperature }), thinking }
}
