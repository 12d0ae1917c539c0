// Unsaved text of files, stored in memory, so that navigating within the page loses nothing.
import type { FileContent } from './api/files.ts'

/** An unsaved text, and the file that it is based on. */
export type FileDraft = {
  /** The file when the editing began. */
  base: FileContent
  text: string
}

const drafts = new Map<string, FileDraft>()
const keyOf = (projectId: string, path: string): string => `${projectId} ${path}`

/** Makes the browser ask before it closes the page. */
const warn = (event: BeforeUnloadEvent): void => event.preventDefault()

/** The unsaved text of a file; undefined if there is none. */
export const readFileDraft = (projectId: string, path: string): FileDraft | undefined =>
  drafts.get(keyOf(projectId, path))

/** Stores the unsaved text; null removes it. */
export function writeFileDraft(projectId: string, path: string, draft: FileDraft | null): void {
  if (draft === null) drafts.delete(keyOf(projectId, path))
  else drafts.set(keyOf(projectId, path), draft)
  if (drafts.size > 0) addEventListener('beforeunload', warn)
  else removeEventListener('beforeunload', warn)
}
