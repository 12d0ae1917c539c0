// Sets up the agent loop of a run: the model, the tools with their approvals and sub-agents, and the limits.
import { type AgentLoopInput, type LoopEvent, runAgentLoop } from '../agent/loop.ts'
import type { WorkClock } from '../lib/work-clock.ts'
import type { ToolSchema } from '../llm/client.ts'
import { windowTokens } from '../llm/usage.ts'
import { type CallRecorder, createToolExecutor } from '../tools/executor.ts'
import { createToolSet } from '../tools/registry.ts'
import { createApprovals } from './approvals/request.ts'
import { createTaint, type Taint } from './approvals/taint.ts'
import type { RunContext } from './context/context.ts'
import { createRunWindow } from './context/window.ts'
import { createPersonInput } from './inputs/request.ts'
import { type PerformedRun, retryRead } from './performed-run.ts'
import type { Recorder } from './recorder.ts'
import type { ClientTool } from './state.ts'
import { createAgentStarter } from './sub-agents/agents.ts'
import { type ListedTools, listTools } from './tools-on-demand.ts'
import { createWaiting } from './waiting.ts'

/** Creates the loop without starting it. `clock` pauses while the run waits for a person. */
export async function createRunLoop(
  performed: PerformedRun,
  context: RunContext,
  recorder: Recorder,
  clock: WorkClock,
): Promise<AsyncGenerator<LoopEvent, void>> {
  const { active, run, state, usage, dependencies } = performed
  const { maxIterations } = dependencies.settings
  const taint = await createTaint(performed, context)
  const maxTokens = context.conversation.maxTokens ?? context.model.max_tokens ?? undefined
  const listed = listTools({
    tools: context.tools,
    clientTools: context.clientTools.map(clientSchema),
    maxMcpTools: dependencies.settings.listedMcpTools,
    found: context.foundTools,
    onFound(names) {
      // Stored with the next iteration.
      state.foundTools = [...(state.foundTools ?? []), ...names]
    },
  })
  const tools = listed.schemas
  const window = createRunWindow(context, tools, maxTokens, performed)
  let runTools: AgentLoopInput['runTools'] | undefined
  return runAgentLoop({
    llm: performed.timeline.watch(context.llm),
    messages: context.messages,
    tools,
    clientTools: new Set(context.clientTools.map(({ name }) => name)),
    request: {
      ...toolChoiceOf(performed, context),
      ...settingsOf(context),
      cacheKey: run.conversationId,
      ...(maxTokens === undefined ? {} : { maxTokens }),
    },
    maxIterations: Math.max(0, (state.iterationLimit ?? maxIterations) - run.iteration),
    pendingCalls: context.resume.pendingCalls,
    budgetLeft: () => retryRead(performed, () => usage.isBudgetLeft()),
    fitToWindow: window.fit,
    signal: active.signal,
    runTools(calls) {
      // Created on first use: most answers need no tool.
      runTools ??= toolRunner(performed, context, { taint, recorder, clock, listed })
      return runTools(calls)
    },
    iterationEnded(used) {
      window.report(windowTokens(used))
      // Stored, because later runs must repeat it.
      state.window = window.marks
    },
  })
}

/** Runs the calls of an iteration. Each call receives what it needs to know about the run in its context. */
function toolRunner(
  performed: PerformedRun,
  context: RunContext,
  {
    taint,
    recorder,
    clock,
    listed,
  }: { taint: Taint; recorder: Recorder; clock: WorkClock; listed: ListedTools },
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
  const { search } = listed
  const executor = createToolExecutor({
    ...resources,
    ...(search === null ? {} : { tools: createToolSet([search, ...context.allTools.list()]) }),
    // A tool that is not listed may be called, too: the model may know it from earlier.
    allowedTools: new Set(
      [...context.tools, ...(search === null ? [] : [search])].map((tool) => tool.name),
    ),
  })
  const { store, now } = dependencies
  const waiting = createWaiting({ ...dependencies, active, run, writes, clock })
  const isRefused = context.options.refusesApprovals ?? false
  const approvals = createApprovals({
    ...dependencies,
    active,
    run,
    mode: context.options.approval,
    isRefused,
    taint,
    writes,
    waiting,
  })
  // Nobody can answer in a background task, or when the requesting program does not wait for a person.
  const person =
    run.kind === 'chat' && !isRefused
      ? createPersonInput({ active, run, store, writes, waiting, recorder, now })
      : undefined
  const agents = createAgentStarter({
    performed,
    context,
    listed: listed.tools,
    request: settingsOf(context),
    resources,
    approvals,
    taint,
  })
  const callRecorder = createCallRecorder(performed, recorder, taint)
  return (calls) =>
    executor.execute(calls, {
      signal: active.signal,
      interrupted: context.resume.interrupted,
      context: {
        userId: run.userId,
        conversationId: run.conversationId,
        projectId: run.projectId,
        runId: run.id,
        attempt: run.attempt,
        messageId: run.messageId,
        model: run.model,
        isTainted: taint.isTainted,
        agents,
        spending: performed.spending,
        ...(person === undefined ? {} : { person }),
      },
      progress: (callId, progress) => active.runLog.reportProgress({ id_ref: callId, progress }),
      approvals,
      recorder: callRecorder,
    })
}

/** Stores the start and the result of each call through the run's recorder. */
const createCallRecorder = (
  { active, timeline, dependencies }: PerformedRun,
  recorder: Recorder,
  taint: Taint,
): CallRecorder => ({
  async begin(call) {
    await dependencies.whenOwner(active.signal)
    await recorder.begin(call)
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

const clientSchema = ({ name, description, parameters }: ClientTool): ToolSchema => ({
  type: 'function',
  function: { name, description, parameters },
})

/** A forced tool choice applies to the first attempt only. */
const toolChoiceOf = ({ run }: PerformedRun, { options: { toolChoice } }: RunContext) =>
  toolChoice === undefined || run.attempt > 1 ? {} : { toolChoice }

/** The settings of the run's model calls. Its sub-agents use the same. */
function settingsOf({ model, conversation: { temperature, thinkingEnabled } }: RunContext) {
  const thinking = thinkingEnabled ? (model.thinking === false ? true : model.thinking) : false
  return { ...(temperature === null ? {} : { temperature }), thinking }
}
