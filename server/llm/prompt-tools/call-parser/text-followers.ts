// Followers find the end of text that cannot contain a call: the closing fence of a code block, the last bracket of
// ordinary JSON.

/** Decides character by character where a piece of text ends. */
export interface Follower {
  /** Whether this character still belongs to the followed text. */
  accepts(character: string): boolean
  /**
   * The position in `text`, from `at` on, of the next character that must be checked. Those before it belong to the text.
   */
  skip(text: string, at: number): number
}

/** The first position, from `at` on, of one of the characters; the end of the text if there is none. */
export function nextMark(text: string, at: number, marks: string): number {
  let end = at
  while (end < text.length && !marks.includes(text[end] ?? '')) end += 1
  return end
}

/** `start`: the code so far, from its opening `fence` of backticks or tildes. The closing run belongs to the code. */
export function followCode(start: string, fence: string): Follower {
  const mark = fence[0] ?? ''
  let run = 0
  let lineIsBlank = /\n\s*$/.test(start)
  let hasLines = start.includes('\n')
  return {
    // After the first word of a line, only such a mark or the next line can matter.
    skip: (text, at) => (run > 0 || lineIsBlank ? at : nextMark(text, at, `${mark}\n`)),
    accepts(character) {
      if (character === mark) {
        // A fence closes at the beginning of a line. A fence that opened and closes on one line may close anywhere.
        if (run > 0 || lineIsBlank || !hasLines) run += 1
        lineIsBlank = false
        return true
      }
      if (run >= fence.length) return false
      run = 0
      if (character === '\n') {
        hasLines = true
        lineIsBlank = true
      } else if (!/\s/.test(character)) lineIsBlank = false
      return true
    },
  }
}

/** `start`: the value so far. A blank line ends it, too, so that a surplus bracket does not hide the rest of an answer. */
export function followValue(start: string): Follower {
  let open = 0
  let breaks = 0
  const follow = (character: string) => {
    if (character === '{' || character === '[') open += 1
    if (character === '}' || character === ']') open -= 1
    if (character === '\n') breaks += 1
    else if (!/\s/.test(character)) breaks = 0
  }
  for (const character of start) follow(character)
  return {
    skip: (text, at) => (open <= 0 || breaks > 0 ? at : nextMark(text, at, '`\n{}[]')),
    accepts(character) {
      if (character === '`' || open <= 0 || breaks >= 2) return false
      follow(character)
      return true
    },
  }
}
