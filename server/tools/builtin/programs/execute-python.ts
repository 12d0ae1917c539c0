// The `execute_python` tool: runs a model's program in the sandbox, streams its output and returns its files and images.
import { z } from 'zod'
import { untilAborted } from '../../../lib/abort.ts'
import type { Artifact } from '../../../protocol/runs/step.ts'
import { isLooser, Strictness, TIME_LIMIT_SECONDS } from '../../../sandbox/python/modules.ts'
import type { ProgramFile, ProgramOutcome } from '../../../sandbox/python/program.ts'
import type { PythonSandbox } from '../../../sandbox/python/sandbox.ts'
import {
  defineTool,
  fail,
  markUntrusted,
  succeed,
  type ToolDefinition,
  type ToolResult,
} from '../../definition.ts'
import type { ReadProjectFiles } from '../../project-files.ts'

const MAX_CODE_CHARACTERS = 200_000
const INPUT_LIMITS = { maxFiles: 200, maxBytes: 20 * 1024 * 1024 }
/** Maximum bytes of files that the artifact embeds, each and in total. Larger files are only listed. */
const MAX_EMBEDDED_BYTES = 1024 * 1024
const MAX_TOTAL_EMBEDDED_BYTES = 2 * 1024 * 1024
/** Covers the longest time limit and a slow start on a busy machine. */
const TIMEOUT_MS = 90_000

const MIME_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  svg: 'image/svg+xml',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  csv: 'text/csv',
  txt: 'text/plain',
  md: 'text/markdown',
  json: 'application/json',
  html: 'text/html',
  xml: 'application/xml',
  pdf: 'application/pdf',
}

const mimeOf = (path: string): string => {
  const ending = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''
  return (Object.hasOwn(MIME_TYPES, ending) && MIME_TYPES[ending]) || 'application/octet-stream'
}

function describe(python: PythonSandbox, strictness: Strictness): string {
  const modules = python.modules(strictness)
  const packages =
    python.packages.length === 0
      ? 'Third-party packages (numpy, pandas, …) are not installed.'
      : `Installed packages: ${python.packages.join(', ')}.`
  return [
    'Runs a Python 3 program in a sandbox and returns {stdout, stderr, result, files}; `result` is the value of the last expression. Nothing persists between calls.',
    'No network and no host files. Project files listed in `files` are at /workspace (read-only). Files written to /output are returned; PNG and SVG are shown to the user.',
    `Strictness: strict (${TIME_LIMIT_SECONDS.strict} s, pure computation), standard (${TIME_LIMIT_SECONDS.standard} s), lenient (${TIME_LIMIT_SECONDS.lenient} s, full standard library); looser than ${strictness} needs approval.`,
    modules === null
      ? 'The full standard library can be imported.'
      : `Modules at ${strictness}: ${modules.join(', ')}.`,
    packages,
  ].join(' ')
}

/** What the `execute_python` tool needs from the server. */
export interface ExecutePythonDependencies {
  python: PythonSandbox
  /** The operator's default. The model may choose a stricter level; a looser one needs approval. */
  defaultStrictness: Strictness
  /** Reads the project files that a call names. Nothing else of the host is ever passed in. */
  readFiles: ReadProjectFiles
}

/** The risk exceeds `low` only if a call requests more than the operator's default. */
export function createExecutePythonTool(dependencies: ExecutePythonDependencies): ToolDefinition {
  const { python, defaultStrictness } = dependencies
  const tool = defineTool({
    name: 'execute_python',
    description: '',
    category: 'code',
    riskLevel: 'low',
    timeoutMs: TIMEOUT_MS,
    input: z.object({
      code: z.string().min(1).max(MAX_CODE_CHARACTERS),
      strictness: Strictness.default(defaultStrictness).describe('Which modules may be imported.'),
      files: z
        .array(z.string().min(1).max(1000))
        .max(50)
        .default([])
        .describe('Project paths or patterns (data/*.csv).'),
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
      if (patterns.length > 0 && context.projectId === null)
        return fail('`files` requires a project, and this conversation has none.')
      const { files, untrusted } =
        patterns.length > 0 && context.projectId !== null
          ? await dependencies.readFiles(
              { userId: context.userId, projectId: context.projectId },
              patterns,
              INPUT_LIMITS,
              context.signal,
            )
          : { files: [], untrusted: false }
      const startedAt = performance.now()
      const outcome = await python.run(
        { code, strictness, files, owner: context.userId },
        {
          onStarting: () => context.progress({ kind: 'state', state: 'starting' }),
          onRunning: () => context.progress({ kind: 'state', state: 'running' }),
          onOutput: (stream, text) => context.progress({ kind: 'output', stream, text }),
        },
        context.signal,
      )
      return markUntrusted(present(outcome, (performance.now() - startedAt) / 1000), untrusted)
    },
  })
  return {
    ...tool,
    // Computed on each access, because the sandbox still tests what works on this machine while the server starts.
    get description() {
      return describe(python, defaultStrictness)
    },
    get isolation() {
      return python.state.available ? python.state.isolation : `off: ${python.state.reason}`
    },
  }
}

const STATUS_DISPLAYS: Readonly<Record<ProgramOutcome['status'], string>> = {
  completed: 'Program completed',
  refused: 'Program refused',
  raised: 'Program raised an exception',
  timed_out: 'Program stopped at the time limit',
  out_of_memory: 'Program stopped at the memory limit',
  stopped: 'Program stopped',
  crashed: 'Interpreter crashed',
}

function present(outcome: ProgramOutcome, seconds: number): ToolResult {
  const { status, stdout, stderr, result, error } = outcome
  const files = outcome.files.map(({ path, content }) => ({
    name: path,
    mime: mimeOf(path),
    size: content.length,
  }))
  const data = {
    stdout,
    stderr,
    result,
    files,
    ...(outcome.omittedFiles === 0 ? {} : { omitted_files: outcome.omittedFiles }),
  }
  const artifact: Artifact = {
    display: `${STATUS_DISPLAYS[status]} (${seconds.toFixed(1)} s)`,
    kind: 'python',
    status,
  }
  artifact.files = embed(outcome.files)
  if (status === 'completed') return succeed(data, artifact)
  return fail(error ?? STATUS_DISPLAYS[status], { data, artifact })
}

/** Files that the page can show or download. Files that are too large are reduced to their names and sizes. */
function embed(files: readonly ProgramFile[]): NonNullable<Artifact['files']> {
  let left = MAX_TOTAL_EMBEDDED_BYTES
  return files.map(({ path, content }) => {
    const mime = mimeOf(path)
    const entry = { name: path, mime, size: content.length }
    if (content.length > Math.min(left, MAX_EMBEDDED_BYTES)) return entry
    left -= content.length
    const base64 = Buffer.from(content.buffer, content.byteOffset, content.length).toString(
      'base64',
    )
    return { ...entry, data: `data:${mime};base64,${base64}` }
  })
}
