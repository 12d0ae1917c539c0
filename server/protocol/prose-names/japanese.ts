// The words that Markdown leaves to whoever renders it, in Japanese.
import type { ProseNames } from './prose-names.ts'

export const proseNames: ProseNames = {
  alert: { note: 'メモ', tip: 'ヒント', important: '重要', warning: '警告', caution: '注意' },
  details: '詳細',
  footnotes: '脚注',
}
