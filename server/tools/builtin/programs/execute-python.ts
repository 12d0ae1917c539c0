// The `execute_python` tool: runs a model's program in the sandbox, streams its output and returns its files and images.
import { z } from 'zod'
import { untilAborted } from '../../../lib/abort.ts'
import {
  MAX_PROGRAM_CHARACTERS,
  ProgramFilePatterns,
  type ProgramStatus,
} from '../../../protocol/programs/python.ts'
import type { Artifact } from '../../../protocol/runs/step.ts'
import { isLooser, Strictness, TIME_LIMIT_SECONDS } from '../../../sandbox/python/modules.ts'
import type { PythonSandbox } from '../../../sandbox/python/sandbox.ts'
import {
  defineTool,
  fail,
  markUntrusted,
  succeed,
  type ToolDefinition,
  type ToolResult,
} from '../../definition.ts'
import { projectOf } from '../files/project-access.ts'
import {
  isOfSkill,
  type PythonPrograms,
  type RanProgram,
  runPythonProgram,
} from './python-program.ts'
import type { StoredOutput, StoreOutput } from './stored-output.ts'

/** Covers the longest time limit and a slow start on a busy machine. */
const TIMEOUT_MS = 90_000

function describe(python: PythonSandbox, strictness: Strictness): string {
  const modules = python.modules(strictness)
  const packages =
    python.packages.length === 0
      ? 'Third-party packages (numpy, pandas, …) are not installed.'
      : `Installed packages: ${python.packages.join(', ')}.`
  return [
    'Runs a Python 3 program in a sandbox and returns {stdout, stderr, result, files}; `result` is the value of the last expression. Nothing persists between calls.',
    "No network and no host files. The conversation's files listed in `files` are at /workspace (read-only). Files written to /output are stored in its folder output, at the `path` in the result; PNG and SVG are shown to the user.",
    `Strictness: strict (${TIME_LIMIT_SECONDS.strict} s, pure computation), standard (${TIME_LIMIT_SECONDS.standard} s), lenient (${TIME_LIMIT_SECONDS.lenient} s, full standard library); looser than ${strictness} needs approval.`,
    modules === null
      ? 'The full standard library can be imported.'
      : `Modules at ${strictness}: ${modules.join(', ')}.`,
    packages,
  ].join(' ')
}

/** What the `execute_python` tool needs from the server. */
export interface ExecutePythonDependencies extends PythonPrograms {
  /** The operator's default. The model may choose a stricter level; a looser one needs approval. */
  defaultStrictness: Strictness
  /** Stores the files that programs write. */
  storeOutput: StoreOutput
}

/** The risk exceeds `low` only if a call requests more than the operator's default. */
export function createExecutePythonTool(dependencies: ExecutePythonDependencies): ToolDefinition {
  const { python, defaultStrictness, storeOutput } = dependencies
  const tool = defineTool({
    name: 'execute_python',
    description: '',
    category: 'code',
    riskLevel: 'low',
    timeoutMs: TIMEOUT_MS,
    input: z.object({
      code: z.string().min(1).max(MAX_PROGRAM_CHARACTERS),
      strictness: Strictness.default(defaultStrictness).describe('Which modules may be imported.'),
      files: ProgramFilePatterns.default([]).describe(
        'Paths or patterns of files (data/*.csv); skill:<name>/<path> is at /skills/<name>/<path>.',
      ),
    }),
    riskFor: ({ strictness }) => {
      if (!isLooser(strictness, defaultStrictness)) return 'low'
      return strictness === 'lenient' ? 'high' : 'medium'
    },
    async preview({ code, strictness }) {
      return {
        display: `Python, strictness ${strictness}`,
        display_code: 'python',
        display_params: { strictness },
        code,
      }
    },
    async handler({ code, strictness, files: patterns }, context) {
      await untilAborted(python.ready, context.signal)
      if (!python.state.available)
        return fail(`Python is not available on this server: ${python.state.reason}`)
      const projectId = await projectOf(context)
      if (patterns.some((pattern) => !isOfSkill(pattern)) && projectId === null)
        return fail('This conversation has no files yet, so `files` must be empty.')
      const ran = await runPythonProgram(
        dependencies,
        { code, strictness, files: patterns },
        { userId: context.userId, projectId },
        {
          onStarting: () => context.progress({ kind: 'state', state: 'starting' }),
          onRunning: () => context.progress({ kind: 'state', state: 'running' }),
          onOutput: (stream, text) => context.progress({ kind: 'output', stream, text }),
        },
        context.signal,
      )
      const stored = await storeOutput(ran.outcome.files, context, ran.untrusted)
      return markUntrusted(present(ran, stored), ran.untrusted)
    },
  })
  // Computed on each access while the server starts, because the sandbox still tests what works on this machine.
  let tested: string | undefined
  void python.ready.then(() => {
    tested = describe(python, defaultStrictness)
  })
  return {
    ...tool,
    get description() {
      return tested ?? describe(python, defaultStrictness)
    },
    get isolation() {
      return python.state.available ? python.state.isolation : `off: ${python.state.reason}`
    },
  }
}

const STATUS_DISPLAYS: Readonly<Record<ProgramStatus, string>> = {
  completed: 'Program completed',
  refused: 'Program refused',
  raised: 'Program raised an exception',
  timed_out: 'Program stopped at the time limit',
  out_of_memory: 'Program stopped at the memory limit',
  stopped: 'Program stopped',
  crashed: 'Interpreter crashed',
}

function present({ outcome, files, seconds }: RanProgram, stored: StoredOutput): ToolResult {
  const { status, stdout, stderr, result, error } = outcome
  const data = {
    stdout,
    stderr,
    result,
    files: files.map(({ name, mime, size }) => {
      const path = 'paths' in stored ? stored.paths.get(name) : undefined
      return { name, mime, size, ...(path === undefined ? {} : { path }) }
    }),
    ...('error' in stored ? { not_stored: stored.error } : {}),
    ...(outcome.omittedFiles === 0 ? {} : { omitted_files: outcome.omittedFiles }),
  }
  const artifact: Artifact = {
    display: `${STATUS_DISPLAYS[status]} (${seconds.toFixed(1)} s)`,
    kind: 'python',
    status,
  }
  artifact.files = files
  if (status === 'completed') return succeed(data, artifact)
  return fail(error ?? STATUS_DISPLAYS[status], { data, artifact })
}
