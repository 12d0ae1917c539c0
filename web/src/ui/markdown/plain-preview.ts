// Converts the beginning of an answer to plain text, for short previews.

const LINE_MARKS: readonly (readonly [RegExp, string])[] = [
  // Fences, rules, the separator below a table's head, and delimiters of block formulas.
  [/^\s*(?:`{3,}.*|~{3,}.*|[-*_](?:\s*[-*_]){2,}|\|?[\s:|-]*-[\s:|-]*|\$\$|\\\[|\\\])\s*$/, ''],
  [/^\s*(?:>\s?)+/, ''],
  [/^\s*\[!(?:note|tip|important|warning|caution)\]\s*/i, ''],
  [/^\s*\[\^[^\]\s]{1,100}\]:\s*/, ''],
  [/^\s*#{1,6}\s+/, ''],
  [/^\s*[-*+]\s+(?:\[[ xX]\]\s+)?/, ''],
  [/^\s*\|(.*)\|\s*$/, '$1'],
]

const INLINE_MARKS: readonly (readonly [RegExp, string])[] = [
  // Snippets of the search have no ends of lines: a fence goes with its language.
  [/`{3,}[\w+#.-]{0,20}\s/g, ' '],
  [/!?\[([^\]\n]{0,300})\]\([^)\s]{0,500}(?:\s[^)\n]{0,200})?\)/g, '$1'],
  // A preview may end inside a URL.
  [/!?\[([^\]\n]{0,300})\]\([^)\s]{0,500}$/g, '$1'],
  [/\[\^[^\]\s]{1,100}\]/g, ''],
  [/<\/?[a-z][a-z0-9]{0,19}(?:\s[^<>]{0,200})?\/?>/gi, ' '],
  [/\*\*|__|~~|`+/g, ''],
  [/(^|[\s(（])[*_](?=\S)/g, '$1'],
  [/(\S)[*_](?=[\s.,;:!?)，。；：！？）]|$)/g, '$1'],
  [/\\[()[\]]/g, ''],
  [/\$\$?([^\s$](?:[^$\n]{0,200}[^\s$])?)\$\$?(?!\d)/g, '$1'],
]

/** Markdown without its syntax, on one line. Linear in the length of the text, which should be short. */
export function plainPreview(markdown: string): string {
  const lines = markdown
    .split('\n')
    .map((line) => LINE_MARKS.reduce((text, [mark, instead]) => text.replace(mark, instead), line))
  return INLINE_MARKS.reduce((text, [mark, by]) => text.replaceAll(mark, by), lines.join('\n'))
    .replaceAll(/\s*\|\s*/g, ' · ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
