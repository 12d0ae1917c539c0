// The parts that readers of typed JSON events share: parsing, the text so far, and what is known about the response.
import type { AppError } from '../../errors.ts'
import { isRecord } from '../../lib/records.ts'
import { disorderedStream, errorIn, errorObjectFailure, type FailureContext } from '../failure.ts'
import type { TokenCounts } from '../usage.ts'
import type { DeltaBuffer } from './delta-buffer.ts'
import type { ResponseReader } from './response-reader.ts'

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
    const fault = facts.done ? undefined : errorIn(event)
    if (fault !== undefined) facts.error ??= errorObjectFailure(fault, context)
    else if (!isRecord(event)) unreadable += 1
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
    end: deltas.end,
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
    get hasText() {
      return deltas.hasText
    },
    get hasThinking() {
      return deltas.hasThinking
    },
  }
}

/** The values in the order of their indexes. */
export const inOrder = <T>(byIndex: ReadonlyMap<number, T>): T[] =>
  [...byIndex].sort(([a], [b]) => a - b).map(([, value]) => value)
