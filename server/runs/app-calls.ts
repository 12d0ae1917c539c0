// Calls that apps of MCP servers make beside an answer, while it is written or long after: the same rules as for calls of
// models, kept in the store until a person has decided, and stored as steps of the answer when it has ended.
import type { AppCallEnd, AppCallRow } from '../db/repositories/runs/app-calls.ts'
import type { ApprovalRow, SettledRequest } from '../db/repositories/runs/approvals.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import { appError } from '../errors.ts'
import { createRunGrants, scheduleOf } from '../grants/covering.ts'
import { applyGrant } from '../grants/use.ts'
import { newId } from '../lib/ids.ts'
import type { Actor } from '../protocol/admin/audit.ts'
import { CallId, type RunId } from '../protocol/ids.ts'
import { appResultOf, type McpAppReference, type McpAppResult } from '../protocol/mcp-app.ts'
import type { ApprovalRequest, Approvals } from '../tools/approval.ts'
import type { AgentStarter, ToolDefinition } from '../tools/definition.ts'
import { createToolExecutor } from '../tools/executor.ts'
import { createToolSet } from '../tools/registry.ts'
import type { CallResult } from '../tools/tool-result.ts'
import { findAppTool, modeOf } from './app-tool.ts'
import { createGates, toDecision } from './approvals/request.ts'
import { createKnownAddresses } from './approvals/taint.ts'
import type { ChatDependencies } from './dependencies.ts'
import { RETRY_DELAYS_MS, retryWhileUnavailable } from './group-commit.ts'
import {
  announceRequest,
  announceSettled,
  deadlineAfter,
  noticeSettled,
  tellInTurn,
} from './requests.ts'
import { originOfRun, readRunOptions } from './state.ts'

/** Calls of one run that run or wait at the same time. */
const MAX_OPEN = 8
/** Calls of apps that one answer can have. */
const MAX_CALLS = 500
/** Longer than any call of a tool of an MCP server takes. */
const OVERDUE_MS = 150_000
/** How often what nobody has done is looked for. */
const SWEEP_MS = 15_000
/** Whoever stored a decision carries it out; others leave it alone for this time. */
const LEFT_TO_DECIDER_MS = 5_000

/** What an app calls. */
export interface AppCallRequest {
  /** The call of the answer whose result the app shows. */
  appRef: CallId
  /** The tool's own name at the server. */
  tool: string
  arguments: Readonly<Record<string, unknown>>
}

/** What has become of a call. `void`: nobody waits for it any more. */
export type AppCallState =
  | { state: 'waiting'; approvalId: string }
  | { state: 'running' }
  | { state: 'done'; result: McpAppResult }
  | { state: 'void' }

/** A call that has begun, or waits for a person. */
export type AppCallOutcome = { idRef: CallId } & Exclude<
  AppCallState,
  { state: 'running' | 'void' }
>

/** Performs the calls of apps. */
export interface AppCalls {
  /**
   * Performs a call, or stores that it waits for a person. `actor`: who has the app, for the audit log.
   * @throws AppError `mcp_app_call_unknown`, `app_tool_unknown`, `not_for_apps`, `app_calls_waiting`, `app_calls_used_up`.
   */
  call(run: RunRow, request: AppCallRequest, actor: Actor): Promise<AppCallOutcome>
  /** @throws AppError `mcp_app_call_unknown`. */
  read(run: RunRow, idRef: string): Promise<AppCallState>
  /** The tool of a call that waits, as it may be used now; undefined if it may not. */
  toolOf(run: RunRow, idRef: string): Promise<ToolDefinition | undefined>
  /** Carries out a stored decision, in the background. */
  decided(run: RunRow, idRef: string): void
  /** Ends a call that waits: nobody decides it any more. */
  withdraw(run: RunRow, idRef: string): Promise<void>
  /** Ends the calls of the matching runs, waiting and running ones. `isDeleted`: the answer or its conversation is deleted. */
  withdrawAll(matches: (run: RunRow, isDeleted: boolean) => boolean): Promise<void>
  /** Carries out what an earlier process has left, and from then on what is overdue. */
  start(): Promise<void>
  /** Aborts the calls that run; the next start says of them that they were interrupted. */
  close(): Promise<void>
}

