// Reads the project files that paths and patterns name, subject to the workspace's rules.
import { AppError } from '../errors.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { openProject, type ProjectSource } from '../workspace/open-project.ts'
import type { OutsideText } from '../workspace/outside-text.ts'
import type { ProjectSearch } from '../workspace/search/project-search.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Workspaces } from '../workspace/workspaces.ts'

/** Files of a project that a call reads. */
export interface ProjectFiles {
  files: ProjectFile[]
  /** Whether some of them, or their names, contain text from outside. */
  untrusted: boolean
}

/** A file with its content. */
export interface ProjectFile {
  /** Relative to the project, with `/` as separator. */
  path: string
  content: Uint8Array
}

/**
 * Reads the project files that `patterns` name: a path names its file, a folder everything in it, a pattern all matching
 * files.
 * @throws AppError if a pattern matches nothing or the limits are exceeded.
 */
export type ReadProjectFiles = (
  of: { userId: UserId; projectId: ProjectId },
  patterns: readonly string[],
  limits: { maxFiles: number; maxBytes: number },
  signal: AbortSignal,
) => Promise<ProjectFiles>

/** For tools that read files without being file tools, such as Python and images. */
export function createProjectFileReader(dependencies: {
  workspaces: Pick<Workspaces, 'open'>
  projects: ProjectSource['projects']
  search: Pick<ProjectSearch, 'find'>
  checkpoints: { outsideText: Pick<OutsideText, 'isIn' | 'isInNames'> }
}): ReadProjectFiles {
  /** The paths that one pattern names. */
  async function pathsOf(
    workspace: Workspace,
    pattern: string,
    maxFiles: number,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const literal = pattern.replace(/^\.\//, '')
    // Text that is not a valid path may still be a pattern; a path outside the project is neither.
    const state = /[*?[{]/.test(literal) ? null : await workspace.state(literal)
    if (state?.kind === 'file') return [literal]
    const glob = state?.kind === 'directory' ? `${literal.replace(/\/+$/, '')}/**` : literal
    const { paths } = await dependencies.search.find(workspace, glob, maxFiles + 1, signal)
    if (paths.length === 0)
      throw new AppError('not_found', `No file in the project matches ${JSON.stringify(pattern)}.`)
    return paths
  }

  return async ({ userId, projectId }, patterns, { maxFiles, maxBytes }, signal) => {
    const { workspace } = await openProject(dependencies, userId, projectId, 'read')
    const paths = new Set<string>()
    for (const pattern of patterns)
      for (const path of await pathsOf(workspace, pattern, maxFiles, signal)) paths.add(path)
    if (paths.size > maxFiles)
      throw new AppError('bad_request', `\`files\` matches more than ${maxFiles} files. Narrow it.`)
    const files: ProjectFile[] = []
    let left = maxBytes
    for (const path of paths) {
      const { bytes } = await workspace.read(path, maxBytes)
      left -= bytes.length
      if (left < 0)
        throw new AppError(
          'file_too_large',
          `\`files\` matches more than ${maxBytes / 1024 / 1024} MB in total.`,
        )
      files.push({ path, content: bytes })
    }
    const contents = files.map(({ content }) => content)
    const { outsideText } = dependencies.checkpoints
    const untrusted =
      (await outsideText.isInNames(workspace, [...paths])) ||
      (await outsideText.isIn(workspace, contents))
    return { files, untrusted }
  }
}
