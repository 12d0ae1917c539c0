// Finds tool calls in a model's text while it streams. Holds back a possible call until it is decided; other text passes.

import { createGatheredText } from '../openai/text-buffer.ts'
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
} from './call-tags.ts'
import { createJsonScanner, type JsonScanner } from './json-scanner.ts'
import type {
  KnownTools,
  PromptCall,
  PromptCallParser,
  PromptFault,
  Reading,
} from './parsed-call.ts'
import { readBeforeMark } from './read-before-mark.ts'
import { isCallKey, readJsonCalls, readXmlCalls } from './read-calls.ts'
import { type Follower, followCode, followValue, nextMark } from './text-followers.ts'
import { createShownText } from './visible-text.ts'

/** A longer held-back text is not a call. */
const MAX_HELD_CHARACTERS = 1_100_000
const MAX_CALLS = 32
/** Maximum number of times that a value without an end is parsed again up to a closing mark. */
const MAX_REPARSES = 4
/** Handles the next character. Returns the handler of the character after it. */
type State = (character: string) => State

const NO_CALL: Reading = { kind: 'fault', problem: 'there is no call in the tag' }

const isSpace = (character: string): boolean => character.trim() === ''

/**
 * Each character is read once, and every decision depends on the text alone: however it is split into pieces, the text and
 * calls are the same. A call in code of another language, in inline code or in a sentence is text.
 */
