// How sub-agents are shown: briefly while they work, in more detail in the artifact of the result.
import type { SubAgentView } from '../protocol/runs/tool-progress.ts'
import type { SubAgentLog } from './sub-agent-log.ts'

const SHOWN_TEXT = 600
const SHOWN_ARGUMENTS = 300
const SHOWN_CALLS = 50
/** Limits per sub-agent while it works. */
const LIVE_CALLS = 5
const LIVE_CHARACTERS = 200
/** Minimum time between two progress reports. */
const EMIT_EVERY_MS = 250

/** @param text the latest text of its model; null before it has begun. */
export const viewOf = (name: string, log: SubAgentLog, text: string | null): SubAgentView => {
  const { outcome } = log
  const last = outcome?.success === true ? outcome.response : (text ?? '')
  return {
    name,
    state:
      outcome !== null
        ? outcome.success
          ? 'done'
          : 'failed'
        : text === null
          ? 'waiting'
          : 'working',
    text: last.slice(-SHOWN_TEXT),
    calls: log.calls.slice(0, SHOWN_CALLS).map((call) => ({
      name: call.name,
      arguments: call.arguments.slice(0, SHOWN_ARGUMENTS),
      state: call.success === null ? 'running' : call.success ? 'done' : 'failed',
    })),
  }
}

/** A shortened view, because it is sent again on every change. */
export const liveView = (view: SubAgentView): SubAgentView => ({
  ...view,
  text: view.text.slice(-LIVE_CHARACTERS),
  calls: view.calls
    .slice(-LIVE_CALLS)
    .map((call) => ({ ...call, arguments: call.arguments.slice(0, LIVE_CHARACTERS) })),
})

/** Reports changes at most every 250 ms, and always reports the last one. */
export function createThrottle(report: () => void): { changed(): void; end(): void } {
  let timer: NodeJS.Timeout | undefined
  return {
    changed() {
      timer ??= setTimeout(() => {
        timer = undefined
        report()
      }, EMIT_EVERY_MS)
    },
    end() {
      clearTimeout(timer)
      report()
    },
  }
}
