// Runs the tool calls of one run: checks them in order, asks for approval, runs them in parallel and yields the results in order.

import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { LimitFunction } from 'p-limit'
import pLimit from 'p-limit'
import { AppError } from '../errors.ts'
import { linkedController, untilAborted } from '../lib/abort.ts'
import { callHash } from '../lib/call-hash.ts'
import { webAddress } from '../lib/web-addresses.ts'
import type { ToolCall } from '../llm/client.ts'
import type { CallId, RunId } from '../protocol/ids.ts'
import { fieldsOf, parseJson } from '../protocol/read-json.ts'
import type { ApprovalPreview, RiskLevel } from '../protocol/runs/run-event.ts'
import { modelImagesOf } from '../protocol/runs/step.ts'
import type { ToolProgress } from '../protocol/runs/tool-progress.ts'
import type { Approvals, Decision } from './approval.ts'
import {
  markUntrusted,
  type ParsedInput,
  type ToolContext,
  type ToolDefinition,
} from './definition.ts'
import type { LongResultStore } from './long-results.ts'
import type { ToolSet } from './registry.ts'
import type { ProjectState, ResultCache } from './result-cache.ts'
import { runWithinTime, STOPPED, type ToolSafety } from './timed-run.ts'
import {
  type CallResult,
  createCallResult,
  fitResult,
  type ResultMarks,
  type WrittenResult,
  withoutSecrets,
  writeResult,
} from './tool-result.ts'

/** Makes calls and results durable. If either method rejects, the batch ends with that error. */
export interface CallRecorder {
  /**
   * Awaited before a call of a tool that is not `repeatable` or has an app, and before one that a grant lets through: stores
   * that the call has begun, and counts the use of the grant. False if the grant no longer holds: the call must not run.
   */
  begin(call: ToolCall, grantId: string | null): Promise<boolean>
  /** Awaited as each call settles, in any order, before its result is yielded. Also called for aborted calls. */
  settled(result: CallResult): Promise<void>
}

/** What the executor needs from the run and from the iteration whose calls it runs. */
export interface ExecuteOptions {
  signal: AbortSignal
  context: Omit<ToolContext, 'callId' | 'signal' | 'progress'>
  progress(callId: CallId, progress: ToolProgress): void
  approvals: Approvals
  recorder: CallRecorder
  /** Calls that had begun when the server stopped and are not safe to repeat. They fail without running. */
  interrupted?: ReadonlySet<CallId>
}

/** Runs the tool calls of one run: checks them, requests approval, runs them in parallel and orders the results. */
interface ToolExecutor {
  /** Yields one result for each call, in the order of the calls. Leaving the loop early aborts calls that still run. */
  execute(calls: readonly ToolCall[], options: ExecuteOptions): AsyncIterable<CallResult>
}

/** The dependencies of a run's executor. */
export interface ExecutorDependencies {
  tools: ToolSet
  cache: ResultCache
  results: LongResultStore
  safety: ToolSafety
  /** Maximum number of calls of an iteration that run in parallel. */
  maxWorkers: number
  /** Names of the tools that this run may use; by default, all of `tools`. */
  allowedTools?: ReadonlySet<string>
}

/** After this time, approval is requested without a preview. */
const PREVIEW_TIMEOUT_MS = 10_000

/** What a person learns about a call that waits because of its addresses. */
const warningOf = (addresses: readonly string[]): ApprovalPreview => ({
  warning:
    'Nobody has named these addresses in this conversation, which holds text from outside. That text may have made them up to send data out.',
  warning_code: 'new_address',
  addresses: [...addresses],
})

const INTERRUPTED =
  'The server was interrupted while this call ran. The call may or may not have taken effect and was not run again. Check the current state before you repeat it.'

const TOO_DEEP =
  'Invalid arguments: nested so deeply that nobody can read them before approving the call.'

/** The categories of tools whose results depend on the project. */
const READS_FILES: ReadonlySet<string> = new Set(['file', 'knowledge'])

/** When a call may run: after earlier ones with its key, unless both may share it. */
interface Order {
  key: string
  isShared: boolean
}