export function createPromptCallParser(known: KnownTools): PromptCallParser {
  const calls: PromptCall[] = []
  const faults: PromptFault[] = []
  const shown = createShownText()
  const isTool = (name: string): boolean => known.has(name)
  let state: State = inText
  // Held back: what precedes a value or a tag's content, and the content with its last characters.
  let lead = ''
  let body = createGatheredText()
  let tail = ''
  let scanner: JsonScanner | null = null
  let isTagged = false
  let isMidLine = false // Whether the candidate follows text on its line.
  // The open fence: its backticks or tildes, and whether its beginning is held back or was removed with its calls.
  let fence = ''
  let isFenceHeld = false
  let dropsClosingFence = false
  let follower: Follower | null = null
  let pendingReading: Reading = { kind: 'text' }
  let reparseCount = 0

  function run(from: State, text: string): State {
    let next = from
    for (let at = 0; at < text.length; ) {
      const end = endOfPlain(next, text, at)
      if (end === at) next = next(text[at] ?? '')
      else if (next === inValue) body.add(text.slice(at, end))
      else shown.add(text.slice(at, end))
      at = Math.max(end, at + 1)
    }
    return next
  }
  /** The end of the text that cannot change the state. Most of an answer is prose, code, or the inside of long strings. */
  function endOfPlain(at: State, text: string, from: number): number {
    if (at === inValue) return scanner?.skip(text, from) ?? from
    if (at === inFollowed) return follower?.skip(text, from) ?? from
    if (at !== inText) return from
    return nextMark(text, from, '`~{[<')
  }
  function hold(character: string, next: State): State {
    lead += character
    return next
  }
  function reset(): void {
    lead = ''
    body = createGatheredText()
    tail = ''
    scanner = null
    isTagged = false
    isFenceHeld = false
  }
  /** The held-back text is not a call; in a fence, the whole fence is code. */
  function release(next: State = inText): State {
    const text = lead + body.read()
    if (isFenceHeld) follower = followCode(text, fence)
    const after = isFenceHeld ? inFollowed : next
    reset()
    shown.add(text)
    return after
  }

  function inText(character: string): State {
    const mayFence = character === '`' || (character === '~' && shown.lineIsBlank)
    if (mayFence) return hold(character, inTicks)
    const mayBegin = character === '{' || character === '[' || character === '<'
    if (mayBegin && shown.mayCallFollow) {
      isMidLine = !shown.lineIsBlank
      return startCandidate(character)
    }
    shown.add(character)
    if (character !== '{' || shown.inlineCode) return inText
    // A call inside an object that is only mentioned is only mentioned, too.
    shown.refuse()
    follower = followValue(character)
    return inFollowed
  }
  function startCandidate(character: string): State {
    if (character === '{') return startValue(character)
    return hold(character, character === '[' ? inBracket : inAngle)
  }
  function inFollowed(character: string): State {
    if (follower?.accepts(character) !== true) return inText(character)
    shown.add(character)
    return inFollowed
  }

  function inTicks(character: string): State {
    if (character === lead[0]) return hold(character, inTicks)
    const ticks = lead
    if (ticks.length < 3 || shown.inlineCode || shown.isQuoted) {
      lead = ''
      shown.addTicks(ticks)
      return inText(character)
    }
    const closes = dropsClosingFence && fence[0] === ticks[0] && isSpace(character)
    dropsClosingFence = false
    if (closes) {
      // The end of a fence whose beginning was removed with its calls.
      lead = ''
      return afterCall(character)
    }
    fence = ticks
    isFenceHeld = true
    isMidLine = false
    return inFenceInfo(character)
  }
  function inFenceInfo(character: string): State {
    const language = lead.slice(fence.length).trim() // A space may stand before it.
    const isInfo = /[\w+-]/.test(character) || (character === ' ' && language === '')
    if (isInfo && lead.length < fence.length + 24) return hold(character, inFenceInfo)
    return mayHoldCalls(language) ? inFenceBody(character) : release()(character)
  }
  function inFenceBody(character: string): State {
    if (isSpace(character)) return hold(character, inFenceBody)
    return '{[<'.includes(character) ? startCandidate(character) : release()(character)
  }

  /** A list is a candidate only when its first element is an object. */
  function inBracket(character: string): State {
    if (isSpace(character)) return hold(character, inBracket)
    if (character !== '{') return release()(character)
    const list = lead.slice(lead.lastIndexOf('['))
    lead = lead.slice(0, -list.length)
    return startValue(list + character)
  }

  function inAngle(character: string): State {
    const start = lead.lastIndexOf('<')
    const tag = lead.slice(start) + character
    if (isFunctionTag(tag)) {
      lead = lead.slice(0, start)
      isTagged = true
      return run(inXml, tag)
    }
    if (!beginsOpeningTag(tag)) return release()(character)
    isTagged = isOpeningTag(tag)
    return hold(character, isTagged ? inTag : inAngle)
  }
  function inTag(character: string): State {
    if (isSpace(character)) return hold(character, inTag)
    if (character === '{') return startValue(character)
    if (character === '[') return hold(character, inBracket)
    return /[\w<]/.test(character) ? inXml(character) : release()(character)
  }
  function inXml(character: string): State {
    body.add(character)
    tail = (tail + character).slice(-20)
    if (body.length > MAX_HELD_CHARACTERS) return release()
    if (character === '>' && endsWithClosingTag(tail)) {
      // A function inside a tag ends with the tag.
      if (tail.endsWith('</function>') && lead.includes('<')) return inXml
      const reading = readXmlCalls(withoutClosingTag(body.read()), known)
      const isNoise = reading.kind === 'text' && (!isMidLine || beginsWithTool(body.read(), isTool))
      return settle(isNoise ? NO_CALL : reading)
    }
    return isTagMentioned(body, character, { isMidLine, isTool }) ? release() : inXml
  }

  function startValue(text: string): State {
    scanner = createJsonScanner({
      endMarks: `${isFenceHeld || dropsClosingFence ? fence.charAt(0) : ''}${isTagged ? '<' : ''}`,
      acceptsKey: isCallKey,
    })
    return run(inValue, text)
  }
  function inValue(character: string): State {
    const scan = scanner?.feed(character) ?? 'reject'
    if (scan === 'bound') return settleValue()(character)
    body.add(character)
    if (scan === 'done') return settleValue()
    if (scan === 'more' && body.length <= MAX_HELD_CHARACTERS) return inValue
    follower = followValue(body.read())
    return release(inFollowed)
  }
  function settleValue(): State {
    const { strayQuotes = [] } = scanner ?? {}
    return settle(readJsonCalls(body.read(), known, { explicit: isTagged, strayQuotes }))
  }

  function settle(reading: Reading): State {
    if (reading.kind === 'text' || calls.length + faults.length >= MAX_CALLS) return release()
    const isOver =
      isTagged || isFenceHeld || dropsClosingFence || /\n\s*$/.test(body.read().slice(-40))
    if (!isMidLine && isOver) return accept(reading)
    pendingReading = reading
    return inRestOfLine
  }
  /** A call without a fence or tag counts only if nothing but another call follows on its line. */
  function inRestOfLine(character: string): State {
    if (' \t}],;'.includes(character)) {
      body.add(character)
      return inRestOfLine
    }
    return '\r\n{[<'.includes(character) ? accept(pendingReading)(character) : release()(character)
  }
  function accept(reading: Reading): State {
    if (reading.kind === 'calls') calls.push(...reading.calls)
    if (reading.kind === 'fault') faults.push({ raw: lead + body.read(), problem: reading.problem })
    dropsClosingFence ||= isFenceHeld
    isMidLine = false
    reset()
    shown.cut()
    return afterCall
  }
  /** After a call: white space, surplus brackets, the end of its fence or tag, the next call. */
  function afterCall(character: string): State {
    if (/[\s}\],;]/.test(character)) return afterCall
    if (character === fence[0] && dropsClosingFence) return hold(character, inTicks)
    return character === '<' ? hold(character, inClosingTag) : inText(character)
  }
  function inClosingTag(character: string): State {
    const tag = lead + character
    lead = ''
    if (isClosingTag(tag)) return afterCall
    return beginsClosingTag(tag) ? hold(tag, inClosingTag) : run(inText, tag)
  }

  function settleEnd(cutOff: boolean): void {
    if (state === inRestOfLine) accept(pendingReading)
    else if (state === inTicks && dropsClosingFence && lead.length >= 3) reset()
    else if (state === inXml) {
      const reading = readXmlCalls(withoutClosingTag(body.read()), known)
      const isCut = cutOff && reading.kind !== 'text'
      const isNoise = reading.kind === 'text' && beginsWithTool(body.read(), isTool)
      settleLast(isCut ? { kind: 'fault', problem: 'it is cut off' } : isNoise ? NO_CALL : reading)
    } else if (state === inValue) {
      const broken = cutOff || scanner?.inString === true
      if (broken && !cutOff && tryReparse()) settleHeld(cutOff)
      else settleLast(readJsonCalls(body.read(), known, { explicit: isTagged, broken }))
    } else release()
  }
  function settleHeld(cutOff: boolean): void {
    if (lead !== '' || body.length > 0) settleEnd(cutOff)
  }
  function settleLast(reading: Reading): void {
    if (reading.kind === 'text') release()
    else accept(reading)
  }
  /** Parses a value again if a stray quote hid its end. */
  function tryReparse(): boolean {
    if (++reparseCount > MAX_REPARSES) return false
    const found = readBeforeMark(body.read(), known, isTagged ? null : fence)
    if (found === null) return false
    state = run(accept(found.reading), found.rest)
    return true
  }

  return {
    push(text) {
      state = run(state, text)
      return shown.take()
    },
    end({ cutOff }) {
      settleHeld(cutOff)
      return shown.end()
    },
    calls,
    faults,
  }
}
