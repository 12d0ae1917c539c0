// Cuts a long answer into messages: at paragraphs where possible, and never inside a code block without closing it.

/** A code block that is open: its first line, and the marks that close it. */
interface Fence {
  open: string
  close: string
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/
/** The most characters of the first line of a code block that is repeated. */
const MAX_FENCE = 60

/** The parts of a text, none longer than `max` UTF-16 units, none empty. */
export function splitText(text: string, max: number): string[] {
  const parts: string[] = []
  let lines: string[] = []
  let fence: Fence | null = null
  /** The number of lines up to the last empty one outside of a code block. */
  let paragraphs = 0

  const flush = (): void => {
    const emit = (taken: readonly string[]): void => {
      const part = taken.join('\n').trimEnd()
      if (part.trim() !== '') parts.push(part)
    }
    if (paragraphs > 0) {
      emit(lines.slice(0, paragraphs))
      lines = lines.slice(paragraphs)
    } else {
      emit(fence === null ? lines : [...lines, fence.close])
      lines = fence === null ? [] : [fence.open]
    }
    paragraphs = 0
  }
  const fits = (line: string): boolean => {
    const closing = fence === null ? 0 : fence.close.length + 1
    return lines.reduce((sum, one) => sum + one.length + 1, 0) + line.length + closing <= max
  }

  for (const whole of text.split('\n'))
    for (const line of cutLine(whole, max - 2 * MAX_FENCE)) {
      const begun = fence
      fence = fenceAfter(line, fence)
      // A line that closes the block is counted as if it were open still.
      while (lines.length > (begun === null ? 0 : 1) && !fits(line)) {
        const after: Fence | null = fence
        fence = begun
        flush()
        fence = after
      }
      lines.push(line)
      if (fence === null && line.trim() === '') paragraphs = lines.length
    }
  fence = null
  paragraphs = 0
  flush()
  return parts
}

/** The code block that is open after a line. */
function fenceAfter(line: string, fence: Fence | null): Fence | null {
  const found = FENCE.exec(line)
  const marks = found?.[1]
  if (marks === undefined) return fence
  if (fence === null)
    return { open: line.slice(0, MAX_FENCE), close: marks.slice(0, MAX_FENCE / 2) }
  const isEnd =
    marks[0] === fence.close[0] && marks.length >= fence.close.length && found?.[2]?.trim() === ''
  return isEnd ? null : fence
}

/** A line in pieces, cut at spaces where possible, never inside a character. */
function cutLine(line: string, max: number): string[] {
  const pieces: string[] = []
  let rest = line
  while (rest.length > max) {
    const space = rest.lastIndexOf(' ', max)
    let end = space > max / 2 ? space : max
    const unit = rest.charCodeAt(end)
    if (unit >= 0xdc00 && unit <= 0xdfff) end -= 1
    pieces.push(rest.slice(0, end))
    rest = rest.slice(end).trimStart()
  }
  return [...pieces, rest]
}
