// The types of the entries in the list above the message field.
import type { LucideIcon } from 'lucide-react'
import type { ChosenFiles } from '../../attachments/attachments.ts'

/** An entry. `hint` is the second line; `choose` edits the message or performs an action. */
export type Suggestion = {
  key: string
  icon: LucideIcon
  label: string
  hint?: string | undefined
  choose(): void
}

/** How an entry can change the message. */
export type Editing = {
  /** Replaces the trigger character and the text after it; the caret goes after the replacement. */
  replace(text: string): void
  attach(files: readonly File[]): void
  /** Attaches a file that the server has already. */
  attachStored: ChosenFiles['addStored']
}

/** Most entries of one kind. */
export const SUGGESTIONS_OF_A_KIND = 8
