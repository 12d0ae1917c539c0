// What was written in files and not saved: kept while the page is open, so that going elsewhere loses nothing.
import type { FileContent } from './api/files.ts'

export type FileDraft = {
  /** The file as it was when the writing began. */
  base: FileContent
  text: string
}

const drafts = new Map<string, FileDraft>()
const keyOf = (projectId: string, path: string): string => `${projectId} ${path}`

/** The browser asks before the page is left for good. */
const warn = (event: BeforeUnloadEvent): void => event.preventDefault()

export const readFileDraft = (projectId: string, path: string): FileDraft | undefined =>
  drafts.get(keyOf(projectId, path))

/** Null: there is nothing unsaved any more. */
export function writeFileDraft(projectId: string, path: string, draft: FileDraft | null): void {
  if (draft === null) drafts.delete(keyOf(projectId, path))
  else drafts.set(keyOf(projectId, path), draft)
  if (drafts.size > 0) addEventListener('beforeunload', warn)
  else removeEventListener('beforeunload', warn)
}
