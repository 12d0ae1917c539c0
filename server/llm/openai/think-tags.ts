// Separates reasoning in `<think>…</think>` from the answer while a model's text streams.

/** Where a piece of text belongs. */
export type Kind = 'thinking_delta' | 'text_delta'

/** Separates `<think>` from the answer, even if a tag is split between two pieces. */
export interface ThinkTagSplitter {
  push(text: string): void
  /** Ends the answer: emits a held-back possible tag as text. */
  end(): void
}

const OPEN = '<think>'
const CLOSE = '</think>'

/**
 * Emits text as it arrives, without the tags. Holds back only the beginning of a possible tag. A tag in code (fenced or
 * between backticks) or in quotes is text, because then the answer is about tags.
 */
export function createThinkTagSplitter(emit: (kind: Kind, text: string) => void): ThinkTagSplitter {
  let thinking = false
  let held = ''
  let last = ''
  // Whitespace after a tag belongs to the tag.
  let trimming = false
  let fenced = false
  // The current line: its number of backticks, and how it begins.
  let ticksInLine = 0
  let lineStart = ''

  /** Tracks code in the answer, so that a tag inside it is treated as text. */
  const follow = (text: string) => {
    last = text.at(-1) ?? last
    let from = 0
    for (;;) {
      const lineEnd = text.indexOf('\n', from)
      const part = lineEnd === -1 ? text.slice(from) : text.slice(from, lineEnd)
      if (lineStart.length < 8) lineStart += part.slice(0, 8)
      if (part.includes('`')) ticksInLine += part.split('`').length - 1
      if (lineEnd === -1) return
      if (/^ {0,3}```/.test(lineStart)) fenced = !fenced
      lineStart = ''
      ticksInLine = 0
      from = lineEnd + 1
    }
  }
  const give = (text: string) => {
    let kept = text
    if (trimming) {
      kept = text.trimStart()
      if (kept === '') return
      trimming = false
    }
    if (kept === '') return
    if (!thinking) follow(kept)
    emit(thinking ? 'thinking_delta' : 'text_delta', kept)
  }
  const isLiteral = (): boolean =>
    fenced || /^ {0,3}```/.test(lineStart) || ticksInLine % 2 === 1 || /["'“‘「]/.test(last)

  return {
    push(piece) {
      let text = held + piece
      held = ''
      for (;;) {
        const tag = thinking ? CLOSE : OPEN
        const at = text.indexOf('<')
        if (at === -1) return give(text)
        give(text.slice(0, at))
        text = text.slice(at)
        if (text.startsWith(tag) && (thinking || !isLiteral())) {
          thinking = !thinking
          trimming = true
          last = ''
          text = text.slice(tag.length)
        } else if (tag.startsWith(text)) {
          held = text
          return
        } else {
          give('<')
          text = text.slice(1)
        }
      }
    },
    end() {
      const text = held
      held = ''
      give(text)
    },
  }
}
