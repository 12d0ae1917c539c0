// The editing of a stored text that others may change at the same time.
import { useEffect, useState } from 'react'
import { createUnsavedTexts, type UnsavedText } from '../../lib/browser/unsaved-texts.ts'

const unsaved = createUnsavedTexts<string>()

/**
 * `place` names the text: what was typed and not saved is there again when the user returns to it. A later `stored` text
 * replaces one that was not edited; for one that was, `isChangedElsewhere` is set and the user chooses.
 */
export function useTextEdit(place: string, stored: string) {
  const [edit, setEdit] = useState((): UnsavedText<string> => {
    const earlier = unsaved.read(place)
    return earlier === undefined || earlier.text === stored
      ? { base: stored, text: stored }
      : earlier
  })
  const { base, text } = edit
  if (stored !== base && text === base) setEdit({ base: stored, text: stored })
  useEffect(() => unsaved.write(place, edit.text === edit.base ? null : edit), [place, edit])
  return {
    /** The stored text that the edit was made from. */
    base,
    text,
    setText: (next: string): void => setEdit({ base, text: next }),
    isChangedElsewhere: stored !== base && stored !== text,
    /** Drops the edit. */
    takeStored: (): void => setEdit({ base: stored, text: stored }),
    /** Continues from what `store` has stored. Its failure changes nothing and is left to the mutation's own handler. */
    async save(store: () => Promise<string>): Promise<boolean> {
      const content = await store().catch(() => null)
      if (content === null) return false
      // Also if the user has left: a text that is saved needs no warning.
      if (unsaved.read(place)?.text === text) unsaved.write(place, null)
      setEdit((now) =>
        now.text === text ? { base: content, text: content } : { ...now, base: content },
      )
      return true
    },
  }
}
