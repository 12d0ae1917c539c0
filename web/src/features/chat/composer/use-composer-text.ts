// The text of the composer: stored as a draft, edited by suggestions, pasted files and other views.
import { type RefObject, useEffect, useRef, useState } from 'react'
import { receiveInserts } from '../composer-insert.ts'
import { readDraft, writeDraft } from './drafts.ts'

/** The text that the user writes into `field`. */
export function useComposerText(draftKey: string, field: RefObject<HTMLTextAreaElement | null>) {
  const [text, setText] = useState(() => readDraft(draftKey))
  const [caret, setCaret] = useState(0)
  const write = (next: string): void => {
    setText(next)
    writeDraft(draftKey, next)
  }

  /** Replaces a range of the text; the caret goes after the replacement. */
  const put = (added: string, from: number, to: number): void => {
    write(text.slice(0, from) + added + text.slice(to))
    const end = from + added.length
    setCaret(end)
    requestAnimationFrame(() => {
      field.current?.focus()
      field.current?.setSelectionRange(end, end)
    })
  }
  /** The latest `put`, for callbacks that outlive a render. */
  const insert = useRef(put)
  insert.current = put
  const newestText = useRef(text)
  newestText.current = text
  useEffect(
    () =>
      receiveInserts((added) => {
        const { length } = newestText.current
        const isOnNewLine = length === 0 || newestText.current.endsWith('\n')
        insert.current(isOnNewLine ? added : `\n\n${added}`, length, length)
      }),
    [],
  )
  return { text, write, put, caret, setCaret, insert, newestText }
}
