// Finds tool calls in a model's text while it streams. Holds back a possible call until it is decided; other text passes.

import { createGatheredText, type GatheredText } from '../streaming/text-buffer.ts'
import {
  beginsClosingTag,
  beginsOpeningTag,
  beginsWithTool,
  endsWithClosingTag,
  isClosingTag,
  isFunctionTag,
  isOpeningTag,
  isTagMentioned,
  mayHoldCalls,
  withoutClosingTag,
} from './call-parser/call-tags.ts'
import { createJsonScanner, type JsonScanner } from './call-parser/json-scanner.ts'
import {
  isCallKey,
  type KnownTools,
  type PromptCall,
  type Reading,
  readBeforeMark,
  readJsonCalls,
  readXmlCalls,
} from './call-parser/read-calls.ts'
import { type Follower, followCode, followValue, nextMark } from './call-parser/text-followers.ts'
import { createShownText, type ShownText } from './call-parser/visible-text.ts'

/** Separates the calls in a model's text from what a person sees. */
export interface PromptCallParser {
  /** Adds the next piece of the answer. Returns the text that can be shown now. */
  push(text: string): string
  /** Ends the answer. Returns the rest of the text. `cutOff`: it ended at the token limit, so a call may be incomplete. */
  end(options: { cutOff: boolean }): string
  /** The calls so far, in order. */
  readonly calls: readonly PromptCall[]
  /** Unreadable calls, as the model wrote them. */
  readonly faults: readonly PromptFault[]
}

/** A text that was meant as a call but is not a valid one, and what is wrong with it. */
export interface PromptFault {
  raw: string
  problem: string
}

/** A longer held-back text is not a call. */
const MAX_HELD_CHARACTERS = 1_100_000
const MAX_CALLS = 32
/** Maximum number of times that a value without an end is parsed again up to a closing mark. */
const MAX_REPARSES = 4

/** Handles the next character. Returns the state that handles the character after it. */
type State = (parser: Parser, character: string) => State

/** Text that may be a call, held back until that is decided. */
interface Held {
  /** What precedes a value or a tag's content. */
  lead: string
  body: GatheredText
  /** The last characters of a tag's content. */
  tail: string
  scanner: JsonScanner | null
  isTagged: boolean
  /** Whether it includes the beginning of the fence around it. */
  hasFence: boolean
}

const nothingHeld = (): Held => ({
  lead: '',
  body: createGatheredText(),
  tail: '',
  scanner: null,
  isTagged: false,
  hasFence: false,
})

interface Parser {
  readonly known: KnownTools
  readonly shown: ShownText
  readonly calls: PromptCall[]
  readonly faults: PromptFault[]
  state: State
  held: Held
  /** Whether what is held back follows text on its line. */
  isMidLine: boolean
  /** The backticks or tildes of the open fence. */
  fence: string
  /** Whether the beginning of the fence was removed with its calls. */
  dropsClosingFence: boolean
  follower: Follower | null
  /** What was read of a call whose line has not ended. */
  pending: Reading
  reparses: number
}

const NO_CALL: Reading = { kind: 'fault', problem: 'there is no call in the tag' }

const isToolOf =
  ({ known }: Parser) =>
  (name: string): boolean =>
    known.has(name)

const isSpace = (character: string): boolean => character.trim() === ''

/**
 * Each character is read once, and every decision depends on the text alone: however it is split into pieces, the text and
 * calls are the same. A call in code of another language, in inline code or in a sentence is text.
 */
export function createPromptCallParser(known: KnownTools): PromptCallParser {
  const parser: Parser = {
    known,
    shown: createShownText(),
    calls: [],
    faults: [],
    state: inText,
    held: nothingHeld(),
    isMidLine: false,
    fence: '',
    dropsClosingFence: false,
    follower: null,
    pending: { kind: 'text' },
    reparses: 0,
  }
  return {
    push(text) {
      parser.state = run(parser, parser.state, text)
      return parser.shown.take()
    },
    end({ cutOff }) {
      settleHeld(parser, cutOff)
      return parser.shown.end()
    },
    calls: parser.calls,
    faults: parser.faults,
  }
}

function run(parser: Parser, from: State, text: string): State {
  let next = from
  for (let at = 0; at < text.length; ) {
    const end = endOfPlain(parser, next, text, at)
    if (end === at) next = next(parser, text[at] ?? '')
    else if (next === inValue) parser.held.body.add(text.slice(at, end))
    else parser.shown.add(text.slice(at, end))
    at = Math.max(end, at + 1)
  }
  return next
}

/** The end of the text that cannot change the state. Most of an answer is prose, code, or the inside of long strings. */
function endOfPlain(parser: Parser, at: State, text: string, from: number): number {
  if (at === inValue) return parser.held.scanner?.skip(text, from) ?? from
  if (at === inFollowed) return parser.follower?.skip(text, from) ?? from
  if (at !== inText) return from
  return nextMark(text, from, '`~{[<')
}

function hold(parser: Parser, character: string, next: State): State {
  parser.held.lead += character
  return next
}

function reset(parser: Parser): void {
  parser.held = nothingHeld()
}

