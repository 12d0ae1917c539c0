// The words that Markdown leaves to whoever renders it, in Spanish.
import type { ProseNames } from './prose-names.ts'

export const proseNames: ProseNames = {
  alert: {
    note: 'Nota',
    tip: 'Consejo',
    important: 'Importante',
    warning: 'Advertencia',
    caution: 'Precaución',
  },
  details: 'Detalles',
  footnotes: 'Notas al pie',
}
