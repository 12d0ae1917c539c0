// The words that Markdown leaves to whoever renders it, in Traditional Chinese.
import type { ProseNames } from './prose-names.ts'

export const proseNames: ProseNames = {
  alert: { note: '說明', tip: '提示', important: '重要', warning: '警告', caution: '小心' },
  details: '詳情',
  footnotes: '腳註',
}
