// The words that Markdown leaves to whoever renders it, in Russian.
import type { ProseNames } from './prose-names.ts'

export const proseNames: ProseNames = {
  alert: {
    note: 'Примечание',
    tip: 'Совет',
    important: 'Важно',
    warning: 'Предупреждение',
    caution: 'Осторожно',
  },
  details: 'Подробности',
  footnotes: 'Сноски',
}
