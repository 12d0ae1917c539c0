// The part of a prompt-mode answer that is shown: keeps track of where on its line it is, and leaves no gaps where calls were taken out.

export interface ShownText {
  add(text: string): void
  /** A run of backticks in prose: opens or closes inline code. */
  addTicks(run: string): void
  /** A call was taken out here. */
  cut(): void
  /** What can be shown now. White space waits for what follows it. */
  take(): string
  /** The rest. */
  end(): string
  /** Nothing but white space on this line so far. */
  readonly lineIsBlank: boolean
  readonly inlineCode: boolean
  /** Whether a call may begin here: on a new line, or behind a sentence that does not merely speak of one. */
  readonly mayCallFollow: boolean
}

/** So much of the line is looked at to tell an announcement from an example. */
const LINE_TAIL = 160

const sentenceEnd = /[.!?:;,…。！？：；，、)）\]】—-]\s*$/
const exampleWords =
  /\b(?:for example|for instance|e\.g\.|such as|like this|looks? like|format|syntax|the form|writes?)\b|例如|比如|譬如|格式|形如|写成/i

export function createShownText(): ShownText {
  let out = ''
  let space = ''
  let anything = false
  let afterCut = false
  let line = ''
  let blank = true
  let ticks = 0

  const add = (text: string) => {
    const lineEnd = text.lastIndexOf('\n')
    if (lineEnd !== -1) ticks = 0
    const ending = lineEnd === -1 ? text : text.slice(lineEnd + 1)
    line = lineEnd === -1 ? line + ending : ending
    if (line.length > 2 * LINE_TAIL) line = line.slice(-LINE_TAIL)
    if (lineEnd !== -1 || blank) blank = ending.trim() === ''
    const core = text.trimEnd()
    if (core === '') {
      space += text
      return
    }
    if (!afterCut) out += space + core
    else out += (anything ? '\n\n' : '') + core.trimStart()
    space = text.slice(core.length)
    afterCut = false
    anything = true
  }

  return {
    add,
    addTicks(run) {
      if (ticks === 0) ticks = run.length
      else if (ticks === run.length) ticks = 0
      add(run)
    },
    cut() {
      afterCut = true
      space = ''
      line = ''
      blank = true
    },
    take() {
      const taken = out
      out = ''
      return taken
    },
    end() {
      if (!afterCut) out += space
      space = ''
      const taken = out
      out = ''
      return taken
    },
    get lineIsBlank() {
      return blank
    },
    get inlineCode() {
      return ticks > 0
    },
    get mayCallFollow() {
      if (ticks > 0) return false
      if (blank) return true
      line = line.slice(-LINE_TAIL)
      return sentenceEnd.test(line) && !exampleWords.test(line)
    },
  }
}
