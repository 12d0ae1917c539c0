// The words that Markdown leaves to whoever renders it, in Korean.
import type { ProseNames } from './prose-names.ts'

export const proseNames: ProseNames = {
  alert: { note: '참고', tip: '팁', important: '중요', warning: '경고', caution: '주의' },
  details: '자세히',
  footnotes: '각주',
}