const orderOf = ({ orderKey, isOrderShared }: ParsedInput): Order | null =>
  orderKey === null ? null : { key: orderKey, isShared: isOrderShared === true }

const mustWait = (mine: Order, other: Order | null | undefined): boolean =>
  other?.key === mine.key && !(mine.isShared && other.isShared)

/** What a run's executor remembers. */
interface Executor {
  readonly dependencies: ExecutorDependencies
  /** Limits the calls that run in parallel. */
  readonly slot: LimitFunction
  /** Successful results of cacheable tools in this run, with the project state in which they were read. */
  readonly history: Map<string, { result: WrittenResult; state: ProjectState }>
}

/** The calls of one iteration. */
interface Batch extends Executor {
  readonly calls: readonly ToolCall[]
  readonly options: ExecuteOptions
  /** Aborts when the run stops, and when nobody waits for the results any more. */
  readonly signal: AbortSignal
  readonly prepared: readonly PreparedCall[]
  /** Of each call; an approval may change the arguments, and with them the order. */
  readonly orders: (Order | null)[]
  /** Of the calls that were begun, in their order. */
  readonly results: Promise<CallResult>[]
  readonly running: Map<Order, Promise<unknown>>
}

/** Create one for each run and each sub-agent: it remembers the calls. */
export function createToolExecutor(dependencies: ExecutorDependencies): ToolExecutor {
  const executor: Executor = {
    dependencies,
    slot: pLimit(dependencies.maxWorkers),
    history: new Map(),
  }
  return { execute: (calls, options) => execute(executor, calls, options) }
}

async function* execute(
  executor: Executor,
  calls: readonly ToolCall[],
  options: ExecuteOptions,
): AsyncGenerator<CallResult> {
  const { dependencies } = executor
  const { controller, release } = linkedController(options.signal)
  const prepared = prepareCalls(calls, options.context.runId, dependencies)
  const batch: Batch = {
    ...executor,
    calls,
    options,
    signal: controller.signal,
    prepared,
    orders: prepared.map((one) => (one.kind === 'call' ? orderOf(one.input) : null)),
    results: [],
    running: new Map(),
  }
  try {
    for (const [position, call] of calls.entries()) {
      const task = runCall(batch, call, position).then(async (result) => {
        const settled = withoutSecrets(result, dependencies.safety.redact)
        await options.recorder.settled(settled)
        return settled
      })
      // The loop below handles a rejection. Until then, it must not count as unhandled.
      task.catch(() => undefined)
      batch.results.push(task)
    }
    for (const task of batch.results) yield await task
  } finally {
    controller.abort(new Error('No longer wanted'))
    release()
    await Promise.allSettled(batch.results)
  }
}

const refused = (call: ToolCall, error: string, marks: ResultMarks = {}): CallResult =>
  createCallResult(call, { success: false, error }, marks)

async function runCall(batch: Batch, call: ToolCall, position: number): Promise<CallResult> {
  const { options, calls, results, orders } = batch
  const one = batch.prepared[position]
  if (one === undefined || one.kind === 'fault') return refused(call, one?.error ?? STOPPED)
  if (options.interrupted?.has(call.id)) return refused(call, INTERRUPTED)
  if (one.firstAt !== undefined) {
    const first = await results[one.firstAt]
    const duplicateOf = calls[one.firstAt]?.id
    if (first?.success && duplicateOf !== undefined)
      return createCallResult(call, { success: true, data: 'null' }, { cached: true, duplicateOf })
  }
  for (;;) {
    const asked = await askForApproval(batch, call, one, position)
    if ('refusal' in asked) return asked.refusal
    if (asked.isApproved) orders[position] = orderOf(asked.input)
    const result = await inTurn(batch, position, () => once(batch, call, one.tool, asked))
    if (result !== 'not_granted') return result
  }
}

/** What may run: the call as the model made it, or as a person has approved it. */
interface PermittedCall {
  input: ParsedInput
  key: string | null
  marks: ResultMarks
  /** Whether a person approved it. */
  isApproved: boolean
  /** The grant that covers it; null if it needs none. */
  grantId: string | null
}

