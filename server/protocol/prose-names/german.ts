// The words that Markdown leaves to whoever renders it, in German.
import type { ProseNames } from './prose-names.ts'

export const proseNames: ProseNames = {
  alert: {
    note: 'Hinweis',
    tip: 'Tipp',
    important: 'Wichtig',
    warning: 'Warnung',
    caution: 'Vorsicht',
  },
  details: 'Details',
  footnotes: 'Fußnoten',
}
