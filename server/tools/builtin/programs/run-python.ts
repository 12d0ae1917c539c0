// Runs a Python program for a person: with the rules, limits and interpreter of the `execute_python` tool, without a model.
import { AppError, appError } from '../../../errors.ts'
import { untilAborted } from '../../../lib/abort.ts'
import type { ProjectId, UserId } from '../../../protocol/ids.ts'
import type { PythonOutcome } from '../../../protocol/programs/python.ts'
import type { Strictness } from '../../../sandbox/python/modules.ts'
import type { ProgramMeter } from '../../metered.ts'
import type { ToolRegistry } from '../../registry.ts'
import { isOfSkill, type PythonPrograms, runPythonProgram } from './python-program.ts'

/**
 * Runs a program at the operator's strictness and counts its seconds.
 * @throws AppError `python_unavailable` if the user may not use Python here, or a refusal of a limit or of a file.
 */
export type RunPython = (
  program: { code: string; files: readonly string[] },
  place: { userId: UserId; projectId: ProjectId | null },
  signal: AbortSignal,
) => Promise<PythonOutcome>

/** Nobody follows the program while it runs: the outcome has all of its output. */
const NO_LISTENER = { onStarting() {}, onRunning() {}, onOutput() {} }

/** Python is available to those to whose conversations the tool is offered. */
export const createRunPython =
  ({
    registry,
    limits,
    strictness,
    ...programs
  }: PythonPrograms & {
    registry: ToolRegistry
    limits: ProgramMeter
    strictness: Strictness
  }): RunPython =>
  async ({ code, files }, place, signal) => {
    await untilAborted(programs.python.ready, signal)
    if (registry.snapshot(place.userId).get('execute_python') === undefined)
      throw appError('python_unavailable')
    if (files.some((pattern) => !isOfSkill(pattern)) && place.projectId === null)
      throw new AppError('no_project', 'This conversation has no files, so `files` must be empty.')
    const { outcome, ...ran } = await limits.runProgram(place.userId, () =>
      runPythonProgram(programs, { code, strictness, files }, place, NO_LISTENER, signal),
    )
    const { status, stdout, stderr, result, error, omittedFiles } = outcome
    return {
      status,
      stdout,
      stderr,
      result,
      error,
      duration_ms: Math.round(ran.seconds * 1000),
      files: ran.files,
      omitted_files: omittedFiles,
    }
  }
