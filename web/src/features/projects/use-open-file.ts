// Which file of a project is open, and what becomes of its unsaved changes when another one is opened.
import { useState } from 'react'
import { reportError } from '../../ui/states/error-text.ts'
import { useWriteFile } from './api/files.ts'
import { readFileDraft, writeFileDraft } from './file-drafts.ts'

/** `line`: scrolled to, from 1. */
export type OpenFile = { path: string; line?: number | undefined }

/** `asked` is true while the person decides about unsaved changes: `saveAndGo` or `discardAndGo`, or `stay`. */
export function useOpenFile(projectId: string, initial: OpenFile | null) {
  const [open, setOpen] = useState<OpenFile | null>(initial)
  const [dirty, setDirty] = useState(false)
  /** What was chosen instead; undefined when nothing was. */
  const [wanted, setWanted] = useState<OpenFile | null | undefined>(undefined)
  const write = useWriteFile(projectId)
  const go = (): void => {
    setDirty(false)
    if (open !== null) writeFileDraft(projectId, open.path, null)
    setOpen(wanted ?? null)
  }
  return {
    open,
    setDirty,
    /** Opens another file at once, or after a question when there are unsaved changes. */
    show(next: OpenFile | null): void {
      if (dirty) setWanted(next)
      else setOpen(next)
    },
    /** The open file has another path, or none any more. */
    moved(path: string | null): void {
      setDirty(false)
      setOpen(path === null ? null : { path })
    },
    asked: wanted !== undefined,
    stay: () => setWanted(undefined),
    discardAndGo: go,
    saveAndGo(): void {
      const draft = open === null ? undefined : readFileDraft(projectId, open.path)
      if (open === null || draft === undefined) return
      write.mutate(
        { path: open.path, content: draft.text, version: draft.base.version },
        {
          onSuccess: go,
          // The file stays open with its unsaved text; saving it there shows what to do.
          onError: reportError,
        },
      )
    },
  }
}