/** The dependencies of the calls of apps. */
export type AppCallDependencies = Pick<
  ChatDependencies,
  | 'database'
  | 'store'
  | 'settings'
  | 'access'
  | 'registry'
  | 'cache'
  | 'results'
  | 'safety'
  | 'prepareTools'
  | 'describeProject'
  | 'appTool'
  | 'announce'
  | 'isFollowed'
  | 'notices'
  | 'tell'
  | 'observe'
  | 'log'
  | 'now'
  | 'instance'
  | 'whenOwner'
  | 'sharing'
>

/** The calls of this process. */
interface State extends AppCallDependencies {
  readonly running: Map<
    string,
    { run: RunRow; controller: AbortController; done: Promise<unknown> }
  >
  /** By approval request. */
  readonly telling: Map<string, AbortController>
  isClosing: boolean
}

/** A call that needs a person. */
class NeedsPerson extends Error {
  readonly request: ApprovalRequest

  constructor(request: ApprovalRequest) {
    super('The call needs a person.')
    this.request = request
  }
}

/** Create one per process. */
export function createAppCalls(dependencies: AppCallDependencies): AppCalls {
  const state: State = {
    ...dependencies,
    running: new Map(),
    telling: new Map(),
    isClosing: false,
  }
  const { store } = state
  let timer: NodeJS.Timeout | undefined
  /** One at a time: on a slow machine, one may take longer than the pause before the next. */
  let sweeping: Promise<void> | null = null
  const look = async (isStart: boolean): Promise<void> => {
    if (state.isClosing || sweeping !== null) return
    sweeping = sweep(state, isStart)
      .catch((error: unknown) => {
        if (!state.isClosing) failed(state, null, error)
      })
      .finally(() => {
        sweeping = null
      })
    await sweeping
  }
  return {
    call: (run, request, actor) => call(state, run, request, actor),
    read: (run, idRef) => read(state, run, idRef),
    async toolOf(run, idRef) {
      const row = await store.appCalls.find(run.id, idRef)
      if (row === undefined) return undefined
      const found = await findAppTool(state, run, row)
      return found.kind === 'tool' ? found.tool : undefined
    },
    decided(run, idRef) {
      carryOut(state, run.id, idRef).catch((error: unknown) => failed(state, run.id, error))
    },
    withdraw: (run, idRef) => withdraw(state, run, idRef),
    async withdrawAll(matches) {
      for (const { run, idRef, isDeleted } of await store.appCalls.waiting())
        if (matches(run, isDeleted)) await withdraw(state, run, idRef)
      for (const { run, controller } of state.running.values())
        if (matches(run, true)) controller.abort(new Error('Withdrawn'))
    },
    async start() {
      await look(true)
      if (state.isClosing) return
      timer = setInterval(() => void look(false), SWEEP_MS)
      timer.unref()
    },
    async close() {
      clearInterval(timer)
      state.isClosing = true
      for (const controller of state.telling.values()) controller.abort()
      const running = [...state.running.values()]
      for (const { controller } of running) controller.abort(new Error('Shutdown'))
      await Promise.allSettled([...running.map(({ done }) => done), sweeping])
    },
  }
}

const failed = ({ log }: State, runId: RunId | null, error: unknown): void =>
  log.error({ err: error, run_id: runId }, 'a call of an app could not be carried out')

