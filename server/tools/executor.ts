// Carries out the tool calls of one run: checked in order, asked about and run side by side, answered in order.
import { setTimeout as wait } from 'node:timers/promises'
import pLimit from 'p-limit'
import { errorText } from '../errors.ts'
import { linkedController, untilAborted } from '../lib/abort.ts'
import type { ToolCall } from '../llm/client.ts'
import type { CallId } from '../protocol/ids.ts'
import type { ApprovalPreview, RiskLevel } from '../protocol/run-event.ts'
import {
  type AnswerMarks,
  fitResult,
  makeAnswer,
  type ToolAnswer,
  type WrittenResult,
  writeResult,
} from './answer.ts'
import { callKey } from './call-key.ts'
import type { ParsedInput, ToolContext, ToolDefinition } from './definition.ts'
import type { ResultKeeper } from './long-results.ts'
import type { ToolRegistry } from './registry.ts'
import type { ResultCache } from './result-cache.ts'
import { runWithinTime, STOPPED } from './timed-run.ts'

export type Decision =
  /** `arguments`: JSON text that takes the place of the model's. */
  { decision: 'approve'; arguments?: string } | { decision: 'reject'; reason?: string }

/** What the executor asks of the one who runs it. A rejection of any of these ends the batch with that error. */
export interface ExecutorHooks {
  /** Whether a person has to be asked; `name` is the tool's own, `riskLevel` that of this very call. */
  needsApproval(tool: { name: string; riskLevel: RiskLevel }): boolean
  /** Asks a person. Resolves when decided; rejects only when the run is aborted. */
  ask(question: {
    call: ToolCall
    riskLevel: RiskLevel
    preview?: ApprovalPreview
  }): Promise<Decision>
  /** Awaited right before a call runs whose tool is not `repeatable`: the durable mark that it has begun. */
  begin(call: ToolCall): Promise<void>
  /** Awaited as each call settles, which may be out of order, before it is yielded. Also called for aborted calls. */
  settled(position: number, answer: ToolAnswer): Promise<void>
}

export interface ExecuteOptions {
  signal: AbortSignal
  context: Omit<ToolContext, 'callId' | 'signal' | 'progress'>
  progress(callId: CallId, value: Parameters<ToolContext['progress']>[0]): void
  hooks: ExecutorHooks
  /** Calls that had begun when the server died and are not safe to repeat: answered without running. */
  interrupted?: ReadonlySet<CallId>
}

export interface ToolExecutor {
  /** One answer for each call, in the order of the calls. Leaving the loop early aborts what still runs. */
  execute(calls: readonly ToolCall[], options: ExecuteOptions): AsyncIterable<ToolAnswer>
}

export interface ExecutorParts {
  registry: ToolRegistry
  cache: ResultCache
  results: ResultKeeper
  /** Calls of one round that run at once. */
  maxWorkers: number
  /** Names of the only tools that this run may use; all of the registry when left out. */
  allowedTools?: ReadonlySet<string>
}

/** Then the question is asked without. */
const LONGEST_PREVIEW_MS = 10_000

const INTERRUPTED =
  'The server was interrupted while this call ran. It may or may not have had its effect, and it was not run again. Check the state before you repeat it.'

type Prepared =
  | { kind: 'fault'; error: string }
  /** `key` is null for a tool whose answers are never given again; `firstAt` is the place of the same call before. */
  | { kind: 'call'; tool: ToolDefinition; input: ParsedInput; key: string | null; firstAt?: number }

