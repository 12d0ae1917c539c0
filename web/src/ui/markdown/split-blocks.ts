// Cuts Markdown into top-level blocks, so that while an answer streams only its last block is parsed and drawn again.

/** A fenced code block is told apart: it needs no Markdown parser, however long it grows. */
export type Block = {
  /** Where in the text the block begins. */
  start: number
} & (
  | { kind: 'markdown'; text: string }
  | { kind: 'code'; language: string; code: string; closed: boolean }
)

const fenceStart = /^( {0,3})(`{3,}|~{3,})\s*([^\s`{]*)[^`]*$/
const listItem = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/
const topLevelItem = /^(?:[-*+]|\d{1,9}[.)])\s/
const mathFence = /^\s*\$\$\s*$/

/** A list longer than this is cut between its items, so that no block grows without end. */
const longList = 3_000

/** Linear in the text. Joining what comes out loses nothing but blank lines between blocks. */
export function splitBlocks(text: string, from = 0): Block[] {
  const blocks: Block[] = []
  let position = from
  let start = from
  let lines: string[] = []
  let length = 0
  let afterBlank = false
  let inList = false
  let inMath = false
  let fence: { mark: string; language: string; code: string[] } | null = null

  const close = (): void => {
    if (lines.length > 0) blocks.push({ kind: 'markdown', start, text: lines.join('\n') })
    lines = []
    length = 0
    inList = false
    afterBlank = false
  }

  for (const line of text.slice(from).split('\n')) {
    const lineStart = position
    position += line.length + 1
    if (fence !== null) {
      const trimmed = line.trim()
      if (trimmed.startsWith(fence.mark) && trimmed === fence.mark[0]?.repeat(trimmed.length)) {
        blocks.push({
          kind: 'code',
          start,
          language: fence.language,
          code: fence.code.join('\n'),
          closed: true,
        })
        fence = null
      } else fence.code.push(line)
      continue
    }
    if (!inMath && line.trim() === '') {
      afterBlank = lines.length > 0
      if (afterBlank) lines.push(line)
      continue
    }
    const opens = inMath ? null : fenceStart.exec(line)
    // A fence that is indented inside a list belongs to its item and is left to the parser.
    if (opens !== null && !(inList && (opens[1]?.length ?? 0) > 1)) {
      close()
      start = lineStart
      fence = { mark: opens[2] ?? '```', language: (opens[3] ?? '').toLowerCase(), code: [] }
      continue
    }
    const continuesList = inList && (listItem.test(line) || /^(?: {2,}|\t)/.test(line))
    if (afterBlank && !continuesList && !inMath) close()
    else if (inList && length > longList && topLevelItem.test(line)) close()
    if (lines.length === 0) {
      inList = listItem.test(line)
      start = lineStart
    }
    if (mathFence.test(line)) inMath = !inMath
    lines.push(line)
    length += line.length
    afterBlank = false
  }
  if (fence !== null)
    blocks.push({
      kind: 'code',
      start,
      language: fence.language,
      code: fence.code.join('\n'),
      closed: false,
    })
  else close()
  return blocks
}

export type SplitText = { text: string; blocks: readonly Block[] }

/** The blocks of a text that has grown: all but the last block of before are taken over as they are. */
export function growBlocks(before: SplitText | null, text: string): SplitText {
  if (before?.text === text) return before
  const last = before?.blocks.at(-1)
  if (before === null || last === undefined || !text.startsWith(before.text))
    return { text, blocks: splitBlocks(text) }
  return { text, blocks: [...before.blocks.slice(0, -1), ...splitBlocks(text, last.start)] }
}
