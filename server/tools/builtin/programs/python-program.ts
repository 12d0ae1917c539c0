// One Python program with the project files it reads, and the files it wrote in a form that the page can show.
import { mimeOf } from '../../../lib/mime-of.ts'
import type { ProjectId, UserId } from '../../../protocol/ids.ts'
import type { PythonListener } from '../../../sandbox/python/isolated-sandbox.ts'
import type { Strictness } from '../../../sandbox/python/modules.ts'
import type { ProgramFile, ProgramOutcome } from '../../../sandbox/python/program.ts'
import type { PythonSandbox } from '../../../sandbox/python/sandbox.ts'
import type { ReadProjectFiles } from '../../project-files.ts'

const INPUT_LIMITS = { maxFiles: 200, maxBytes: 20 * 1024 * 1024 }
/** Maximum bytes of files that are embedded, each and in total. Larger files are only listed. */
const MAX_EMBEDDED_BYTES = 1024 * 1024
const MAX_TOTAL_EMBEDDED_BYTES = 2 * 1024 * 1024

/** A file that a program wrote; `data` is a data URL, absent if the file is too large. */
export interface WrittenFile {
  name: string
  mime: string
  size: number
  data?: string
}

/** What a program did, and how long it took. */
export interface RanProgram {
  outcome: ProgramOutcome
  files: WrittenFile[]
  seconds: number
  /** Whether the files that it read contain text from outside. */
  untrusted: boolean
}

/** What running a program needs from the server. */
export interface PythonPrograms {
  python: PythonSandbox
  /** Reads the project files that a program names. Nothing else of the host is ever passed in. */
  readFiles: ReadProjectFiles
}

/**
 * Runs the program in the turn of its user.
 * @param request `files` are paths and patterns of the project; without a project, there must be none.
 * @throws AppError if the files cannot be read.
 */
export async function runPythonProgram(
  { python, readFiles }: PythonPrograms,
  request: { code: string; strictness: Strictness; files: readonly string[] },
  place: { userId: UserId; projectId: ProjectId | null },
  listener: PythonListener,
  signal: AbortSignal,
): Promise<RanProgram> {
  const { code, strictness, files: patterns } = request
  const { userId, projectId } = place
  const { files, untrusted } =
    patterns.length > 0 && projectId !== null
      ? await readFiles({ userId, projectId }, patterns, INPUT_LIMITS, signal)
      : { files: [], untrusted: false }
  const startedAt = performance.now()
  const outcome = await python.run({ code, strictness, files, owner: userId }, listener, signal)
  const seconds = (performance.now() - startedAt) / 1000
  return { outcome, files: embed(outcome.files), seconds, untrusted }
}

/** Files that the page can show or download. Files that are too large are reduced to their names and sizes. */
function embed(files: readonly ProgramFile[]): WrittenFile[] {
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
