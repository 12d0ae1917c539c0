// Unsaved text of files, based on the file when the editing began.
import { createUnsavedTexts, type UnsavedText } from '../../lib/browser/unsaved-texts.ts'
import type { FileContent } from './api/files.ts'

/** An unsaved text, and the file that it is based on. */
export type FileDraft = UnsavedText<FileContent>

const drafts = createUnsavedTexts<FileContent>()
const placeOf = (projectId: string, path: string): string => `${projectId} ${path}`

/** The unsaved text of a file; undefined if there is none. */
export const readFileDraft = (projectId: string, path: string): FileDraft | undefined =>
  drafts.read(placeOf(projectId, path))

/** Stores the unsaved text; null removes it. */
export const writeFileDraft = (projectId: string, path: string, draft: FileDraft | null): void =>
  drafts.write(placeOf(projectId, path), draft)
