// Runs one validated call within its time limit and the run's signal, whatever its handler does.
import { AppError } from '../errors.ts'
import { linkedController, untilAborted } from '../lib/abort.ts'
import { createWorkClock, type WorkClock } from '../lib/clocks.ts'
import type { CallId, RunId } from '../protocol/ids.ts'
import {
  fail,
  type ParsedInput,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from './definition.ts'
import type { PersonInput } from './person-input.ts'

/** Protects models and users from secrets and raw errors in a tool's output. */
export interface ToolSafety {
  /** Removes every secret that the server knows from the text. */
  redact(text: string): string
  /** Receives an unexpected error of a handler. Use its text only for the log. */
  onFault(error: unknown, of: { tool: string; runId: RunId; callId: CallId }): void
}

/** Redacts what tools must not reveal, and logs their faults. */
export const toolSafety = (
  redact: ToolSafety['redact'],
  log: { error(details: object, message: string): void },
): ToolSafety => ({
  redact,
  onFault: (error, { tool, runId, callId }) =>
    log.error({ err: error, tool, run_id: runId, call_id: callId }, 'a tool failed unexpectedly'),
})

/** How long a handler may take to return a result after its signal was aborted. */
const ABORT_GRACE_MS = 600

/** The error of a call that did not start or did not finish because the run was stopped. */
export const STOPPED = 'The run was stopped before this call was done.'

/**
 * Never throws. When the time is up or the run stops, the handler's signal is aborted. A result that it returns within 0.6
 * s still counts; after that, the call has failed and the handler is ignored.
 */
export async function runWithinTime(
  input: ParsedInput,
  { name, timeoutMs }: Pick<ToolDefinition, 'name' | 'timeoutMs'>,
  runSignal: AbortSignal,
  context: Omit<ToolContext, 'signal'>,
  safety: Pick<ToolSafety, 'onFault'>,
): Promise<ToolResult> {
  const { controller, release } = linkedController(runSignal)
  const overdue = `The tool did not finish within its limit of ${timeoutMs / 1000} seconds.`
  const clock = createWorkClock(timeoutMs, () => controller.abort(new Error(overdue)))
  const graceOver = new AbortController()
  let graceTimer: NodeJS.Timeout | undefined
  controller.signal.addEventListener(
    'abort',
    () => {
      graceTimer = setTimeout(() => graceOver.abort(), ABORT_GRACE_MS)
    },
    { once: true },
  )
  const problem = (): string => (runSignal.aborted ? STOPPED : overdue)
  let settled = false
  try {
    if (runSignal.aborted) return fail(STOPPED)
    const work = runInput(
      input,
      {
        ...context,
        ...withoutWaiting(context.person, clock),
        signal: controller.signal,
        progress: (value) => {
          if (!settled) context.progress(value)
        },
      },
      (error) =>
        safety.onFault(error, { tool: name, runId: context.runId, callId: context.callId }),
    )
    const result = await untilAborted(work, graceOver.signal)
    if (result.success || !controller.signal.aborted) return result
    return { ...result, error: problem() }
  } catch {
    return fail(problem())
  } finally {
    settled = true
    clock.end()
    clearTimeout(graceTimer)
    release()
  }
}

/** The same interface, but the time that the person takes does not count. */
const withoutWaiting = (person: PersonInput | undefined, clock: WorkClock) =>
  person === undefined
    ? {}
    : {
        person: {
          ...person,
          async ask(...given: Parameters<PersonInput['ask']>) {
            clock.pause()
            try {
              return await person.ask(...given)
            } finally {
              clock.resume()
            }
          },
        },
      }

/**
 * Performs the call; what it throws becomes a failed result. The text of an `AppError` is for its reader; that of any other error
 * may contain hosts, paths or keys, so it is passed to `onFault` only.
 */
export async function runInput(
  input: ParsedInput,
  context: ToolContext,
  onFault: (error: unknown) => void,
): Promise<ToolResult> {
  try {
    return await input.run(context)
  } catch (error) {
    if (error instanceof AppError) return fail(error.message)
    if (!context.signal.aborted) onFault(error)
    return fail(
      `The tool failed unexpectedly. The cause is in the server log under run ${context.runId}.`,
    )
  }
}
