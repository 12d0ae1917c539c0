// One Python program with the project files it reads, and the files it wrote in a form that the page can show.
import { AppError } from '../../../errors.ts'
import { mimeOf } from '../../../lib/mime-of.ts'
import type { ProjectId, UserId } from '../../../protocol/ids.ts'
import type { PythonListener } from '../../../sandbox/python/isolated-sandbox.ts'
import type { Strictness } from '../../../sandbox/python/modules.ts'
import type { ProgramFile, ProgramOutcome } from '../../../sandbox/python/program.ts'
import type { PythonSandbox } from '../../../sandbox/python/sandbox.ts'
import type { ReadProjectFiles } from '../../project-files.ts'
import type { SkillFiles } from '../../skill-files.ts'

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
  skills: SkillFiles
}

/** Before the name of a skill in `files`, instead of a path of the project. */
const SKILL_PREFIX = 'skill:'
/** Whether an entry of `files` names a skill or a file of one. */
export const isOfSkill = (pattern: string): boolean => pattern.startsWith(SKILL_PREFIX)

/**
 * Runs the program in the turn of its user.
 * @param request `files` are paths and patterns of the project, of which there must be none without a project, and
 * `skill:<name>/<path>` for files of active skills, which are at `/skills/<name>/<path>`.
 * @throws AppError if the files cannot be read.
 */
export async function runPythonProgram(
  programs: PythonPrograms,
  request: { code: string; strictness: Strictness; files: readonly string[] },
  place: { userId: UserId; projectId: ProjectId | null },
  listener: PythonListener,
  signal: AbortSignal,
): Promise<RanProgram> {
  const { python, readFiles } = programs
  const { code, strictness } = request
  const { userId, projectId } = place
  const patterns = request.files.filter((pattern) => !isOfSkill(pattern))
  const ofProject =
    patterns.length > 0 && projectId !== null
      ? await readFiles({ userId, projectId }, patterns, INPUT_LIMITS, signal)
      : { files: [], untrusted: false }
  const files = [...ofProject.files, ...(await skillFiles(programs, request.files, place))]
  const { untrusted } = ofProject
  const startedAt = performance.now()
  const outcome = await python.run({ code, strictness, files, owner: userId }, listener, signal)
  const seconds = (performance.now() - startedAt) / 1000
  return { outcome, files: embed(outcome.files), seconds, untrusted }
}

/** What a person has accepted is not text from outside. @throws AppError if an entry names nothing of an active skill. */
async function skillFiles(
  { skills }: PythonPrograms,
  patterns: readonly string[],
  { userId, projectId }: { userId: UserId; projectId: ProjectId | null },
): Promise<ProgramFile[]> {
  const wanted = patterns
    .filter(isOfSkill)
    .map((pattern) => pattern.slice(SKILL_PREFIX.length).replace(/\/+$/, ''))
  if (wanted.length === 0) return []
  const isIn = (path: string, place: string) => path === place || path.startsWith(`${place}/`)
  const found = await skills.activeContents(
    userId,
    projectId,
    (path) => wanted.some((place) => isIn(path, place)),
    INPUT_LIMITS.maxBytes,
  )
  if (found === null)
    throw new AppError(
      'file_too_large',
      `The files of these skills have more than ${INPUT_LIMITS.maxBytes / 1024 / 1024} MB in total.`,
    )
  const missing = wanted.find((place) => !found.some(({ path }) => isIn(path, place)))
  if (missing !== undefined)
    throw new AppError(
      'not_found',
      `No skill that can be used now has ${JSON.stringify(`${SKILL_PREFIX}${missing}`)}.`,
    )
  return found.map(({ path, content }) => ({ path: `/skills/${path}`, content }))
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
