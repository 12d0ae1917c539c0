// The text of the composer: stored as a draft, and changed in parts by suggestions, pasted files and other views.
import { type RefObject, useEffect, useRef, useState } from 'react'
import { receiveInserts } from '../composer-insert.ts'
import { readDraft, writeDraft } from './drafts.ts'

/** What the person writes into `field`. */
export function useComposerText(draftKey: string, field: RefObject<HTMLTextAreaElement | null>) {
  const [text, setText] = useState(() => readDraft(draftKey))
  const [caret, setCaret] = useState(0)
  const write = (next: string): void => {
    setText(next)
    writeDraft(draftKey, next)
  }

  /** Puts a text in place of a part of the message, with the caret behind it. */
  const put = (added: string, from: number, to: number): void => {
    write(text.slice(0, from) + added + text.slice(to))
    const end = from + added.length
    setCaret(end)
    requestAnimationFrame(() => {
      field.current?.focus()
      field.current?.setSelectionRange(end, end)
    })
  }
  /** `put` and the text as they are now, for callbacks that outlive a render. */
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
