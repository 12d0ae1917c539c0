// Text and reasoning of one response that are not taken yet, with marked reasoning separated from the text.
import { tokenWeight } from '../../protocol/models/token-estimate.ts'
import type { Delta } from '../prose.ts'

/** Text and reasoning that are not taken yet. Adjacent pieces of one kind are joined. */
export interface DeltaBuffer {
  /** Adds text of the model, which may contain marked reasoning. */
  addText(text: string): void
  addThinking(text: string): void
  take(): Delta[]
  /** Like `take`, at the end: a possible beginning of a mark is text. */
  end(): Delta[]
  /** Whether nothing was ever added. */
  readonly isUnused: boolean
  /** Whether there was text for the person, not only white space. */
  readonly hasText: boolean
  readonly hasThinking: boolean
  /** Estimated tokens of what was taken; not rounded. */
  readonly tokens: number
}

/** Create one per response. */
export function createDeltaBuffer(): DeltaBuffer {
  let events: { type: Kind; text: string }[] = []
  let isUnused = true
  let hasText = false
  let hasThinking = false
  let tokens = 0
  let isTextTaken = false
  /** Whether text that was already taken turned out to be reasoning. */
  let wasReasoning = false
  /** Text that is not split yet. Everything that arrives together is split in one call. */
  let unsplit = ''

  const put = (type: Kind, text: string) => {
    if (type === 'thinking_delta') hasThinking = true
    else hasText ||= text.trim() !== ''
    const last = events.at(-1)
    if (last?.type === type) last.text += text
    else events.push({ type, text })
  }
  const marks = createReasoningSplitter({
    emit: put,
    textWasReasoning() {
      wasReasoning = isTextTaken
      isTextTaken = false
      hasText = false
      hasThinking = true
      const text = events.map((event) => event.text).join('')
      events = text === '' ? [] : [{ type: 'thinking_delta', text }]
    },
  })
  const split = () => {
    if (unsplit === '') return
    const text = unsplit
    unsplit = ''
    marks.push(text)
  }
  const take = (): Delta[] => {
    split()
    const taken: Delta[] = events
    for (const { type, text } of events) {
      tokens += tokenWeight(text)
      isTextTaken ||= type === 'text_delta'
    }
    events = []
    if (wasReasoning) taken.unshift({ type: 'text_was_thinking' })
    wasReasoning = false
    return taken
  }

  return {
    addText(text) {
      if (text === '') return
      isUnused = false
      unsplit += text
    },
    addThinking(text) {
      if (text === '') return
      isUnused = false
      split()
      marks.reasoningArrived()
      put('thinking_delta', text)
    },
    take,
    end() {
      split()
      marks.end()
      return take()
    },
    get isUnused() {
      return isUnused
    },
    get hasText() {
      return hasText || unsplit.trim() !== ''
    },
    get hasThinking() {
      return hasThinking
    },
    get tokens() {
      return tokens
    },
  }
}

// Separates reasoning that a model marks in its text from the answer, while the text streams.

/** Where a piece of text belongs. */
type Kind = 'thinking_delta' | 'text_delta'

/** Separates marked reasoning from the answer, even if a mark is split between two pieces. */
interface ReasoningSplitter {
  push(text: string): void
  /** Ends the answer: emits a held-back possible mark as text. */
  end(): void
  /** Call it when reasoning arrived in a field of its own: then the text before a lone closing mark is none. */
  reasoningArrived(): void
}

/** Receives what the splitter finds. */
interface ReasoningSink {
  emit(kind: Kind, text: string): void
  /** All text so far was reasoning: its closing mark came, and the chat template had sent the opening one. */
  textWasReasoning(): void
}