async function call(
  state: State,
  run: RunRow,
  { appRef, tool: wanted, arguments: given }: AppCallRequest,
  actor: Actor,
): Promise<AppCallOutcome> {
  const { store, database, now, instance } = state
  const app = (await store.appCalls.appOf(run, appRef)) ?? (await appOfBegun(state, run, appRef))
  if (app === undefined) throw appError('mcp_app_call_unknown')
  const found = await findAppTool(state, run, { server: app.server, tool: wanted })
  if (found.kind !== 'tool')
    throw appError(found.kind === 'for_models' ? 'not_for_apps' : 'app_tool_unknown')
  const { tool } = found
  const idRef = CallId.parse(`app_${newId<string>()}`)
  const createdAt = now()
  const row: AppCallRow = {
    runId: run.id,
    idRef,
    appRef,
    userId: run.userId,
    server: app.server,
    tool: wanted,
    name: tool.name,
    arguments: JSON.stringify(given),
    createdAt,
    startedAt: createdAt,
    owner: instance,
    grantId: null,
    content: null,
    artifact: null,
    skipped: false,
    endedAt: null,
  }
  await database.write(async (tx) => {
    if ((await store.appCalls.lockRun(tx, run.id)) === undefined) throw appError('run_not_found')
    const counts = await store.appCalls.counts(tx, run)
    if (counts.open >= MAX_OPEN) throw appError('app_calls_waiting', { limit: MAX_OPEN })
    if (counts.all >= MAX_CALLS) throw appError('app_calls_used_up', { limit: MAX_CALLS })
    await store.appCalls.insert(tx, row)
    await store.audit.record(tx, actor, {
      action: 'mcp_app_called',
      at: createdAt,
      details: { id: run.id, id_ref: idRef, server: app.server, tool: tool.name },
    })
  })
  try {
    const result = await perform(state, run, row, tool, null)
    return { idRef, state: 'done', result: resultOf(result) }
  } catch (error) {
    if (error instanceof NeedsPerson)
      return { idRef, state: 'waiting', approvalId: await ask(state, run, row, error.request) }
    await database.write((tx) => store.appCalls.remove(tx, row))
    throw error
  }
}

/**
 * The app of a call that runs, which shows itself before the result is there. One that waits for a person has none: nothing of it
 * has happened.
 */
async function appOfBegun(
  { store, prepareTools, registry }: State,
  run: RunRow,
  appRef: CallId,
): Promise<McpAppReference | undefined> {
  const call = await store.appCalls.callWithoutResult(run, appRef)
  if (call === undefined || call.startedAt === null) return undefined
  await prepareTools(run.userId)
  return registry.snapshot(run.userId).get(call.name)?.app
}

const resultOf = ({ content, artifact }: Pick<CallResult, 'content' | 'artifact'>): McpAppResult =>
  appResultOf(content, artifact?.app_result)

async function read({ store }: State, run: RunRow, idRef: string): Promise<AppCallState> {
  const row = await store.appCalls.find(run.id, idRef)
  if (row !== undefined && row.content !== null)
    return { state: 'done', result: appResultOf(row.content, row.artifact?.app_result) }
  if (row !== undefined && row.startedAt !== null) return { state: 'running' }
  const approval = await store.runs.approval(run.id, idRef)
  const ofApp = approval?.byApp === true ? approval : undefined
  if (row !== undefined)
    return ofApp === undefined || ofApp.status !== 'pending'
      ? { state: 'running' }
      : { state: 'waiting', approvalId: ofApp.id }
  const stored = await store.appCalls.storedResult(run, idRef)
  if (stored !== undefined)
    return { state: 'done', result: appResultOf(stored.content, stored.artifact?.app_result) }
  if (ofApp === undefined) throw appError('mcp_app_call_unknown')
  return { state: 'void' }
}

/** Agents and paid services are not for tools of MCP servers. */
const NO_AGENTS: AgentStarter = {
  performTasks: async () => ({ outcomes: [], agents: [], untrusted: false }),
  startBackgroundTask: async () => ({ ok: false, error: 'Not available for apps.' }),
}

/**
 * Runs the call, or what a person has decided about it, through the executor of all tool calls, and stores the result.
 * @throws NeedsPerson when a person must decide first.
 */
