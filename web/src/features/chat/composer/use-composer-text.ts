// The text of the composer: stored as a draft, edited by suggestions, pasted files and other views.

import { type RefObject, useEffect, useLayoutEffect, useState } from 'react'
import { receiveInserts } from '../../../lib/browser/composer-insert.ts'
import { useNewest } from '../../../lib/newest.ts'
import { joinTexts, readDraft, receiveReturned, writeDraft } from './drafts.ts'

/** The text that the user writes into `field`. */
export function useComposerText(draftKey: string, field: RefObject<HTMLTextAreaElement | null>) {
  const [text, setText] = useState(() => readDraft(draftKey))
  const [caret, setCaret] = useState(0)
  /** Where the last `put` has placed the caret. */
  const [placement, setPlacement] = useState<{ end: number } | null>(null)
  const write = (next: string): void => {
    setText(next)
    writeDraft(draftKey, next)
  }

  /** Replaces a range of the text; the caret goes after the replacement. */
  const put = (added: string, from: number, to: number): void => {
    write(text.slice(0, from) + added + text.slice(to))
    const end = from + added.length
    setCaret(end)
    setPlacement({ end })
  }
  useLayoutEffect(() => {
    if (placement === null) return
    // At once: moving the caret later would tear apart what the user types meanwhile.
    field.current?.focus()
    field.current?.setSelectionRange(placement.end, placement.end)
    // A menu that closes meanwhile gives the focus back to its button.
    requestAnimationFrame(() => field.current?.focus())
  }, [placement, field])
  /** The latest `put`, for callbacks that outlive a render. */
  const insert = useNewest(put)
  const newestText = useNewest(text)
  useEffect(
    () =>
      receiveInserts((added) => {
        const { length } = newestText.current
        const isOnNewLine = length === 0 || newestText.current.endsWith('\n')
        insert.current(isOnNewLine ? added : `\n\n${added}`, length, length)
      }),
    [],
  )
  const newestWrite = useNewest(write)
  useLayoutEffect(
    () =>
      receiveReturned(draftKey, (returned) => {
        newestText.current = joinTexts(returned, newestText.current)
        newestWrite.current(newestText.current)
      }),
    [draftKey],
  )
  return { text, write, put, caret, setCaret, insert, newestText }
}
