// The words that Markdown leaves to whoever renders it, in Portuguese.
import type { ProseNames } from './prose-names.ts'

export const proseNames: ProseNames = {
  alert: {
    note: 'Nota',
    tip: 'Dica',
    important: 'Importante',
    warning: 'Aviso',
    caution: 'Cuidado',
  },
  details: 'Detalhes',
  footnotes: 'Notas de rodapé',
}
