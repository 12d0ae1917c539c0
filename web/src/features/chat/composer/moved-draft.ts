// What is written while the first message creates its conversation: it moves from the home page into the conversation.
import { moveDraftFiles } from '../attachments/draft-files.ts'
import { readDraft, writeDraft } from './drafts.ts'

/** The selection in the field of the home page; null if it had no focus. */
let moved: { draftKey: string; start: number; end: number } | null = null

const fieldInUse = (): HTMLTextAreaElement | null => {
  const active = document.activeElement
  return active instanceof HTMLTextAreaElement && active.id === 'composer' ? active : null
}

/** Whether an input method composes a word in the message field. */
let isComposing = false
addEventListener('compositionstart', () => {
  isComposing = true
})
addEventListener('compositionend', () => {
  isComposing = false
})

/** Another field would end the word that an input method composes, so this waits for its end. */
const untilComposed = (): Promise<void> =>
  new Promise((resolve) => {
    if (!isComposing) return resolve()
    // Some browsers fire the last input event after this event.
    addEventListener('compositionend', () => setTimeout(resolve), { once: true })
  })

/** Makes the text and the files of a draft those of another one, whose composer continues with the same focus and selection. */
export async function moveDraft(from: string, to: string): Promise<void> {
  await untilComposed()
  const field = fieldInUse()
  moved =
    field === null ? null : { draftKey: to, start: field.selectionStart, end: field.selectionEnd }
  moveDraftFiles(from, to)
  const text = readDraft(from)
  if (text === '') return
  writeDraft(to, text)
  writeDraft(from, '')
}

/** Gives the focus and the selection of the moved draft to the field of its new composer. */
export function continueIn(field: HTMLTextAreaElement, draftKey: string): void {
  if (moved?.draftKey !== draftKey) return
  field.focus({ preventScroll: true })
  field.setSelectionRange(moved.start, moved.end)
  moved = null
}