/** What models write around their reasoning. */
const PAIRS: readonly (readonly [open: string, close: string])[] = [
  // DeepSeek, Qwen, GLM, MiniMax and most open models.
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  // What models write that were told to mark their reasoning: those of Open WebUI's list.
  ['<reasoning>', '</reasoning>'],
  ['<reason>', '</reason>'],
  // Gemini and Gemma.
  ['<thought>', '</thought>'],
  ['<Thought>', '</Thought>'],
  ['<|channel>thought', '<channel|>'],
  // Seed-OSS.
  ['<seed:think>', '</seed:think>'],
  // LongCat.
  ['<longcat_think>', '</longcat_think>'],
  // MiniMax since M3.
  ['<mm:think>', '</mm:think>'],
  // Magistral.
  ['[THINK]', '[/THINK]'],
  // Kimi.
  ['◁think▷', '◁/think▷'],
  // Cohere.
  ['<|START_THINKING|>', '<|END_THINKING|>'],
  // OpenThinker.
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
]
const CLOSING = PAIRS.map(([, close]) => close)
/** The only mark that may open again after text: interleaved reasoning has this one, while answers contain others as tags. */
const AFTER_TEXT = '<think>'
/** The first characters of marks. */
const FIRST = /[<[◁]/

/**
 * A header or an end of OpenAI's harmony format (gpt-oss), which leaks if the server does not parse it:
 * `<|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…<|return|>`.
 */
const HARMONY =
  /^(?:<\|start\|>assistant)?<\|channel\|>(analysis|commentary|final)([^<]{0,100})(?:<\|constrain\|>[^<]{0,40})?<\|message\|>|^<\|(?:end|return|call)\|>/
const HARMONY_STARTS = ['<|start|>assistant', '<|channel|>', '<|end|>', '<|return|>', '<|call|>']
const MAX_HEADER = 200
/** As much of a line as is needed to tell whether it is a fence. */
const MAX_LINE_START = 80

/** What the text so far says about the answer. */
interface Marked {
  readonly sink: ReasoningSink
  /** The mark that ends the reasoning; null outside of it; '' if harmony's headers do. */
  closing: string | null
  /** The beginning of a possible mark. */
  held: string
  hasText: boolean
  hasReasoning: boolean
  isHarmony: boolean
  /** An opening mark was text: then the answer is about marks. */
  mentioned: boolean
  /** Whitespace after a mark belongs to the mark. */
  trimming: boolean
  /** Whether the text is in fenced code. */
  fenced: boolean
  last: string
  /** The current line: its number of backticks, whether it is blank, and its first characters. */
  ticksInLine: number
  lineIsBlank: boolean
  lineStart: string
}

/**
 * Emits text as it arrives, without the marks. Holds back only the beginning of a possible mark. A mark counts where
 * models write it: before any text or, for `<think>`, at the beginning of a line. In code (fenced or between backticks), in
 * quotes and within a sentence it is text, because then the answer is about marks, and no closing mark ends reasoning.
 */
function createReasoningSplitter(sink: ReasoningSink): ReasoningSplitter {
  const answer: Marked = {
    sink,
    closing: null,
    held: '',
    hasText: false,
    hasReasoning: false,
    isHarmony: false,
    mentioned: false,
    trimming: false,
    fenced: false,
    last: '',
    ticksInLine: 0,
    lineIsBlank: true,
    lineStart: '',
  }
  return {
    push(piece) {
      let text = answer.held + piece
      answer.held = ''
      for (;;) {
        const at = text.search(FIRST)
        if (at === -1) return give(answer, text)
        give(answer, text.slice(0, at))
        text = text.slice(at)
        const length = readMark(answer, text)
        if (length === -1) {
          answer.held = text
          return
        }
        if (length === 0) give(answer, text.slice(0, 1))
        text = text.slice(Math.max(1, length))
      }
    },
    end() {
      const text = answer.held
      answer.held = ''
      give(answer, text)
    },
    reasoningArrived() {
      answer.hasReasoning = true
    },
  }
}

/** Tracks code in the answer, so that a mark inside it is treated as text. */
function follow(answer: Marked, text: string): void {
  answer.last = text.at(-1) ?? answer.last
  let from = 0
  for (;;) {
    const lineEnd = text.indexOf('\n', from)
    const part = lineEnd === -1 ? text.slice(from) : text.slice(from, lineEnd)
    if (answer.lineStart.length < MAX_LINE_START)
      answer.lineStart += part.slice(0, MAX_LINE_START - answer.lineStart.length)
    answer.lineIsBlank &&= !/\S/.test(part)
    if (part.includes('`')) answer.ticksInLine += part.split('`').length - 1
    if (lineEnd === -1) return
    if (/^ {0,3}```/.test(answer.lineStart)) answer.fenced = !answer.fenced
    answer.lineStart = ''
    answer.lineIsBlank = true
    answer.ticksInLine = 0
    from = lineEnd + 1
  }
}

function give(answer: Marked, text: string): void {
  let kept = text
  if (answer.trimming) {
    kept = text.trimStart()
    if (kept === '') return
    answer.trimming = false
  }
  if (kept === '') return
  if (answer.closing === null) {
    follow(answer, kept)
    answer.hasText ||= /\S/.test(kept)
  } else answer.hasReasoning = true
  answer.sink.emit(answer.closing === null ? 'text_delta' : 'thinking_delta', kept)
}

const isLiteral = ({ fenced, lineStart, ticksInLine, last }: Marked): boolean =>
  fenced || /^ {0,3}```/.test(lineStart) || ticksInLine % 2 === 1 || /["'“‘「([{]/.test(last)

const mayBegin = (answer: Marked, mark: string): boolean =>
  !isLiteral(answer) && (!answer.hasText || (mark === AFTER_TEXT && answer.lineIsBlank))

/**
 * Whether a closing mark without an opening one counts: at the beginning of a line, directly after a sentence, or directly
 * after the last word and before a line break. Null if that depends on what follows.
 */
function mayEnd(answer: Marked, following: string): boolean | null {
  if (isLiteral(answer)) return false
  if (!answer.hasText) return true
  if (answer.hasReasoning || answer.mentioned) return false
  if (answer.lineIsBlank || /[.!?。！？]/.test(answer.last)) return true
  if (/\s/.test(answer.last)) return false
  return following === '' ? null : /^[\r\n]/.test(following)
}

function enter(answer: Marked, mark: string | null): void {
  answer.closing = mark
  answer.trimming = true
  answer.last = ''
  answer.lineStart = ''
  answer.lineIsBlank = true
  answer.ticksInLine = 0
}

/** Handles the mark at the beginning of `text`. Returns its length; 0 if there is none; -1 if more text must come to tell. */
function readMark(answer: Marked, text: string): number {
  const isOpen = answer.closing !== null
  if (answer.isHarmony || (!answer.hasText && !isOpen && !isLiteral(answer))) {
    const length = readHarmony(answer, text)
    if (length !== 0) return length
  }
  if (isOpen) {
    const mark = answer.closing ?? ''
    if (mark === '' || !text.startsWith(mark)) return mark.startsWith(text) ? -1 : 0
    enter(answer, null)
    return mark.length
  }
  let mayComplete = false
  for (const [open, close] of PAIRS) {
    if (text.startsWith(open)) {
      if (mayBegin(answer, open)) {
        enter(answer, close)
        return open.length
      }
      answer.mentioned = true
      return 0
    }
    mayComplete ||= open.startsWith(text)
  }
  for (const close of CLOSING) {
    if (text.startsWith(close)) {
      const counts = mayEnd(answer, text.slice(close.length))
      if (counts === null) return -1
      if (!counts) return 0
      if (answer.hasText) answer.sink.textWasReasoning()
      answer.hasReasoning ||= answer.hasText
      answer.hasText = false
      enter(answer, null)
      return close.length
    }
    mayComplete ||= close.startsWith(text)
  }
  return mayComplete ? -1 : 0
}

function readHarmony(answer: Marked, text: string): number {
  const [whole = '', channel, recipient = ''] = HARMONY.exec(text) ?? []
  if (whole !== '') {
    // A message to a tool is not for the person.
    const isAnswer = channel === undefined || (channel !== 'analysis' && !recipient.includes('to='))
    answer.isHarmony = true
    enter(answer, isAnswer ? null : '')
    return whole.length
  }
  if (text.length > MAX_HEADER) return 0
  return HARMONY_STARTS.some(
    (start) => start.startsWith(text) || (text.startsWith(start) && /^<\|[sc]/.test(text)),
  )
    ? -1
    : 0
}
