// What a person sees of sub-agents: little while they work, more in the result's artifact.
import type { SubAgentView } from '../protocol/tool-progress.ts'
import type { SubAgentLog } from './sub-agent-log.ts'

const SHOWN_TEXT = 600
const SHOWN_ARGUMENTS = 300
const SHOWN_CALLS = 50
/** Of each sub-agent while it works. */
const LIVE_CALLS = 5
const LIVE_CHARACTERS = 200
/** Live states are emitted at most this often. */
const EMIT_EVERY_MS = 250

/** `text`: what its model wrote last; null before it has begun. */
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

/** Small, because it is sent again at every change. */
export const liveView = (view: SubAgentView): SubAgentView => ({
  ...view,
  text: view.text.slice(-LIVE_CHARACTERS),
  calls: view.calls
    .slice(-LIVE_CALLS)
    .map((call) => ({ ...call, arguments: call.arguments.slice(0, LIVE_CHARACTERS) })),
})

/** Reports changes at most every 250 ms, always including the last one. */
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
