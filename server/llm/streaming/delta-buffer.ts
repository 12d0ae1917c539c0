// Text and reasoning of one response that are not taken yet, with marked reasoning separated from the text.
import { tokenWeight } from '../../protocol/models/token-estimate.ts'
import type { Delta } from '../prose.ts'
import { createReasoningSplitter, type Kind } from './delta-buffer/reasoning-marks.ts'

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
