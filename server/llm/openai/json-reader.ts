// The parts that readers of typed JSON events share: parsing, the text so far, and what is known about the response.
import type { AppError } from '../../errors.ts'
import { isRecord } from '../../lib/records.ts'
import { tokenWeight } from '../../protocol/models/token-estimate.ts'
import type { LlmEvent } from '../client.ts'
import { disorderedStream, type FailureContext } from '../failure.ts'
import type { TokenCounts } from '../usage.ts'
import type { ResponseReader } from './response-reader.ts'

type Kind = 'text_delta' | 'thinking_delta'

/** What the events so far say about the response. The reader of a wire format updates it. */
export interface ResponseFacts {
  done: boolean
  finishReason: string | null
  error: AppError | null
  /** Characters read, including hidden ones. */
  size: number
}

/** The facts of a response that has not begun. */
export const createResponseFacts = (): ResponseFacts => ({
  done: false,
  finishReason: null,
  error: null,
  size: 0,
})

/** Text and reasoning that are not taken yet. Adjacent pieces of one kind are joined. */
export interface DeltaBuffer {
  emit(kind: Kind, text: string): void
  take(): LlmEvent[]
  /** Whether no text was ever added. */
  readonly isUnused: boolean
  /** Estimated tokens of the taken text; not rounded. */
  readonly tokens: number
}

/** Create one per response. */
export function createDeltaBuffer(): DeltaBuffer {
  let events: { type: Kind; text: string }[] = []
  let isUnused = true
  let tokens = 0
  return {
    emit(type, text) {
      if (text === '') return
      isUnused = false
      const last = events.at(-1)
      if (last?.type === type) last.text += text
      else events.push({ type, text })
    },
    take() {
      const taken = events
      events = []
      for (const { text } of taken) tokens += tokenWeight(text)
      return taken
    },
    get isUnused() {
      return isUnused
    },
    get tokens() {
      return tokens
    },
  }
}

/** Wraps the part that differs between wire formats: what an event means, and what the response contains at its end. */
export function createJsonReader(
  facts: ResponseFacts,
  deltas: DeltaBuffer,
  context: FailureContext,
  format: Pick<ResponseReader, 'calls' | 'carried'> & {
    readEvent(event: Record<string, unknown>): void
    /** Whether the event begins or continues something that cannot follow the end of the response. */
    isPartOfAnswer(event: Record<string, unknown>): boolean
    usage(): TokenCounts | null
    isEmpty(): boolean
  },
): ResponseReader {
  let unreadable = 0
  const readObject = (event: unknown): void => {
    if (!isRecord(event)) unreadable += 1
    else if (!facts.done) format.readEvent(event)
    else if (format.isPartOfAnswer(event)) facts.error = disorderedStream(context)
  }
  return {
    read(text, from, to) {
      // Chat completions end with `[DONE]`, and some gateways add it to other formats, too.
      if (facts.error !== null || text.startsWith('[DONE]', from)) return
      try {
        readObject(JSON.parse(text.slice(from, to)))
      } catch {
        unreadable += 1
      }
    },
    readObject,
    take: deltas.take,
    end: deltas.take,
    calls: format.calls,
    carried: format.carried,
    get done() {
      return facts.done
    },
    get finishReason() {
      return facts.finishReason
    },
    get usage() {
      return format.usage()
    },
    get error() {
      return facts.error
    },
    get unreadable() {
      return unreadable
    },
    get size() {
      return facts.size
    },
    get textTokens() {
      return deltas.tokens
    },
    get empty() {
      return format.isEmpty()
    },
  }
}

/** The values in the order of their indexes. */
export const inOrder = <T>(byIndex: ReadonlyMap<number, T>): T[] =>
  [...byIndex].sort(([a], [b]) => a - b).map(([, value]) => value)