/** The held-back text is not a call; in a fence, the whole fence is code. */
function release(parser: Parser, next: State = inText): State {
  const text = parser.held.lead + parser.held.body.read()
  if (parser.held.hasFence) parser.follower = followCode(text, parser.fence)
  const after = parser.held.hasFence ? inFollowed : next
  reset(parser)
  parser.shown.add(text)
  return after
}

function inText(parser: Parser, character: string): State {
  const mayFence = character === '`' || (character === '~' && parser.shown.lineIsBlank)
  if (mayFence) return hold(parser, character, inTicks)
  const mayBegin = character === '{' || character === '[' || character === '<'
  if (mayBegin && parser.shown.mayCallFollow) {
    parser.isMidLine = !parser.shown.lineIsBlank
    return startCandidate(parser, character)
  }
  parser.shown.add(character)
  if (character !== '{' || parser.shown.inlineCode) return inText
  // A call inside an object that is only mentioned is only mentioned, too.
  parser.shown.refuse()
  parser.follower = followValue(character)
  return inFollowed
}

function startCandidate(parser: Parser, character: string): State {
  if (character === '{') return startValue(parser, character)
  return hold(parser, character, character === '[' ? inBracket : inAngle)
}

function inFollowed(parser: Parser, character: string): State {
  if (parser.follower?.accepts(character) !== true) return inText(parser, character)
  parser.shown.add(character)
  return inFollowed
}

function inTicks(parser: Parser, character: string): State {
  if (character === parser.held.lead[0]) return hold(parser, character, inTicks)
  const ticks = parser.held.lead
  if (ticks.length < 3 || parser.shown.inlineCode || parser.shown.isQuoted) {
    parser.held.lead = ''
    parser.shown.addTicks(ticks)
    return inText(parser, character)
  }
  const closes = parser.dropsClosingFence && parser.fence[0] === ticks[0] && isSpace(character)
  parser.dropsClosingFence = false
  if (closes) {
    // The end of a fence whose beginning was removed with its calls.
    parser.held.lead = ''
    return afterCall(parser, character)
  }
  parser.fence = ticks
  parser.held.hasFence = true
  parser.isMidLine = false
  return inFenceInfo(parser, character)
}

function inFenceInfo(parser: Parser, character: string): State {
  const language = parser.held.lead.slice(parser.fence.length).trim() // A space may stand before it.
  const isInfo = /[\w+-]/.test(character) || (character === ' ' && language === '')
  if (isInfo && parser.held.lead.length < parser.fence.length + 24)
    return hold(parser, character, inFenceInfo)
  return mayHoldCalls(language)
    ? inFenceBody(parser, character)
    : release(parser)(parser, character)
}

function inFenceBody(parser: Parser, character: string): State {
  if (isSpace(character)) return hold(parser, character, inFenceBody)
  return '{[<'.includes(character)
    ? startCandidate(parser, character)
    : release(parser)(parser, character)
}

/** A list is a candidate only when its first element is an object. */
function inBracket(parser: Parser, character: string): State {
  if (isSpace(character)) return hold(parser, character, inBracket)
  if (character !== '{') return release(parser)(parser, character)
  const list = parser.held.lead.slice(parser.held.lead.lastIndexOf('['))
  parser.held.lead = parser.held.lead.slice(0, -list.length)
  return startValue(parser, list + character)
}

function inAngle(parser: Parser, character: string): State {
  const start = parser.held.lead.lastIndexOf('<')
  const tag = parser.held.lead.slice(start) + character
  if (isFunctionTag(tag)) {
    parser.held.lead = parser.held.lead.slice(0, start)
    parser.held.isTagged = true
    return run(parser, inXml, tag)
  }
  if (!beginsOpeningTag(tag)) return release(parser)(parser, character)
  parser.held.isTagged = isOpeningTag(tag)
  return hold(parser, character, parser.held.isTagged ? inTag : inAngle)
}

function inTag(parser: Parser, character: string): State {
  if (isSpace(character)) return hold(parser, character, inTag)
  if (character === '{') return startValue(parser, character)
  if (character === '[') return hold(parser, character, inBracket)
  return /[\w<]/.test(character) ? inXml(parser, character) : release(parser)(parser, character)
}

function inXml(parser: Parser, character: string): State {
  parser.held.body.add(character)
  parser.held.tail = (parser.held.tail + character).slice(-20)
  if (parser.held.body.length > MAX_HELD_CHARACTERS) return release(parser)
  if (character === '>' && endsWithClosingTag(parser.held.tail)) {
    // A function inside a tag ends with the tag.
    if (parser.held.tail.endsWith('</function>') && parser.held.lead.includes('<')) return inXml
    const reading = readXmlCalls(withoutClosingTag(parser.held.body.read()), parser.known)
    const isNoise =
      reading.kind === 'text' &&
      (!parser.isMidLine || beginsWithTool(parser.held.body.read(), isToolOf(parser)))
    return settle(parser, isNoise ? NO_CALL : reading)
  }
  return isTagMentioned(parser.held.body, character, {
    isMidLine: parser.isMidLine,
    isTool: isToolOf(parser),
  })
    ? release(parser)
    : inXml
}

