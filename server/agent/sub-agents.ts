// Performs the tasks of a tool call in parallel, each with a sub-agent, and reports their progress.
import pLimit from 'p-limit'
import type { SubAgentView } from '../protocol/runs/tool-progress.ts'
import type { AgentOutcome, AgentTask, ToolContext, ToolDefinition } from '../tools/definition.ts'
import type { ToolSet } from '../tools/registry.ts'
import type { RunScope } from './run-scope.ts'
import { performSubAgent, type SubAgentLimits } from './sub-agent.ts'
import { createSubAgentLog, type SubAgentLog } from './sub-agent-log.ts'

/** Create one per run: parallel calls share the concurrency limit. Returns the `performTasks` of `AgentStarter`. */
export function createSubAgents(scope: RunScope, limits: SubAgentLimits) {
  const slot = pLimit(limits.maxConcurrency)

  return async function performTasks(tasks: readonly AgentTask[], context: ToolContext) {
    const before = await scope.journal.read(context.callId)
    const team = tasks.map((task, position) => ({
      task,
      position,
      log: createSubAgentLog(
        before.filter((one) => one.position === position).map(({ event }) => event),
      ),
      text: null as string | null,
    }))
    const views = () => team.map(({ task, log, text }) => viewOf(task.name, log, text))
    const progress = createThrottle(() =>
      context.progress({ kind: 'agents', agents: views().map(liveView) }),
    )

    const perform = async (member: (typeof team)[number]): Promise<AgentOutcome> => {
      const { task, position, log } = member
      const { tools, unknown } = toolsForSubAgent(scope.tools, task.tools, scope.resources.tools)
      if (unknown.length > 0) {
        const error = `Unknown tools: ${unknown.join(', ')}`
        log.add({ type: 'ended', outcome: { success: false, error } })
        return { success: false, error }
      }
      const onChange = (text: string): void => {
        member.text = text
        progress.changed()
      }
      onChange('')
      const { name, instruction } = task
      const outcome = await performSubAgent(
        { name, instruction, tools },
        { scope, context, position, limits, log, onChange },
      )
      // The outcome is shown even if it could not be stored.
      if (log.outcome === null) log.add({ type: 'ended', outcome })
      progress.changed()
      return outcome
    }
    const outcomes = await Promise.all(team.map((member) => slot(() => perform(member))))
    progress.end()
    return { outcomes, agents: views(), untrusted: scope.isTainted() }
  }
}

const SHOWN_TEXT = 600
const SHOWN_ARGUMENTS = 300
const SHOWN_CALLS = 50
/** Limits per sub-agent while it works. */
const LIVE_CALLS = 5
const LIVE_CHARACTERS = 200
/** Minimum time between two progress reports. */
const EMIT_EVERY_MS = 250

/** @param text the latest text of its model; null before it has begun. */
const viewOf = (name: string, log: SubAgentLog, text: string | null): SubAgentView => {
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
      ...(call.grantId === undefined ? {} : { grant_id: call.grantId }),
    })),
  }
}

/** A shortened view, because it is sent again on every change. */
const liveView = (view: SubAgentView): SubAgentView => ({
  ...view,
  text: view.text.slice(-LIVE_CHARACTERS),
  calls: view.calls
    .slice(-LIVE_CALLS)
    .map((call) => ({ ...call, arguments: call.arguments.slice(0, LIVE_CHARACTERS) })),
})

/** Reports changes at most every 250 ms, and always reports the last one. */
function createThrottle(report: () => void): { changed(): void; end(): void } {
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

/** Tools of the agent that talks with the person: they start agents, plan, and cite. Sub-agents cannot use them. */
const AGENT_TOOLS = new Set(['multi_agent', 'spawn', 'plan', 'cite'])

/**
 * @param requested names or aliases; undefined for all allowed tools.
 * @returns the tools, and in `unknown` the requested names that the parent cannot use. Tools that start agents are omitted
 * without a message.
 */
export function toolsForSubAgent(
  parents: readonly ToolDefinition[],
  requested: readonly string[] | undefined,
  all: Pick<ToolSet, 'get'>,
): { tools: ToolDefinition[]; unknown: string[] } {
  const allowed = parents.filter((tool) => !AGENT_TOOLS.has(tool.name))
  if (requested === undefined) return { tools: allowed, unknown: [] }
  const names = new Set(requested.map((name) => all.get(name)?.name ?? name))
  const tools = allowed.filter((tool) => names.has(tool.name))
  const found = new Set([...tools.map(({ name }) => name), ...AGENT_TOOLS])
  return { tools, unknown: [...names].filter((name) => !found.has(name)) }
}