async function perform(
  state: State,
  run: RunRow,
  row: AppCallRow,
  tool: ToolDefinition | null,
  decided: ApprovalRow | 'interrupted' | null,
): Promise<CallResult> {
  const { settings, cache, results, safety } = state
  const controller = new AbortController()
  const { signal } = controller
  const executor = createToolExecutor({
    tools: createToolSet(tool === null ? [] : [tool]),
    cache,
    results,
    safety,
    maxWorkers: settings.toolMaxWorkers,
  })
  const idRef = CallId.parse(row.idRef)
  const toolCall = { id: idRef, name: row.name, arguments: row.arguments }
  const work = async (): Promise<CallResult> => {
    const gates = await gatesOf(state, run)
    const options = readRunOptions(run.options)
    const results = executor.execute([toolCall], {
      signal,
      ...(decided === 'interrupted' ? { interrupted: new Set([idRef]) } : {}),
      context: {
        userId: run.userId,
        conversationId: run.conversationId,
        projectId: run.projectId,
        runId: run.id,
        messageId: run.messageId,
        model: run.model,
        offered: options.tools ?? [],
        isFromApp: true,
        isTainted: gates.isTainted,
        agents: NO_AGENTS,
        spending: { admit: async () => null },
      },
      progress() {},
      approvals:
        decided === null || decided === 'interrupted' ? asking(gates.rules) : answering(decided),
      recorder: {
        begin: (_call, grantId) => begin(state, run, row, { grantId, signal }),
        settled: (result) => settle(state, run, row, result),
      },
    })
    for await (const result of results) return result
    throw new Error('The call has no result.')
  }
  const done = work()
  state.running.set(row.idRef, { run, controller, done })
  return await done.finally(() => state.running.delete(row.idRef))
}

type Rules = ReturnType<typeof createGates>

/** Asks for what needs a person, without waiting. */
const asking = (rules: Rules): Approvals => ({
  ...rules,
  request: (request) => Promise.reject(new NeedsPerson(request)),
})

/** Knows the decision. */
const answering = (approval: ApprovalRow): Approvals => ({
  permissionFor: async () => ({ kind: 'ask' }),
  newAddresses: async () => [],
  allowsRedirect: async () => true,
  request: async () => toDecision(approval),
})

/** The rules for calls of models, as they would apply to this run now. */
async function gatesOf(
  state: State,
  run: RunRow,
): Promise<{ rules: Rules; isTainted: () => boolean }> {
  const { store, now, registry } = state
  const setting = await store.conversations.findRunSetting(run.userId, run.conversationId)
  if (setting === undefined) throw appError('conversation_not_found')
  const retry = <T>(action: () => Promise<T>): Promise<T> => action()
  const isTainted = (): boolean => setting.conversation.tainted
  const place = { ...run, scheduleId: scheduleOf(originOfRun(run)), runId: run.id }
  return {
    isTainted,
    rules: createGates({
      run,
      mode: modeOf(state, run, setting.conversation),
      taint: {
        isTainted,
        addresses: createKnownAddresses({
          store,
          conversationId: run.conversationId,
          texts: [],
          tools: registry.snapshot(run.userId),
          retry,
        }),
      },
      grants: createRunGrants({ store, place, retry, now }),
      store,
      retry,
    }),
  }
}

async function begin(
  { store, database, now, whenOwner }: State,
  run: RunRow,
  row: AppCallRow,
  { grantId, signal }: { grantId: string | null; signal: AbortSignal },
): Promise<boolean> {
  await whenOwner(signal)
  if (grantId === null) return true
  return await database.write(async (tx) => {
    const used = { grantId, run, idRef: row.idRef, tool: row.name, at: now(), mayBeFirst: true }
    if (!(await applyGrant(tx, used, { store }))) return false
    await store.appCalls.setGrant(tx, row, grantId)
    return true
  })
}

