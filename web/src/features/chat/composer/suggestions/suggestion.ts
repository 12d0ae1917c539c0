// One entry of the list above the message field.
import type { LucideIcon } from 'lucide-react'
import type { ChosenFiles } from '../../attachments/attachments.ts'

/** `hint` is the second line; `choose` changes the message field or acts at once. */
export type Suggestion = {
  key: string
  icon: LucideIcon
  label: string
  hint?: string | undefined
  choose(): void
}

/** What choosing an entry can do to the message. */
export type Editing = {
  /** Puts this in place of the sign and what follows it, with the caret behind it. */
  replace(text: string): void
  attach(files: readonly File[]): void
  attachStored: ChosenFiles['addStored']
}

/** Entries of one kind, at most. */
export const SUGGESTIONS_OF_A_KIND = 8
