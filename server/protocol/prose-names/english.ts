// The words that Markdown leaves to whoever renders it, in English.
import type { ProseNames } from './prose-names.ts'

export const proseNames: ProseNames = {
  alert: {
    note: 'Note',
    tip: 'Tip',
    important: 'Important',
    warning: 'Warning',
    caution: 'Caution',
  },
  details: 'Details',
  footnotes: 'Footnotes',
}