/** Stores a result with its taint; of an ended run also as steps. What a shutdown has cut off has none. */
async function settle(
  state: State,
  run: RunRow,
  row: AppCallRow,
  { content, artifact, skipped, untrusted, executionTime, success }: CallResult,
): Promise<void> {
  if (state.isClosing) return
  const { store, database, now, announce, observe } = state
  const end: AppCallEnd = { content, artifact: artifact ?? null, skipped, endedAt: now() }
  let moved = 0
  await retryWhileUnavailable(
    () =>
      database.write(async (tx) => {
        moved = 0
        const locked = await store.appCalls.lockRun(tx, run.id)
        if (locked === undefined || !(await store.appCalls.end(tx, row, end))) return
        if (untrusted) await store.conversations.markTainted(tx, run.conversationId)
        if (locked.endedAt !== null) moved = await store.appCalls.moveToSteps(tx, locked)
      }),
    RETRY_DELAYS_MS,
    () => !state.isClosing,
  )
  if (moved > 0) announceSteps(run, announce)
  if (executionTime !== undefined)
    observe?.({ kind: 'tool_call', tool: row.name, isSuccess: success, seconds: executionTime })
}

const announceSteps = (
  { userId, messageId, conversationId }: RunRow,
  announce: State['announce'],
): void =>
  announce(userId, {
    type: 'message',
    id: messageId,
    change: 'updated',
    conversation_id: conversationId,
  })

/** Stores the request for a decision. Returns its id. */
async function ask(
  state: State,
  run: RunRow,
  row: AppCallRow,
  { call: asked, hash, riskLevel, preview, position }: ApprovalRequest,
): Promise<string> {
  const { store, database, settings, now, notices } = state
  const setting = await store.conversations.findRunSetting(run.userId, run.conversationId)
  if (setting === undefined) throw appError('conversation_not_found')
  const { conversation } = setting
  const createdAt = now()
  const seconds =
    readRunOptions(run.options).approvalDeadline ??
    conversation.approvalDeadline ??
    settings.unattendedDeadline ??
    undefined
  const approval: ApprovalRow = {
    runId: run.id,
    idRef: asked.id,
    id: newId<string>(),
    userId: run.userId,
    position,
    name: asked.name,
    arguments: asked.arguments,
    riskLevel,
    preview: preview ?? null,
    tainted: conversation.tainted,
    byApp: true,
    callHash: hash,
    status: 'pending',
    reason: null,
    decidedArguments: null,
    createdAt,
    deadline: deadlineAfter(createdAt, seconds),
    decidedAt: null,
    decidedBy: null,
    decidedThrough: null,
  }
  await database.write(async (tx) => {
    if ((await store.appCalls.lockRun(tx, run.id)) === undefined) throw appError('run_not_found')
    await store.runs.insertApproval(tx, approval)
    await store.appCalls.wait(tx, row)
    await notices?.approvalRequired(tx, run, {
      id: asked.id,
      name: asked.name,
      riskLevel,
      createdAt,
    })
  })
  announceRequest(run, approval.id, 'created', state)
  tellOf(state, run, approval)
  return approval.id
}

/** Tells the person while the request waits. */
function tellOf(state: State, run: RunRow, approval: ApprovalRow): void {
  if (state.tell === undefined || state.telling.has(approval.id)) return
  const controller = new AbortController()
  state.telling.set(approval.id, controller)
  const { isFollowed } = state
  void tellInTurn(
    { type: 'approval', ...approval },
    {
      run,
      origin: originOfRun(run),
      signal: controller.signal,
      runLog: {
        get pageCount() {
          return isFollowed(run.userId) ? 1 : 0
        },
        onListenersChange(look) {
          const watch = setInterval(() => look(0), LOOK_MS)
          watch.unref()
          return () => clearInterval(watch)
        },
      },
    },
    { ...state, retry: (action) => action() },
  )
}

/** How often it is looked for whether the person has a page open. */
const LOOK_MS = 1_000

function endTelling({ telling }: State, approvalId: string): void {
  telling.get(approvalId)?.abort()
  telling.delete(approvalId)
}