/** Requests approval if the call needs one. Returns what may run, or the result of a call that may not. */
async function askForApproval(
  batch: Batch,
  call: ToolCall,
  { tool, input, key }: Extract<PreparedCall, { kind: 'call' }>,
  position: number,
): Promise<PermittedCall | { refusal: CallResult }> {
  const { approvals, context } = batch.options
  const newAddresses = await newAddressesOf(approvals, input)
  const riskLevel = newAddresses.length > 0 ? 'medium' : input.riskLevel
  const free = { input, key, marks: {}, isApproved: false, grantId: null }
  const { value, asksAlways } = input
  const permission = await approvals.permissionFor({ tool, value, riskLevel, asksAlways })
  if (permission.kind === 'free') return free
  if (permission.kind === 'granted') return { ...free, grantId: permission.grantId }
  if (approvals.refusal !== undefined)
    return { refusal: refused(call, approvals.refusal, { skipped: true }) }
  const decision = await decide(batch, call, { input, riskLevel, newAddresses }, position)
  if (decision === 'stopped') return { refusal: refused(call, STOPPED) }
  if (decision.decision === 'impossible') return { refusal: refused(call, decision.error) }
  if (decision.decision === 'expire') {
    const error = `Nobody decided by ${decision.deadline.toISOString()}, so this call did not run.`
    return { refusal: refused(call, error, { skipped: true }) }
  }
  if (decision.decision === 'reject') {
    const reason = decision.reason?.trim() ? `: ${decision.reason.trim()}` : '.'
    return { refusal: refused(call, `The user rejected this call${reason}`, { skipped: true }) }
  }
  if (decision.arguments === undefined) return { ...free, isApproved: true }
  const of = { runId: context.runId, callId: call.id }
  const approved = readInput(tool, decision.arguments, of, batch.dependencies.safety)
  if (approved.kind === 'fault') {
    const error = `The arguments that the user approved are invalid. ${approved.error}`
    return { refusal: refused(call, error) }
  }
  const marks = {
    approvedArguments: JSON.stringify(approved.input.value),
    changedByUser: differingArguments(input.value, approved.input.value),
  }
  return {
    input: approved.input,
    key: approved.key,
    marks,
    isApproved: true,
    grantId: null,
  }
}

/** The names of the arguments in which two calls of a tool differ. */
const differingArguments = (
  one: ParsedInput['value'],
  other: ParsedInput['value'],
): readonly string[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
    (name) => !isDeepStrictEqual(one[name], other[name]),
  )

/** Addresses that raise a low risk: text from outside may have made them up to send data out. */
async function newAddressesOf(
  approvals: Approvals,
  { addresses, riskLevel }: ParsedInput,
): Promise<readonly string[]> {
  // What is no address here may still be one for the tool. As nothing can name it, it is new.
  const given = addresses.map((address) => webAddress(address) ?? address)
  return riskLevel === 'low' && given.length > 0 ? await approvals.newAddresses(given) : []
}

/** Requests approval, except for a call whose preview shows that it cannot succeed. */
async function decide(
  batch: Batch,
  call: ToolCall,
  {
    input,
    riskLevel,
    newAddresses,
  }: { input: ParsedInput; riskLevel: RiskLevel; newAddresses: readonly string[] },
  position: number,
): Promise<Decision | 'stopped' | { decision: 'impossible'; error: string }> {
  const { signal } = batch
  const hash = hashOf(call, batch.options.context.runId)
  if (hash === null) return { decision: 'impossible', error: TOO_DEEP }
  let preview: ApprovalPreview | undefined
  try {
    preview = await previewOf(batch, call, input, position)
  } catch (error) {
    if (signal.aborted) return 'stopped'
    if (error instanceof AppError) return { decision: 'impossible', error: error.message }
    // The preview failed unexpectedly. The person decides without one.
    preview = { display: 'No preview is available.', display_code: 'none' }
  }
  try {
    const shown =
      newAddresses.length > 0
        ? { preview: { ...preview, ...warningOf(newAddresses) } }
        : preview === undefined
          ? {}
          : { preview }
    const request = { call, hash, riskLevel, position, ...shown }
    return await untilAborted(batch.options.approvals.request(request), signal)
  } catch (error) {
    if (signal.aborted) return 'stopped'
    throw error
  }
}