function startValue(parser: Parser, text: string): State {
  parser.held.scanner = createJsonScanner({
    endMarks: `${parser.held.hasFence || parser.dropsClosingFence ? parser.fence.charAt(0) : ''}${parser.held.isTagged ? '<' : ''}`,
    acceptsKey: isCallKey,
  })
  return run(parser, inValue, text)
}

function inValue(parser: Parser, character: string): State {
  const scan = parser.held.scanner?.feed(character) ?? 'reject'
  if (scan === 'bound') return settleValue(parser)(parser, character)
  parser.held.body.add(character)
  if (scan === 'done') return settleValue(parser)
  if (scan === 'more' && parser.held.body.length <= MAX_HELD_CHARACTERS) return inValue
  parser.follower = followValue(parser.held.body.read())
  return release(parser, inFollowed)
}

function settleValue(parser: Parser): State {
  const { strayQuotes = [] } = parser.held.scanner ?? {}
  return settle(
    parser,
    readJsonCalls(parser.held.body.read(), parser.known, {
      explicit: parser.held.isTagged,
      strayQuotes,
    }),
  )
}

function settle(parser: Parser, reading: Reading): State {
  if (reading.kind === 'text' || parser.calls.length + parser.faults.length >= MAX_CALLS)
    return release(parser)
  const isOver =
    parser.held.isTagged ||
    parser.held.hasFence ||
    parser.dropsClosingFence ||
    /\n\s*$/.test(parser.held.body.read().slice(-40))
  if (!parser.isMidLine && isOver) return accept(parser, reading)
  parser.pending = reading
  return inRestOfLine
}

/** A call without a fence or tag counts only if nothing but another call follows on its line. */
function inRestOfLine(parser: Parser, character: string): State {
  if (' \t}],;'.includes(character)) {
    parser.held.body.add(character)
    return inRestOfLine
  }
  return '\r\n{[<'.includes(character)
    ? accept(parser, parser.pending)(parser, character)
    : release(parser)(parser, character)
}

function accept(parser: Parser, reading: Reading): State {
  if (reading.kind === 'calls') parser.calls.push(...reading.calls)
  if (reading.kind === 'fault')
    parser.faults.push({
      raw: parser.held.lead + parser.held.body.read(),
      problem: reading.problem,
    })
  parser.dropsClosingFence ||= parser.held.hasFence
  parser.isMidLine = false
  reset(parser)
  parser.shown.cut()
  return afterCall
}

/** After a call: white space, surplus brackets, the end of its fence or tag, the next call. */
function afterCall(parser: Parser, character: string): State {
  if (/[\s}\],;]/.test(character)) return afterCall
  if (character === parser.fence[0] && parser.dropsClosingFence)
    return hold(parser, character, inTicks)
  return character === '<' ? hold(parser, character, inClosingTag) : inText(parser, character)
}

function inClosingTag(parser: Parser, character: string): State {
  const tag = parser.held.lead + character
  parser.held.lead = ''
  if (isClosingTag(tag)) return afterCall
  return beginsClosingTag(tag) ? hold(parser, tag, inClosingTag) : run(parser, inText, tag)
}

function settleEnd(parser: Parser, cutOff: boolean): void {
  if (parser.state === inRestOfLine) accept(parser, parser.pending)
  else if (parser.state === inTicks && parser.dropsClosingFence && parser.held.lead.length >= 3)
    reset(parser)
  else if (parser.state === inXml) {
    const reading = readXmlCalls(withoutClosingTag(parser.held.body.read()), parser.known)
    const isCut = cutOff && reading.kind !== 'text'
    const isNoise =
      reading.kind === 'text' && beginsWithTool(parser.held.body.read(), isToolOf(parser))
    settleLast(
      parser,
      isCut ? { kind: 'fault', problem: 'it is cut off' } : isNoise ? NO_CALL : reading,
    )
  } else if (parser.state === inValue) {
    const broken = cutOff || parser.held.scanner?.inString === true
    if (broken && !cutOff && tryReparse(parser)) settleHeld(parser, cutOff)
    else
      settleLast(
        parser,
        readJsonCalls(parser.held.body.read(), parser.known, {
          explicit: parser.held.isTagged,
          broken,
        }),
      )
  } else release(parser)
}

function settleHeld(parser: Parser, cutOff: boolean): void {
  if (parser.held.lead !== '' || parser.held.body.length > 0) settleEnd(parser, cutOff)
}

function settleLast(parser: Parser, reading: Reading): void {
  if (reading.kind === 'text') release(parser)
  else accept(parser, reading)
}

/** Parses a value again if a stray quote hid its end. */
function tryReparse(parser: Parser): boolean {
  if (++parser.reparses > MAX_REPARSES) return false
  const found = readBeforeMark(
    parser.held.body.read(),
    parser.known,
    parser.held.isTagged ? null : parser.fence,
  )
  if (found === null) return false
  parser.state = run(parser, accept(parser, found.reading), found.rest)
  return true
}
