// Runs the tool calls of one run: checks them in order, asks for approval, runs them in parallel and yields the results in order.
import { setTimeout as wait } from 'node:timers/promises'
import pLimit from 'p-limit'
import { AppError } from '../errors.ts'
import { linkedController, untilAborted } from '../lib/abort.ts'
import type { ToolCall } from '../llm/client.ts'
import type { CallId, RunId } from '../protocol/ids.ts'
import type { ApprovalPreview, RiskLevel } from '../protocol/run-event.ts'
import type { ToolProgress } from '../protocol/tool-progress.ts'
import { callKey } from './call-key.ts'
import {
  markUntrusted,
  type ParsedInput,
  type ToolContext,
  type ToolDefinition,
} from './definition.ts'
import type { ResultKeeper } from './long-results.ts'
import type { ToolSet } from './registry.ts'
import type { ResultCache } from './result-cache.ts'
import { runWithinTime, STOPPED, type ToolSafety } from './timed-run.ts'
import {
  type AnswerMarks,
  fitResult,
  makeAnswer,
  type ToolAnswer,
  type WrittenResult,
  withoutSecrets,
  writeResult,
} from './tool-result.ts'

export type Decision =
  /** `arguments`: JSON text that takes the place of the model's. */
  { decision: 'approve'; arguments?: string } | { decision: 'reject'; reason?: string }

/** What the executor needs from its caller. A rejection of any of these ends the batch with that error. */
export interface ExecutorHooks {
  /** Whether this call needs approval; `name` is the tool's own, never an alias; `riskLevel` is that of this call. */
  needsApproval(tool: { name: string; riskLevel: RiskLevel }): boolean
  /** Requests approval. Resolves when decided; rejects only when the run is aborted. */
  ask(question: {
    call: ToolCall
    riskLevel: RiskLevel
    preview?: ApprovalPreview
  }): Promise<Decision>
  /** Awaited before a call of a tool that is not `repeatable`: stores durably that the call has begun. */
  begin(call: ToolCall): Promise<void>
  /** Awaited as each call settles, which may be out of order, before it is yielded. Also called for aborted calls. */
  settled(position: number, answer: ToolAnswer): Promise<void>
}

export interface ExecuteOptions {
  signal: AbortSignal
  context: Omit<ToolContext, 'callId' | 'signal' | 'progress'>
  progress(callId: CallId, progress: ToolProgress): void
  hooks: ExecutorHooks
  /** Calls that had begun when the server died and are not safe to repeat: they fail without running. */
  interrupted?: ReadonlySet<CallId>
}

export interface ToolExecutor {
  /** One result for each call, in the order of the calls. Leaving the loop early aborts what still runs. */
  execute(calls: readonly ToolCall[], options: ExecuteOptions): AsyncIterable<ToolAnswer>
}

export interface ExecutorParts {
  tools: ToolSet
  cache: ResultCache
  results: ResultKeeper
  safety: ToolSafety
  /** Calls of one iteration that run in parallel. */
  maxWorkers: number
  /** Names of the tools that this run may use; default: all of `tools`. */
  allowedTools?: ReadonlySet<string>
}

/** After this time approval is requested without a preview. */
const LONGEST_PREVIEW_MS = 10_000

const INTERRUPTED =
  'The server was interrupted while this call ran. The call may or may not have taken effect and was not run again. Check the current state before you repeat it.'

type Prepared =
  | { kind: 'fault'; error: string }
  /** `key` is null for a tool whose results are never reused; `firstAt` is the position of an identical earlier call. */
  | { kind: 'call'; tool: ToolDefinition; input: ParsedInput; key: string | null; firstAt?: number }

