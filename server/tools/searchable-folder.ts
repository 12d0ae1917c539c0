// The folder of a project as its searchable files see it.
import { AppError } from '../errors.ts'
import type { ProjectFolder } from '../knowledge/follow-files.ts'
import { isSameContent } from '../workspace/files/entries.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** Further files are not looked through for one that was renamed. */
const MAX_FILES = 20_000

/** `maxBytes`: larger files do not become documents. */
export const searchableFolder = (workspace: Workspace, maxBytes: number): ProjectFolder => ({
  isSameContent,
  async state(path) {
    // The path may come from an imported document, and be none.
    const state = await workspace.state(path).catch((error: unknown) => {
      if (error instanceof AppError) return null
      throw error
    })
    return state?.kind === 'file' ? state : null
  },
  async read(path) {
    const { bytes, state } = await workspace.read(path, maxBytes)
    return { bytes, version: state.version }
  },
  async files() {
    const found: { path: string; size: number }[] = []
    const folders = ['']
    for (const folder of folders) {
      for (const { kind, path, size } of await workspace.list(folder)) {
        if (kind === 'directory') folders.push(path)
        if (kind === 'file') found.push({ path, size })
      }
      if (found.length >= MAX_FILES) break
    }
    return found
  },
})
