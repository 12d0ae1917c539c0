// Gives a tool the files of a project that paths and patterns name, read through the workspace's own rules.
import { AppError } from '../errors.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { ProjectSearch } from '../workspace/search.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Workspaces } from '../workspace/workspaces.ts'

export interface ProjectFile {
  /** Relative to the project, with `/` between its parts. */
  path: string
  content: Uint8Array
}

/**
 * The files of a project that `patterns` name: a path gives its file, a folder all that is in it, a pattern what it
 * matches. Throws an `AppError` when one names nothing or all of them more than the limits.
 */
export type ReadProjectFiles = (
  of: { userId: UserId; projectId: ProjectId },
  patterns: readonly string[],
  limits: { maxFiles: number; maxBytes: number },
  signal: AbortSignal,
) => Promise<ProjectFile[]>

export function createProjectFileReader(dependencies: {
  workspaces: Pick<Workspaces, 'open'>
  search: Pick<ProjectSearch, 'find'>
}): ReadProjectFiles {
  /** The paths behind one of the patterns. */
  async function pathsOf(
    workspace: Workspace,
    pattern: string,
    maxFiles: number,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const literal = pattern.replace(/^\.\//, '')
    // A text that is no path may still be a pattern; one that leaves the project is neither.
    const state = /[*?[{]/.test(literal) ? null : await workspace.state(literal)
    if (state?.kind === 'file') return [literal]
    const glob = state?.kind === 'directory' ? `${literal.replace(/\/+$/, '')}/**` : literal
    const { paths } = await dependencies.search.find(workspace, glob, maxFiles + 1, signal)
    if (paths.length === 0)
      throw new AppError('not_found', `No file of the project matches ${JSON.stringify(pattern)}.`)
    return paths
  }

  return async ({ userId, projectId }, patterns, { maxFiles, maxBytes }, signal) => {
    const workspace = dependencies.workspaces.open(userId, projectId)
    const paths = new Set<string>()
    for (const pattern of patterns)
      for (const path of await pathsOf(workspace, pattern, maxFiles, signal)) paths.add(path)
    if (paths.size > maxFiles)
      throw new AppError('bad_request', `\`files\` names more than ${maxFiles} files.`)
    const files: ProjectFile[] = []
    let left = maxBytes
    for (const path of paths) {
      const { bytes } = await workspace.read(path, maxBytes)
      left -= bytes.length
      if (left < 0)
        throw new AppError(
          'file_too_large',
          `\`files\` names more than ${maxBytes / 1024 / 1024} MB in all.`,
        )
      files.push({ path, content: bytes })
    }
    return files
  }
}