/** Performs what a stored decision says, unless somebody else does. */
async function carryOut(state: State, runId: RunId, idRef: string): Promise<void> {
  const { store, database, now, instance } = state
  const approval = await store.runs.approval(runId, idRef)
  const run = await store.runs.find(runId)
  if (approval === undefined || run === undefined) return
  endTelling(state, approval.id)
  const row = await database.write((tx) =>
    store.appCalls.start(tx, { runId, idRef }, { startedAt: now(), owner: instance }),
  )
  if (row === undefined) return
  const found = await findAppTool(state, run, row)
  await perform(state, run, row, found.kind === 'tool' ? found.tool : null, approval)
}

async function withdraw(state: State, run: RunRow, idRef: string): Promise<void> {
  const { store, database, now } = state
  let settled: SettledRequest[] = []
  await database.write(async (tx) => {
    await store.appCalls.lockRun(tx, run.id)
    settled = await store.runs.withdrawApprovals(tx, run.id, [idRef], now())
    if (settled.length === 0) return
    await noticeSettled(tx, run, settled, state)
    await store.appCalls.remove(tx, { runId: run.id, idRef })
  })
  for (const { id } of settled) endTelling(state, id)
  announceSettled(run, settled, state)
}

/** Marks a request as expired, unless somebody has decided it. */
async function expire(state: State, run: RunRow, approval: ApprovalRow): Promise<void> {
  const { store, database, now } = state
  let settled: SettledRequest | undefined
  await database.write(async (tx) => {
    await store.appCalls.lockRun(tx, run.id)
    settled = await store.runs.decide(tx, approval, {
      status: 'expired',
      decidedAt: now(),
      decidedThrough: 'deadline',
    })
    if (settled !== undefined) await noticeSettled(tx, run, [settled], state)
  })
  if (settled !== undefined) announceSettled(run, [settled], state)
}

/** Carries out what is overdue: deadlines, decisions that nobody carried out, calls whose process died. */
async function sweep(state: State, isStart: boolean): Promise<void> {
  const { store, now, sharing, instance } = state
  for (const { run, idRef, isDeleted } of await store.appCalls.waiting())
    if (isDeleted && !state.isClosing) await withdraw(state, run, idRef)
  if (state.isClosing) return
  const open = await store.appCalls.open()
  const time = now().getTime()
  const waiting = new Set<string>()
  for (const { call: row, approval } of open) {
    if (state.isClosing) return
    const { runId, idRef } = row
    if (state.running.has(idRef)) continue
    const run = await store.runs.find(runId)
    if (run === undefined) continue
    try {
      if (row.startedAt !== null) {
        const isLost =
          time - row.startedAt.getTime() > OVERDUE_MS ||
          (isStart && sharing === undefined && row.owner !== instance)
        if (isLost) await perform(state, run, row, null, 'interrupted')
        continue
      }
      if (approval === null || approval.status === 'void') continue
      if (approval.status === 'pending') {
        const isPast = approval.deadline !== null && approval.deadline.getTime() <= time
        if (!isPast) {
          waiting.add(approval.id)
          if (isStart) tellOf(state, run, approval)
          continue
        }
        await expire(state, run, approval)
        await carryOut(state, runId, idRef)
      } else if (isStart || time - (approval.decidedAt?.getTime() ?? 0) > LEFT_TO_DECIDER_MS)
        await carryOut(state, runId, idRef)
    } catch (error) {
      failed(state, runId, error)
    }
  }
  for (const id of state.telling.keys()) if (!waiting.has(id)) endTelling(state, id)
  if (state.isClosing) return
  for (const run of await store.appCalls.left()) {
    if (state.isClosing) return
    const moved = await state.database.write(async (tx) => {
      const locked = await store.appCalls.lockRun(tx, run.id)
      return locked === undefined || locked.endedAt === null
        ? 0
        : await store.appCalls.moveToSteps(tx, locked)
    })
    if (moved > 0) announceSteps(run, state.announce)
  }
}
