// Runs one checked call within its time limit and the run's signal, whatever its handler does.
import { errorText } from '../errors.ts'
import { linkedController, untilAborted } from '../lib/abort.ts'
import { fail, type ParsedInput, type ToolContext, type ToolResult } from './definition.ts'

/** How long a handler may take to come back with what it has after its signal was aborted. */
const LAST_WORDS_MS = 600

/** Why nothing, or not all, of a call was done. */
export const STOPPED = 'The run was stopped before this call was done.'

/**
 * Never throws. When the time is up or the run stops, the handler's signal is aborted; what it still answers within
 * 0.6 s counts, after that the call has failed and the handler is no longer listened to.
 */
export async function runWithinTime(
  input: ParsedInput,
  timeoutMs: number,
  runSignal: AbortSignal,
  context: Omit<ToolContext, 'signal'>,
): Promise<ToolResult> {
  const { controller, release } = linkedController(runSignal)
  const overdue = `The tool did not finish within its limit of ${timeoutMs / 1000} seconds.`
  const timer = setTimeout(() => controller.abort(new Error(overdue)), timeoutMs)
  const lastWords = new AbortController()
  let lastTimer: NodeJS.Timeout | undefined
  controller.signal.addEventListener(
    'abort',
    () => {
      lastTimer = setTimeout(() => lastWords.abort(), LAST_WORDS_MS)
    },
    { once: true },
  )
  const problem = (): string => (runSignal.aborted ? STOPPED : overdue)
  let settled = false
  try {
    if (runSignal.aborted) return fail(STOPPED)
    const work = guarded(input, {
      ...context,
      signal: controller.signal,
      progress: (value) => {
        if (!settled) context.progress(value)
      },
    })
    const result = await untilAborted(work, lastWords.signal)
    if (result.success || !controller.signal.aborted) return result
    return { ...result, error: problem() }
  } catch {
    return fail(problem())
  } finally {
    settled = true
    clearTimeout(timer)
    clearTimeout(lastTimer)
    release()
  }
}

async function guarded(input: ParsedInput, context: ToolContext): Promise<ToolResult> {
  try {
    return await input.run(context)
  } catch (error) {
    return fail(errorText(error))
  }
}
