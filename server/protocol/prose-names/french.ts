// The words that Markdown leaves to whoever renders it, in French.
import type { ProseNames } from './prose-names.ts'

export const proseNames: ProseNames = {
  alert: {
    note: 'Remarque',
    tip: 'Astuce',
    important: 'Important',
    warning: 'Avertissement',
    caution: 'Attention',
  },
  details: 'Détails',
  footnotes: 'Notes',
}
