// The visible part of a prompt-mode answer: tracks the position on the line, and leaves no gaps where calls were
// removed.

/** The part of the text that a person sees. */
export interface ShownText {
  add(text: string): void
  /** Adds a run of backticks or tildes. In prose, backticks open or close inline code; tildes are text. */
  addTicks(run: string): void
  /** Marks the position where a call was removed. */
  cut(): void
  /** Returns what can be shown now. White space waits for what follows it. */
  take(): string
  /** Returns the rest. */
  end(): string
  /** Whether this line contains only white space so far. */
  readonly lineIsBlank: boolean
  readonly inlineCode: boolean
  /** Whether the line belongs to a block quote, which repeats what somebody else wrote. */
  readonly isQuoted: boolean
  /** Call it when an object that is not a call began here: then nothing else on its line is a call. */
  refuse(): void
  /** Whether a call may begin here: on a new line, or after a sentence that does more than mention one. */
  readonly mayCallFollow: boolean
}

/** Characters of the line that are checked to distinguish an announcement from an example. */
const LINE_TAIL = 160

const SENTENCE_END = /[.!?:;,…。！？：；，、)）\]】—-]\s*$/
const EXAMPLE_WORDS =
  /\b(?:for example|for instance|e\.g\.|such as|like this|looks? like|format|syntax|the form|writes?|zum Beispiel|beispiel\w*|z\.\s?B\.|par exemple|exemple|por ejemplo|ejemplo|por exemplo|exemplo|ad esempio|esempio)(?![\p{L}])|例如|比如|譬如|格式|形如|写成|例えば|たとえば|예를 들|예시|например|пример/iu
/** Words that introduce a quotation, so that what follows the colon is not a call. */
const REPORTING_WORDS =
  /\b(?:says?|said|reads?|contains?|contained|states?|stated|quotes?|quoted|tells?|told|asks?|asked|demands?|wants?|wrote|written|sagt|schreibt|lautet|dit|écrit|dice|escribe|diz)(?![\p{L}])|写着|写道|内容|要求|引用|声称|と書|говорит|пишет/iu
const NEGATION =
  /\b(?:not|never|no|cannot|\w+n['’]t|refus\w*|without|instead of|nicht|nie|niemals|kein\w*|pas|jamais|nunca|jamás|não|non|mai)(?![\p{L}])|不|别|勿|没|拒绝|ません|しない|ないで|않|안 |못|(?<![\p{L}])(?:не|нет|никогда)(?![\p{L}])/iu
/** Words by which a sentence says that no call will be made. */
const REFUSAL =
  /\b(?:(?:will|would|shall|should|must|may) not|won['’]t|wouldn['’]t|shouldn['’]t|mustn['’]t|refus\w*|never|werde\w* \S+ ?nicht|ne \w+ pas|jamais|nunca)(?![\p{L}])|不会|不要|不能|不应|拒绝|请勿|切勿/iu
const LIST_ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s/
/** Leading spaces that make a line code in Markdown. */
const CODE_INDENT = /^(?: {4}| {0,3}\t)/
/** Characters at the beginning of a line that determine its kind. */
const LINE_HEAD = 40

/** Create one per answer. Pass it the visible pieces in order. */
export function createShownText(): ShownText {
  let output = ''
  let pendingSpace = ''
  let hasOutput = false
  let afterCut = false
  let line = ''
  let isLineBlank = true
  let ticks = 0
  let head = ''
  let afterBlankLine = false
  let inList = false
  let isRefused = false

  const followLines = (text: string) => {
    for (const [at, part] of text.split('\n').entries()) {
      if (at > 0) {
        afterBlankLine = head.trim() === ''
        if (!afterBlankLine) inList = LIST_ITEM.test(head)
        head = ''
        isRefused = false
      }
      if (head.length < LINE_HEAD) head += part.slice(0, LINE_HEAD - head.length)
    }
  }
  const add = (text: string) => {
    followLines(text)
    const lineEnd = text.lastIndexOf('\n')
    if (lineEnd !== -1) ticks = 0
    const ending = lineEnd === -1 ? text : text.slice(lineEnd + 1)
    line = lineEnd === -1 ? line + ending : ending
    if (line.length > 2 * LINE_TAIL) line = line.slice(-LINE_TAIL)
    if (lineEnd !== -1 || isLineBlank) isLineBlank = ending.trim() === ''
    const core = text.trimEnd()
    if (core === '') {
      pendingSpace += text
      return
    }
    if (!afterCut) output += pendingSpace + core
    else output += (hasOutput ? '\n\n' : '') + core.trimStart()
    pendingSpace = text.slice(core.length)
    afterCut = false
    hasOutput = true
  }

  return {
    add,
    addTicks(run) {
      if (run.startsWith('~')) return add(run)
      if (ticks === 0) ticks = run.length
      else if (ticks === run.length) ticks = 0
      add(run)
    },
    cut() {
      afterCut = true
      pendingSpace = ''
      line = ''
      isLineBlank = true
      head = ''
      isRefused = false
      afterBlankLine = false
    },
    refuse() {
      isRefused = true
    },
    take() {
      const taken = output
      output = ''
      return taken
    },
    end() {
      if (!afterCut) output += pendingSpace
      pendingSpace = ''
      const taken = output
      output = ''
      return taken
    },
    get lineIsBlank() {
      return isLineBlank
    },
    get inlineCode() {
      return ticks > 0
    },
    get isQuoted() {
      return head.trimStart().startsWith('>')
    },
    get mayCallFollow() {
      if (ticks > 0 || isRefused) return false
      if (isLineBlank) return !(hasOutput && afterBlankLine && !inList && CODE_INDENT.test(head))
      if (head.trimStart().startsWith('>')) return false
      line = line.slice(-LINE_TAIL)
      return SENTENCE_END.test(line) && !EXAMPLE_WORDS.test(line) && isAnnouncement(line)
    },
  }
}

/** Whether a call may follow these words on their line: not if they quote somebody, or decline to make it. */
function isAnnouncement(line: string): boolean {
  const words = line.trimEnd()
  const sentence = lastPart(words, /[.!?。！？]/)
  if (/[.!?。！？]$/.test(words)) return !REFUSAL.test(sentence)
  const clause = lastPart(sentence, /[;,，；、]/)
  return !NEGATION.test(clause) && !REPORTING_WORDS.test(clause)
}

/** The text after the last of the marks, ignoring one at the very end. */
function lastPart(text: string, marks: RegExp): string {
  const parts = text.split(marks).filter((part) => part.trim() !== '')
  return parts.at(-1) ?? ''
}
