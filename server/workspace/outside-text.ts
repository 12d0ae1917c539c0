// Tracks which files of a project contain text from outside, by content, so that renamed, copied and restored files stay
// marked; and which file names were chosen in runs with such text.
import { createHash } from 'node:crypto'
import type { OutsideContentRepository } from '../db/repositories/runs/outside-contents.ts'
import type { CheckpointFile } from '../db/tables/projects/checkpoints.ts'
import type { ProjectId } from '../protocol/ids.ts'
import { captureOne } from './checkpoints/capture/capture.ts'
import { parsePath } from './files/paths.ts'
import type { Workspace } from './workspace.ts'

/**
 * Which contents a change marks. `written`: everything it leaves, because a tainted run wrote it; `edited`: contents
 * derived from marked ones; `nothing`: none, because it restored earlier contents.
 */
export type MarkRule = 'written' | 'edited' | 'nothing'

/** Tracks which contents of projects include text from outside, by their hashes. */
export interface OutsideText {
  /** Whether one of these contents is marked. Call it after reading them, so that no open change is missed. */
  isIn(workspace: Workspace, contents: readonly Uint8Array[]): Promise<boolean>
  /** Like `isIn`, for files by path. Returns true without reading them if they are too many or too large. */
  isInFiles(workspace: Workspace, paths: readonly string[]): Promise<boolean>
  /**
   * Those of the names (one path segment each) that tainted runs chose. A name can contain a whole sentence, so showing one
   * counts as text from outside.
   */
  namesIn(workspace: Workspace, names: readonly string[]): Promise<ReadonlySet<string>>
  /** Whether a segment of one of these paths is such a name. */
  isInNames(workspace: Workspace, paths: readonly string[]): Promise<boolean>
  /** Whether anything in the project was ever marked. For programs, which may read all of it. */
  isInProject(projectId: ProjectId): Promise<boolean>
  /** Whether a change by a tainted run is in progress, of which the marks are not stored yet. */
  isChangeOpen(workspace: Workspace): Promise<boolean>
  /** Stores the marks of a change. Idempotent, because the same change may be reported again after a crash. */
  mark(projectId: ProjectId, files: readonly CheckpointFile[], rule: MarkRule): Promise<void>
}

/** Maximum number of files and bytes that are read to find marks. */
const MAX_FILES = 100
const MAX_BYTES = 32 * 1024 * 1024
/** Bytes hashed per turn of the event loop: about a millisecond. */
const PIECE_BYTES = 1024 * 1024

/** @param isOutsideChangeOpen whether a tainted change of the project is in progress, or was when the server died. */
export function createOutsideText(
  records: OutsideContentRepository,
  isOutsideChangeOpen: (workspace: Workspace) => Promise<boolean>,
): OutsideText {
  /** Checks open changes first: a change is closed only after its marks are stored. */
  const anyMarked = async (workspace: Workspace, hashes: readonly string[]): Promise<boolean> =>
    (await isOutsideChangeOpen(workspace)) ||
    (await records.marked(workspace.projectId, hashes)).size > 0

  const namesIn = async (
    workspace: Workspace,
    names: readonly string[],
  ): Promise<ReadonlySet<string>> => {
    const requested = new Set(names)
    if (requested.size === 0) return requested
    if (await isOutsideChangeOpen(workspace)) return requested
    if (!(await records.hasAny(workspace.projectId))) return new Set()
    const byHash = new Map([...requested].map((name) => [nameHash(name), name]))
    const marked = await records.marked(workspace.projectId, [...byHash.keys()])
    return new Set([...byHash].flatMap(([hash, name]) => (marked.has(hash) ? [name] : [])))
  }

  return {
    namesIn,
    async isInNames(workspace, paths) {
      const names = paths.flatMap((path) => path.split('/'))
      return (await namesIn(workspace, names)).size > 0
    },

    async isIn(workspace, contents) {
      const hashes: string[] = []
      for (const content of contents)
        if (content.length > 0) hashes.push(await hashInPieces(content))
      return hashes.length > 0 && (await anyMarked(workspace, hashes))
    },

    async isInFiles(workspace, paths) {
      if (paths.length === 0) return false
      if (await isOutsideChangeOpen(workspace)) return true
      if (!(await records.hasAny(workspace.projectId))) return false
      if (paths.length > MAX_FILES) return true
      const hashes: string[] = []
      let bytes = 0
      for (const path of paths) {
        const state = await workspace.state(path)
        bytes += state?.size ?? 0
        if (bytes > MAX_BYTES) return true
        const content = await captureOne(workspace.root, parsePath(path), null)
        if (content?.kind === 'file' && content.size > 0) hashes.push(content.hash)
      }
      return anyMarked(workspace, hashes)
    },

    isChangeOpen: isOutsideChangeOpen,

    isInProject: (projectId) => records.hasAny(projectId),

    async mark(projectId, files, rule) {
      if (rule === 'nothing') return
      const writtenFiles = files.flatMap(({ before, after }) =>
        // An empty file holds no text, and all empty files have the same hash.
        after?.kind === 'file' && after.size > 0 ? [{ before, after }] : [],
      )
      if (rule === 'written') {
        // The names of existing files were chosen earlier.
        const named = files.flatMap(({ path, before, after }) =>
          before === null && after !== null ? [nameHash(path.split('/').at(-1) ?? '')] : [],
        )
        return await records.add(projectId, [
          ...writtenFiles.map(({ after }) => after.hash),
          ...named,
        ])
      }
      const origins = writtenFiles.flatMap(({ before }) =>
        before?.kind === 'file' ? [before.hash] : [],
      )
      if (origins.length === 0) return
      const marked = await records.marked(projectId, origins)
      await records.add(
        projectId,
        writtenFiles.flatMap(({ before, after }) =>
          before?.kind === 'file' && marked.has(before.hash) ? [after.hash] : [],
        ),
      )
    },
  }
}

/** The prefix separates names from contents; a content with the same prefix would merely be marked needlessly. */
export const nameHash = (name: string): string =>
  createHash('sha256').update('name of a file\0').update(name).digest('hex')

/** The SHA-256 of a content, as marks have it, without holding up the event loop. */
export async function hashInPieces(content: Uint8Array): Promise<string> {
  const hash = createHash('sha256')
  for (let index = 0; index < content.length; index += PIECE_BYTES) {
    if (index > 0) await new Promise((resolve) => setImmediate(resolve))
    hash.update(content.subarray(index, index + PIECE_BYTES))
  }
  return hash.digest('hex')
}
