// Which file of a project is open, and the handling of unsaved changes when another one opens.
import { useState } from 'react'
import { reportError } from '../../ui/states/error-text.ts'
import { useWriteFile } from './api/files.ts'
import { readFileDraft, writeFileDraft } from './file-drafts.ts'

/** `line`, counted from 1, is scrolled to. `isNew`: the user has just created it, to write into it. */
export type OpenFile = { path: string; line?: number | undefined; isNew?: boolean }

/** While `asked`, the user decides about unsaved changes: `saveAndGo`, `discardAndGo` or `stay`. */
export function useOpenFile(projectId: string, initial: OpenFile | null) {
  const [open, setOpen] = useState<OpenFile | null>(initial)
  const [dirty, setDirty] = useState(false)
  /** The file chosen instead, null for none; undefined if there was no choice. */
  const [pending, setPending] = useState<OpenFile | null | undefined>(undefined)
  const write = useWriteFile(projectId)
  const go = (): void => {
    setDirty(false)
    if (open !== null) writeFileDraft(projectId, open.path, null)
    setOpen(pending ?? null)
  }
  return {
    open,
    setDirty,
    /** Opens another file at once, or after a question if there are unsaved changes. */
    show(next: OpenFile | null): void {
      if (dirty) setPending(next)
      else setOpen(next)
    },
    /** Updates the path of the open file; null closes it. */
    moved(path: string | null): void {
      setDirty(false)
      setOpen(path === null ? null : { path })
    },
    asked: pending !== undefined,
    stay: () => setPending(undefined),
    discardAndGo: go,
    saveAndGo(): void {
      const draft = open === null ? undefined : readFileDraft(projectId, open.path)
      if (open === null || draft === undefined) return
      write.mutate(
        { ...draft.base, path: open.path, content: draft.text },
        {
          onSuccess: go,
          // The file stays open with its unsaved text; saving it there shows what to do.
          onError: reportError,
        },
      )
    },
  }
}
