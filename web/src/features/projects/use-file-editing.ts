// The editing of a file: its text, the version that it is based on, saving, and changes by others.
import { useEffect, useState } from 'react'
import { isConflict } from '../../lib/http/api-client.ts'
import { reportError } from '../../ui/states/error-text.ts'
import { type FileContent, useWriteFile } from './api/files.ts'
import { readFileDraft, writeFileDraft } from './file-drafts.ts'

/**
 * Unsaved text stays based on the version that was loaded first; a later `file` only shows that the file has changed. Without
 * unsaved text, the newest version is shown.
 */
export function useFileEditing(
  { projectId, path }: { projectId: string; path: string },
  file: FileContent,
  readAgain: () => Promise<FileContent | undefined>,
) {
  const [draft] = useState(() => readFileDraft(projectId, path))
  const [base, setBase] = useState(
    draft !== undefined && draft.base.content !== file.content ? draft.base : file,
  )
  const [text, setText] = useState(draft?.text ?? file.content)
  // The editor's initial text; after a reload, the one of the newer version.
  const [initial, setInitial] = useState(text)
  const [edition, setEdition] = useState(0)
  const [revision, setRevision] = useState(0)
  const [seen, setSeen] = useState(file)
  const write = useWriteFile(projectId)
  const dirty = text !== base.content
  // Only what was read anew: what was just saved may be newer than the last reading.
  if (file !== seen) {
    setSeen(file)
    if (!dirty && file.version !== base.version) {
      setBase(file)
      setText(file.content)
      setInitial(file.content)
      setRevision(revision + 1)
    }
  }
  useEffect(
    () => writeFileDraft(projectId, path, dirty ? { base, text } : null),
    [projectId, path, dirty, base, text],
  )
  const store = (version: string | null): void =>
    write.mutate(
      { path, content: text, version, encoding: base.encoding },
      {
        onSuccess: setBase,
        onError: (error) => {
          if (!isConflict(error)) reportError(error)
        },
      },
    )
  return {
    hadDraft: draft !== undefined,
    base,
    text,
    setText,
    initial,
    /** A new number makes the editor start again with `initial`. */
    edition,
    /** A new number makes the editor show `initial` instead of its text. */
    revision,
    dirty,
    isSaving: write.isPending,
    changedElsewhere:
      isConflict(write.error) || (file.content !== base.content && file.content !== text),
    /** Fails with a conflict if somebody else has changed the file since `base`. */
    save: () => store(base.version),
    overwrite: () => store(null),
    /** Replaces the text with the newest version. */
    async reload(): Promise<void> {
      const fresh = await readAgain()
      if (fresh === undefined) return
      setBase(fresh)
      setText(fresh.content)
      setInitial(fresh.content)
      setEdition(edition + 1)
      write.reset()
    },
  }
}