/** The hash of a call as a person sees it; null if its arguments are nested too deeply. */
function hashOf({ id, name, arguments: text }: ToolCall, runId: RunId): string | null {
  try {
    return callHash({ run_id: runId, id_ref: id, name, arguments: fieldsOf(parseJson(text)) })
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

async function previewOf(
  { options, signal, results, prepared }: Batch,
  call: ToolCall,
  input: ParsedInput,
  position: number,
): Promise<ApprovalPreview | undefined> {
  const context = { ...options.context, callId: call.id, signal, progress: () => {} }
  const look = (): Promise<ApprovalPreview | undefined> => {
    const looked = new AbortController()
    return untilAborted(
      Promise.race([
        input.preview(context),
        wait(PREVIEW_TIMEOUT_MS, undefined, { ref: false, signal: looked.signal }),
      ]),
      signal,
    ).finally(() => looked.abort())
  }
  try {
    return await look()
  } catch (error) {
    // The preview may depend on a change that an earlier call of the batch will make.
    const changes = results.slice(0, position).filter((_result, at) => {
      const earlier = prepared[at]
      return earlier?.kind === 'call' && earlier.tool.changesProject
    })
    if (signal.aborted || changes.length === 0) throw error
    await untilAborted(Promise.all(changes), signal)
    return await look()
  }
}

/** Calls with the same order key run one at a time, in the order of the calls, unless they may share it. */
async function inTurn<T>(
  { orders, results, running }: Batch,
  position: number,
  work: () => Promise<T>,
): Promise<T> {
  const mine = orders[position] ?? null
  if (mine === null) return work()
  for (let before = 0; before < position; before++)
    if (mustWait(mine, orders[before])) await results[before]
  for (;;) {
    const other = [...running.keys()].find((one) => mustWait(mine, one))
    if (other === undefined) break
    await running.get(other)
  }
  const done = work().finally(() => running.delete(mine))
  running.set(
    mine,
    done.catch(() => undefined),
  )
  return done
}

/**
 * Returns the result from the run's history or the cache; otherwise runs the tool when a slot is free. `not_granted`: the grant
 * that covered the call no longer holds, and nothing was done.
 */
async function once(
  batch: Batch,
  call: ToolCall,
  tool: ToolDefinition,
  { input, key: given, marks, isApproved, grantId }: PermittedCall,
): Promise<CallResult | 'not_granted'> {
  const { options, signal } = batch
  const isFree = !isApproved && grantId === null
  const redirects = isFree ? { allowsRedirect: options.approvals.allowsRedirect } : {}
  const { context } = options
  const { cache, results: keeper, safety } = batch.dependencies
  // Another call may make the first file meanwhile, so what is read without any is not reused.
  const key = context.projectId === null && READS_FILES.has(tool.category) ? null : given
  const state = key === null ? null : await cache.projectState(context.projectId)
  if (key !== null) {
    const known = await recall(batch, key, state)
    if (known !== undefined) {
      if (grantId !== null && !(await options.recorder.begin(call, grantId))) return 'not_granted'
      if (known.artifact !== undefined) tool.recall?.(known.artifact, context.runId)
      return createCallResult(call, known, { ...marks, cached: true })
    }
  }
  return batch.slot(async () => {
    if (signal.aborted) return refused(call, STOPPED, marks)
    // From then on, the app may call tools.
    const mustBegin = !tool.repeatable || tool.app !== undefined || grantId !== null
    if (mustBegin && !(await options.recorder.begin(call, grantId))) return 'not_granted'
    const startedAt = performance.now()
    const live = {
      ...context,
      ...redirects,
      callId: call.id,
      progress: (progress: ToolProgress) => options.progress(call.id, progress),
    }
    const outcome = await runWithinTime(input, tool, signal, live, safety)
    const executionTime = (performance.now() - startedAt) / 1000
    // Even a failed call may have changed files.
    if (tool.changesProject && context.projectId !== null) cache.dropProject(context.projectId)
    const written = writeResult(markUntrusted(outcome, tool.untrusted))
    const result = await fitResult(written, keeper, context)
    if (key !== null && written.success) {
      const { userId, projectId } = context
      cache.set({ userId, projectId, key }, written, state)
      batch.history.set(key, { result, state })
    }
    return createCallResult(call, result, { ...marks, executionTime })
  })
}

async function recall(
  { options: { context }, dependencies: { cache, results: keeper }, history }: Batch,
  key: string,
  state: ProjectState,
): Promise<WrittenResult | undefined> {
  const { userId, projectId } = context
  const earlier = history.get(key)
  if (state !== null && earlier?.state === state) return earlier.result
  const cached = await cache.get({ userId, projectId, key }, state)
  if (cached === undefined) return undefined
  const images = modelImagesOf(cached.artifact)
  const shown = images.length === 0 ? cached : { ...cached, images }
  const result = await fitResult({ success: true, ...shown }, keeper, context)
  history.set(key, { result, state })
  return result
}

// Checks the calls of an iteration before any of them runs: finds the tools, checks the arguments, marks repeated calls.

/** A call that can run, or the error that its result reports. */
type PreparedCall =
  | { kind: 'fault'; error: string }
  /** `key` is null for a tool whose results are never reused. `firstAt` is the position of an identical earlier call. */
  | { kind: 'call'; tool: ToolDefinition; input: ParsedInput; key: string | null; firstAt?: number }

type Dependencies = Pick<ExecutorDependencies, 'tools' | 'safety' | 'allowedTools'>

/** Prepares all calls. A call is marked as a repetition if no file changed since an identical earlier one. */
function prepareCalls(
  calls: readonly ToolCall[],
  runId: RunId,
  dependencies: Dependencies,
): PreparedCall[] {
  const seen = new Map<string, number>()
  return calls.map((call, position) => {
    const prepared = prepareCall(call, runId, dependencies)
    if (prepared.kind === 'fault') return prepared
    if (prepared.tool.changesProject) seen.clear()
    if (prepared.key === null) return prepared
    const firstAt = seen.get(prepared.key)
    if (firstAt !== undefined) return { ...prepared, firstAt }
    seen.set(prepared.key, position)
    return prepared
  })
}

function prepareCall(call: ToolCall, runId: RunId, dependencies: Dependencies): PreparedCall {
  const { tools, safety, allowedTools } = dependencies
  const isAllowed = (tool: ToolDefinition): boolean => allowedTools?.has(tool.name) ?? true
  const tool = tools.get(call.name)
  return tool === undefined || !isAllowed(tool)
    ? { kind: 'fault', error: unknownTool(call.name, tools, isAllowed) }
    : readInput(tool, call.arguments, { runId, callId: call.id }, safety)
}

/** The arguments, checked by their tool. */
function readInput(
  tool: ToolDefinition,
  text: string,
  of: { runId: RunId; callId: CallId },
  safety: ToolSafety,
): PreparedCall {
  try {
    const parsed = tool.parse(text)
    if (!parsed.ok) return { kind: 'fault', error: parsed.error }
    const key = tool.cacheable ? callKey(tool.name, parsed.input.value) : null
    return { kind: 'call', tool, input: parsed.input, key }
  } catch (error) {
    if (error instanceof AppError) return { kind: 'fault', error: error.message }
    safety.onFault(error, { tool: tool.name, ...of })
    return { kind: 'fault', error: 'Invalid arguments: the tool could not parse them.' }
  }
}

function unknownTool(
  name: string,
  tools: ToolSet,
  isAllowed: (tool: ToolDefinition) => boolean,
): string {
  const closest = tools.closest(name, isAllowed)
  const names =
    closest.length > 0
      ? closest
      : tools
          .list()
          .filter(isAllowed)
          .map((tool) => tool.name)
  const hint = closest.length > 0 ? 'Did you mean' : 'Available tools'
  const rest =
    names.length === 0 ? 'No tools are available.' : `${hint}: ${names.slice(0, 30).join(', ')}`
  return `There is no tool named "${name.slice(0, 100)}". ${rest}`
}

/** The identity of a call: equal for the same tool and equal values, whatever the order of the object's keys. */
const callKey = (tool: string, value: Record<string, unknown>): string =>
  createHash('sha256')
    .update(tool)
    .update('\0')
    .update(JSON.stringify(value, sortKeys))
    .digest('base64url')

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)),
  )
}