/** One for each run (and each sub-agent): it remembers the run's calls. */
export function createToolExecutor(parts: ExecutorParts): ToolExecutor {
  const { registry, cache, results } = parts
  const slot = pLimit(parts.maxWorkers)
  /** Successful answers of cacheable tools in this run, with the state of the project that they were read in. */
  const history = new Map<string, { result: WrittenResult; state: number }>()
  const allowed = (tool: ToolDefinition): boolean => parts.allowedTools?.has(tool.name) ?? true

  function check(call: ToolCall): Prepared {
    const tool = registry.get(call.name)
    if (tool === undefined || !allowed(tool)) return { kind: 'fault', error: unknown(call.name) }
    return read(tool, call.arguments)
  }

  function read(tool: ToolDefinition, text: string): Prepared {
    try {
      const parsed = tool.parse(text)
      if (!parsed.ok) return { kind: 'fault', error: parsed.error }
      const key = tool.cacheable ? callKey(tool.name, parsed.input.value) : null
      return { kind: 'call', tool, input: parsed.input, key }
    } catch (error) {
      return { kind: 'fault', error: `Invalid arguments: ${errorText(error)}` }
    }
  }

  function unknown(name: string): string {
    const closest = registry.closest(name, allowed)
    const names =
      closest.length > 0
        ? closest
        : registry
            .list()
            .filter(allowed)
            .map((t) => t.name)
    const hint = closest.length > 0 ? 'Did you mean' : 'Available tools'
    return `There is no tool named "${name.slice(0, 100)}". ${hint}: ${names.slice(0, 30).join(', ')}`
  }

  /** Checks all calls, and finds those that repeat an earlier one of the batch with no change of files in between. */
  function prepare(calls: readonly ToolCall[]): Prepared[] {
    const seen = new Map<string, number>()
    return calls.map((call, position) => {
      const prepared = check(call)
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
    const prepared = prepare(calls)
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
        const decision = await decide(call, input)
        if (decision === 'stopped') return refused(call, STOPPED)
        if (decision.decision === 'reject') {
          const reason = decision.reason?.trim() ? `: ${decision.reason.trim()}` : '.'
          return refused(call, `The user rejected this call${reason}`, { skipped: true })
        }
        if (decision.arguments !== undefined) {
          const approved = read(one.tool, decision.arguments)
          if (approved.kind === 'fault')
            return refused(
              call,
              `The arguments that the user approved do not fit. ${approved.error}`,
            )
          ;({ input, key } = approved)
          approvedArguments = JSON.stringify(input.value)
          orderKeys[position] = input.orderKey
        }
      }
      const marks = approvedArguments === undefined ? {} : { approvedArguments }
      return inTurn(position, () => once(call, one.tool, input, key, marks))
    }

    async function decide(call: ToolCall, input: ParsedInput): Promise<Decision | 'stopped'> {
      const questionContext = { ...context, callId: call.id, signal, progress: () => {} }
      const previewed = new AbortController()
      try {
        const preview = await untilAborted(
          Promise.race([
            input.preview(questionContext),
            wait(LONGEST_PREVIEW_MS, undefined, { ref: false, signal: previewed.signal }),
          ]),
          signal,
        ).finally(() => previewed.abort())
        const shown = preview === undefined ? {} : { preview }
        const question = { call, riskLevel: input.riskLevel, ...shown }
        return await untilAborted(hooks.ask(question), signal)
      } catch (error) {
        if (signal.aborted) return 'stopped'
        throw error
      }
    }

    /** Calls with the same order key run one at a time, those that the model named first go first. */
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

    /** Answers from the run's history or the cache, else runs the tool when a worker is free. */
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
          return makeAnswer(call, known, { ...marks, cached: true }, tool.untrusted)
        }
      }
      return slot(async () => {
        if (signal.aborted) return refused(call, STOPPED, marks)
        if (!tool.repeatable) await hooks.begin(call)
        const state = cache.projectState(context.projectId)
        const startedAt = performance.now()
        const outcome = await runWithinTime(input, tool.timeoutMs, signal, {
          ...context,
          callId: call.id,
          progress: (value) => options.progress(call.id, value),
        })
        const executionTime = (performance.now() - startedAt) / 1000
        // A change that failed half way is a change too.
        if (tool.changesProject && context.projectId !== null) cache.dropProject(context.projectId)
        const written = writeResult(outcome)
        const result = await fitResult(written, results, context)
        if (key !== null && written.success) {
          const { userId, projectId } = context
          cache.set({ userId, projectId, key }, written, state)
          history.set(key, { result, state })
        }
        return makeAnswer(call, result, { ...marks, executionTime }, tool.untrusted)
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
        const task = carryOut(call, position).then(async (settled) => {
          await hooks.settled(position, settled)
          return settled
        })
        // Heard by the loop below; until it gets there a fault must not count as unhandled.
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