/** One for each run (and each sub-agent): it remembers the run's calls. */
export function createToolExecutor(parts: ExecutorParts): ToolExecutor {
  const { tools, cache, results } = parts
  const slot = pLimit(parts.maxWorkers)
  /** Successful results of cacheable tools in this run, with the project state they were read in. */
  const history = new Map<string, { result: WrittenResult; state: number }>()
  const allowed = (tool: ToolDefinition): boolean => parts.allowedTools?.has(tool.name) ?? true

  function check(call: ToolCall, runId: RunId): Prepared {
    const tool = tools.get(call.name)
    if (tool === undefined || !allowed(tool)) return { kind: 'fault', error: unknown(call.name) }
    return read(tool, call.arguments, { runId, callId: call.id })
  }

  function read(
    tool: ToolDefinition,
    text: string,
    of: { runId: RunId; callId: CallId },
  ): Prepared {
    try {
      const parsed = tool.parse(text)
      if (!parsed.ok) return { kind: 'fault', error: parsed.error }
      const key = tool.cacheable ? callKey(tool.name, parsed.input.value) : null
      return { kind: 'call', tool, input: parsed.input, key }
    } catch (error) {
      if (error instanceof AppError) return { kind: 'fault', error: error.message }
      parts.safety.onFault(error, { tool: tool.name, ...of })
      return { kind: 'fault', error: 'Invalid arguments: the tool could not read them.' }
    }
  }

  function unknown(name: string): string {
    const closest = tools.closest(name, allowed)
    const names =
      closest.length > 0
        ? closest
        : tools
            .list()
            .filter(allowed)
            .map((t) => t.name)
    const hint = closest.length > 0 ? 'Did you mean' : 'Available tools'
    return `There is no tool named "${name.slice(0, 100)}". ${hint}: ${names.slice(0, 30).join(', ')}`
  }

  /** Checks all calls, and finds those that repeat an earlier one of the batch with no change of files in between. */
  function prepare(calls: readonly ToolCall[], runId: RunId): Prepared[] {
    const seen = new Map<string, number>()
    return calls.map((call, position) => {
      const prepared = check(call, runId)
      if (prepared.kind === 'fault') return prepared
      if (prepared.tool.changesProject) seen.clear()
      if (prepared.key === null) return prepared
      const firstAt = seen.get(prepared.key)
      if (firstAt !== undefined) return { ...prepared, firstAt }
      seen.set(prepared.key, position)
      return prepared
    })
  }

  async function* execute(
    calls: readonly ToolCall[],
    options: ExecuteOptions,
  ): AsyncGenerator<ToolAnswer> {
    const { context, hooks } = options
    const { controller, release } = linkedController(options.signal)
    const { signal } = controller
    const prepared = prepare(calls, context.runId)
    const orderKeys = prepared.map((one) => (one.kind === 'call' ? one.input.orderKey : null))
    const answers: Promise<ToolAnswer>[] = []
    const running = new Map<string, Promise<unknown>>()

    const refused = (call: ToolCall, error: string, marks: AnswerMarks = {}): ToolAnswer =>
      makeAnswer(call, { success: false, error }, marks)

    async function carryOut(call: ToolCall, position: number): Promise<ToolAnswer> {
      const one = prepared[position]
      if (one === undefined || one.kind === 'fault') return refused(call, one?.error ?? STOPPED)
      if (options.interrupted?.has(call.id)) return refused(call, INTERRUPTED)
      if (one.firstAt !== undefined) {
        const first = await answers[one.firstAt]
        const duplicateOf = calls[one.firstAt]?.id
        if (first?.success && duplicateOf !== undefined)
          return makeAnswer(call, { success: true, data: 'null' }, { cached: true, duplicateOf })
      }
      let { input, key } = one
      let approvedArguments: string | undefined
      if (hooks.needsApproval({ name: one.tool.name, riskLevel: input.riskLevel })) {
        const decision = await decide(call, input, position)
        if (decision === 'stopped') return refused(call, STOPPED)
        if (decision.decision === 'impossible') return refused(call, decision.error)
        if (decision.decision === 'reject') {
          const reason = decision.reason?.trim() ? `: ${decision.reason.trim()}` : '.'
          return refused(call, `The user rejected this call${reason}`, { skipped: true })
        }
        if (decision.arguments !== undefined) {
          const approved = read(one.tool, decision.arguments, {
            runId: context.runId,
            callId: call.id,
          })
          if (approved.kind === 'fault')
            return refused(
              call,
              `The arguments that the user approved are invalid. ${approved.error}`,
            )
          ;({ input, key } = approved)
          approvedArguments = JSON.stringify(input.value)
          orderKeys[position] = input.orderKey
        }
      }
      const marks = approvedArguments === undefined ? {} : { approvedArguments }
      return inTurn(position, () => once(call, one.tool, input, key, marks))
    }

    /** Requests approval, except for a call whose preview shows that it cannot succeed. */
    async function decide(
      call: ToolCall,
      input: ParsedInput,
      position: number,
    ): Promise<Decision | 'stopped' | { decision: 'impossible'; error: string }> {
      let preview: ApprovalPreview | undefined
      try {
        preview = await previewOf(call, input, position)
      } catch (error) {
        if (signal.aborted) return 'stopped'
        if (error instanceof AppError) return { decision: 'impossible', error: error.message }
        // An unexpected failure of the preview: the person decides without one.
        preview = { display: 'No preview is available.', display_code: 'none' }
      }
      try {
        const shown = preview === undefined ? {} : { preview }
        const question = { call, riskLevel: input.riskLevel, ...shown }
        return await untilAborted(hooks.ask(question), signal)
      } catch (error) {
        if (signal.aborted) return 'stopped'
        throw error
      }
    }

    async function previewOf(
      call: ToolCall,
      input: ParsedInput,
      position: number,
    ): Promise<ApprovalPreview | undefined> {
      const questionContext = { ...context, callId: call.id, signal, progress: () => {} }
      const look = (): Promise<ApprovalPreview | undefined> => {
        const looked = new AbortController()
        return untilAborted(
          Promise.race([
            input.preview(questionContext),
            wait(LONGEST_PREVIEW_MS, undefined, { ref: false, signal: looked.signal }),
          ]),
          signal,
        ).finally(() => looked.abort())
      }
      try {
        return await look()
      } catch (error) {
        // What is missing may be what an earlier call of the batch is about to create.
        const changes = answers.slice(0, position).filter((_answer, at) => {
          const earlier = prepared[at]
          return earlier?.kind === 'call' && earlier.tool.changesProject
        })
        if (signal.aborted || changes.length === 0) throw error
        await untilAborted(Promise.all(changes), signal)
        return await look()
      }
    }

    /** Calls with the same order key run one at a time, in the order of the calls. */
    async function inTurn<T>(position: number, work: () => Promise<T>): Promise<T> {
      const key = orderKeys[position] ?? null
      if (key === null) return work()
      for (let before = 0; before < position; before++)
        if (orderKeys[before] === key) await answers[before]
      while (running.has(key)) await running.get(key)
      const mine = work().finally(() => running.delete(key))
      running.set(
        key,
        mine.catch(() => undefined),
      )
      return mine
    }

    /** The result from the run's history or the cache; otherwise runs the tool when a slot is free. */
    async function once(
      call: ToolCall,
      tool: ToolDefinition,
      input: ParsedInput,
      key: string | null,
      marks: AnswerMarks,
    ): Promise<ToolAnswer> {
      if (key !== null) {
        const known = await recall(key)
        if (known !== undefined) {
          if (known.artifact !== undefined) tool.recall?.(known.artifact, context.runId)
          return makeAnswer(call, known, { ...marks, cached: true })
        }
      }
      return slot(async () => {
        if (signal.aborted) return refused(call, STOPPED, marks)
        if (!tool.repeatable) await hooks.begin(call)
        const state = cache.projectState(context.projectId)
        const startedAt = performance.now()
        const live = {
          ...context,
          callId: call.id,
          progress: (progress: ToolProgress) => options.progress(call.id, progress),
        }
        const outcome = await runWithinTime(input, tool, signal, live, parts.safety)
        const executionTime = (performance.now() - startedAt) / 1000
        // A change that failed halfway is a change, too.
        if (tool.changesProject && context.projectId !== null) cache.dropProject(context.projectId)
        const written = writeResult(markUntrusted(outcome, tool.untrusted))
        const result = await fitResult(written, results, context)
        if (key !== null && written.success) {
          const { userId, projectId } = context
          cache.set({ userId, projectId, key }, written, state)
          history.set(key, { result, state })
        }
        return makeAnswer(call, result, { ...marks, executionTime })
      })
    }

    async function recall(key: string): Promise<WrittenResult | undefined> {
      const { userId, projectId } = context
      const state = cache.projectState(projectId)
      const earlier = history.get(key)
      if (earlier?.state === state) return earlier.result
      const cached = cache.get({ userId, projectId, key })
      if (cached === undefined) return undefined
      const result = await fitResult({ success: true, ...cached }, results, context)
      history.set(key, { result, state })
      return result
    }

    try {
      for (const [position, call] of calls.entries()) {
        const task = carryOut(call, position).then(async (answer) => {
          const settled = withoutSecrets(answer, parts.safety.redact)
          await hooks.settled(position, settled)
          return settled
        })
        // Handled by the loop below; until then a rejection must not count as unhandled.
        task.catch(() => undefined)
        answers.push(task)
      }
      for (const task of answers) yield await task
    } finally {
      controller.abort(new Error('No longer wanted'))
      release()
      await Promise.allSettled(answers)
    }
  }

  return { execute }
}
