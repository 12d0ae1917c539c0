// Sets up the agent loop of a run: the model, the tools with their approvals and sub-agents, and the limits.

import { isLanguage } from '../../../locales/languages.ts'
import { createContextWindow, messageBudget } from '../../agent/context-window.ts'
import { type AgentLoopInput, type LoopEvent, runAgentLoop } from '../../agent/loop.ts'
import { summarizeTurns } from '../../agent/summary.ts'
import { createRunGrants, type RunGrants, scheduleOf } from '../../grants/covering.ts'
import { applyGrant } from '../../grants/use.ts'
import type { WorkClock } from '../../lib/clocks.ts'
import type { LlmRequest } from '../../llm/client.ts'
import type { ProseSink } from '../../llm/prose.ts'
import { estimateToolTokens } from '../../llm/tokens.ts'
import { windowTokens } from '../../llm/usage.ts'
import { SUCCESS_BEGINS } from '../../protocol/runs/call-outcome.ts'
import type { Step } from '../../protocol/runs/step.ts'
import { NOTHING_TO_REPORT } from '../../tools/builtin/schedules/nothing-to-report.ts'
import { type OwnFiles, programSchema } from '../../tools/definition.ts'
import { type CallRecorder, createToolExecutor } from '../../tools/executor.ts'
import { createToolSet } from '../../tools/registry.ts'
import { createAnswerCheck } from '../answer-format.ts'
import { createApprovals } from '../approvals/request.ts'
import { createTaint, type Taint } from '../approvals/taint.ts'
import { mayOwnFiles, type RunContext } from '../context.ts'
import { createPersonInput } from '../inputs/request.ts'
import type { PerformedRun } from '../performed-run.ts'
import { createRunPlan, type RunPlan, withNote } from '../plan.ts'
import type { Recorder } from '../recorder.ts'
import { createWaiting, type TellRequest, tellInTurn } from '../requests.ts'
import { limitsOf, originOfRun } from '../state.ts'
import { createAgentStarter } from '../sub-agents/agents.ts'
import { type ListedTools, listTools } from '../tools-on-demand.ts'

/** Creates the loop without starting it. `clock` pauses while the run waits for a person; `prose` receives what the model writes. */
export async function createRunLoop(
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
