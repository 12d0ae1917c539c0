// Runs the command of a check as the tool `exec` does, without a model.
import { deadline } from '../lib/abort.ts'
import { newId } from '../lib/ids.ts'
import { storedFailure } from '../protocol/failures/stored.ts'
import { CallId } from '../protocol/ids.ts'
import { findingText } from '../protocol/schedules/check-finding.ts'
import { NamedFailure } from '../protocol/schedules/schedule.ts'
import type { ToolContext } from '../tools/definition.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import type { CheckDependencies } from './checks.ts'

const COMMAND_SECONDS = 120

/** Runs commands of checks with the tool `exec`, in the sandbox and with its limits. */
export const commandRunner =
  (registry: Pick<ToolRegistry, 'snapshot'>): CheckDependencies['runCommand'] =>
  async (command, run, ending) => {
    const tool = registry.snapshot(run.userId).get('exec')
    const parsed = tool?.parse(JSON.stringify({ command, timeout: COMMAND_SECONDS }))
    if (parsed?.ok !== true) return { exitCode: null, detail: findingText('commandsOff') }
    const unavailable = (): never => {
      throw new Error('A check has no agents and spends nothing.')
    }
    const context: ToolContext = {
      userId: run.userId,
      conversationId: run.conversationId,
      projectId: run.projectId,
      runId: run.id,
      messageId: null,
      model: run.model,
      callId: CallId.parse(newId<string>()),
      isTainted: () => true,
      agents: { performTasks: unavailable, startBackgroundTask: unavailable },
      spending: { admit: unavailable },
      signal: deadline((COMMAND_SECONDS + 30) * 1_000, ending),
      progress() {},
    }
    const result = await parsed.input.run(context)
    if (!result.success) {
      const { error: detail, failure } = result
      return failure === undefined
        ? { exitCode: null, detail }
        : { exitCode: null, detail, failure: NamedFailure.parse(failure) }
    }
    const data = new Map(Object.entries(result.data ?? {}))
    const exitCode = data.get('exit_code')
    if (typeof exitCode === 'number' && data.get('timed_out') !== true) return { exitCode }
    const { message, ...failure } =
      data.get('timed_out') === true
        ? storedFailure('command_timed_out', { seconds: COMMAND_SECONDS })
        : storedFailure('command_stopped')
    return { exitCode: null, detail: message, failure }
  }
