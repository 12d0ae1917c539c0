// The tool `execute_python`: a model's program, run in the sandbox; its output streams, its files and images come back.
import { z } from 'zod'
import { untilAborted } from '../../lib/abort.ts'
import type { Artifact } from '../../protocol/step.ts'
import type { PythonSandbox } from '../../sandbox/python.ts'
import { isLooser, Strictness, timeLimitSeconds } from '../../sandbox/python-modules.ts'
import type { ProgramFile, ProgramOutcome } from '../../sandbox/python-program.ts'
import { defineTool, fail, succeed, type ToolDefinition, type ToolResult } from '../definition.ts'
import type { ReadProjectFiles } from '../project-files.ts'

const MAX_CODE_CHARACTERS = 200_000
const INPUT_LIMITS = { maxFiles: 200, maxBytes: 20 * 1024 * 1024 }
/** Bytes of files that travel inside the artifact, each and together; larger ones are named only. */
const MAX_EMBEDDED_BYTES = 1024 * 1024
const MAX_EMBEDDED_TOTAL = 2 * 1024 * 1024
/** The longest program, with room for a start on a busy machine. */
const TIMEOUT_MS = 90_000

const mimeTypes: Readonly<Record<string, string>> = {
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
  return (Object.hasOwn(mimeTypes, ending) && mimeTypes[ending]) || 'application/octet-stream'
}

function describe(python: PythonSandbox, strictness: Strictness): string {
  const modules = python.modules(strictness)
  const packages =
    python.packages.length === 0
      ? 'Third-party packages (numpy, pandas, …) are not installed.'
      : `Installed packages: ${python.packages.join(', ')}.`
  return [
    'Runs a Python 3 program in an isolated interpreter and returns {stdout, stderr, result, files}.',
    '`result` is the value of the last expression. Each call starts afresh: nothing is kept between calls.',
    'No network, no environment, no host files. Project files named in `files` are under /workspace (read-only); what is written to /output comes back, PNG and SVG as images.',
    `Strictness: strict (${timeLimitSeconds.strict} s, pure computation), standard (${timeLimitSeconds.standard} s), lenient (${timeLimitSeconds.lenient} s, whole standard library). Default: ${strictness}; a looser one waits for approval.`,
    modules === null
      ? 'The whole standard library may be imported.'
      : `Modules at ${strictness}: ${modules.join(', ')}.`,
    packages,
  ].join(' ')
}

export interface ExecutePythonDependencies {
  python: PythonSandbox
  /** The operator's: the model may ask for less, and for more only with somebody's consent. */
  defaultStrictness: Strictness
  /** The project's files that a call names; nothing else of the host is ever passed in. */
  readFiles: ReadProjectFiles
}

/** Runs a program of the model; risky only where it asks for more than the operator's default. */
export function createExecutePythonTool(dependencies: ExecutePythonDependencies): ToolDefinition {
  const { python, defaultStrictness } = dependencies
  const tool = defineTool({
    name: 'execute_python',
    description: '',
    category: 'code',
    riskLevel: 'low',
    timeoutMs: TIMEOUT_MS,
    input: z.object({
      code: z.string().min(1).max(MAX_CODE_CHARACTERS).describe('The whole program.'),
      strictness: Strictness.default(defaultStrictness).describe(
        'How much the program may import and how long it may run.',
      ),
      files: z
        .array(z.string().min(1).max(1000))
        .max(50)
        .default([])
        .describe('Paths or patterns (data/*.csv) of project files that the program reads.'),
    }),
    riskFor: ({ strictness }) => {
      if (!isLooser(strictness, defaultStrictness)) return 'low'
      return strictness === 'lenient' ? 'high' : 'medium'
    },
    async preview({ code, strictness }) {
      return { display: `Python, strictness ${strictness}`, code }
    },
    async handler({ code, strictness, files: patterns }, context) {
      await untilAborted(python.ready, context.signal)
      if (!python.state.available)
        return fail(`Python is not available on this server: ${python.state.reason}`)
      if (patterns.length > 0 && context.projectId === null)
        return fail('`files` needs a project, and this conversation has none.')
      const files =
        patterns.length > 0 && context.projectId !== null
          ? await dependencies.readFiles(
              { userId: context.userId, projectId: context.projectId },
              patterns,
              INPUT_LIMITS,
              context.signal,
            )
          : []
      const startedAt = performance.now()
      const outcome = await python.run(
        { code, strictness, files },
        {
          onStarting: () => context.progress({ kind: 'state', state: 'starting' }),
          onRunning: () => context.progress({ kind: 'state', state: 'running' }),
          onOutput: (stream, text) => context.progress({ kind: 'output', stream, text }),
        },
        context.signal,
      )
      return present(outcome, (performance.now() - startedAt) / 1000)
    },
  })
  return {
    ...tool,
    // Asked each time: what can be told grows while the sandbox tests what works here.
    get description() {
      return describe(python, defaultStrictness)
    },
    get isolation() {
      return python.state.available ? python.state.isolation : `off: ${python.state.reason}`
    },
  }
}

const displays: Readonly<Record<ProgramOutcome['status'], string>> = {
  completed: 'Program completed',
  refused: 'Program refused',
  raised: 'Program raised an exception',
  timed_out: 'Program stopped at the time limit',
  out_of_memory: 'Program stopped at the memory limit',
  stopped: 'Program stopped',
  crashed: 'Interpreter broke down',
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
    display: `${displays[status]} (${seconds.toFixed(1)} s)`,
    kind: 'python',
    status,
  }
  artifact.files = embed(outcome.files)
  if (status === 'completed') return succeed(data, artifact)
  return fail(error ?? displays[status], { data, artifact })
}

/** Files as a page can show or offer them; what is too large for that keeps its name and size. */
function embed(files: readonly ProgramFile[]): NonNullable<Artifact['files']> {
  let left = MAX_EMBEDDED_TOTAL
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
