// Unsaved text of files, kept while the page is open, so that navigating away loses nothing.
import type { FileContent } from './api/files.ts'

/** What is being written, and the file that it began with. */
export type FileDraft = {
  /** The file as it was when the editing began. */
  base: FileContent
  text: string
}

const drafts = new Map<string, FileDraft>()
const keyOf = (projectId: string, path: string): string => `${projectId} ${path}`

/** Makes the browser ask before it closes the page. */
const warn = (event: BeforeUnloadEvent): void => event.preventDefault()

/** Undefined when nothing of the file is unsaved. */
export const readFileDraft = (projectId: string, path: string): FileDraft | undefined =>
  drafts.get(keyOf(projectId, path))

/** Null: nothing is unsaved any more. */
export function writeFileDraft(projectId: string, path: string, draft: FileDraft | null): void {
  if (draft === null) drafts.delete(keyOf(projectId, path))
  else drafts.set(keyOf(projectId, path), draft)
  if (drafts.size > 0) addEventListener('beforeunload', warn)
  else removeEventListener('beforeunload', warn)
}
