// Reads calls from a value whose end is hidden by a stray quote: the closing tag or fence after it marks the end.
import { findClosingTag } from './call-tags.ts'
import type { KnownTools, Reading } from './parsed-call.ts'
import { readJsonCalls } from './read-calls.ts'

/**
 * Returns the calls before the first closing mark in `source`, and the text from the mark on; null if there is no mark, or
 * no call before it. `fence`: the backticks or tildes of the code fence around the value; null if it is in a tag.
 */
export function readBeforeMark(
  source: string,
  known: KnownTools,
  fence: string | null,
): { reading: Reading; rest: string } | null {
  const mark = fence === null ? findClosingTag(source) : source.search(closingFence(fence))
  if (mark === -1) return null
  const reading = readJsonCalls(source.slice(0, mark), known, { explicit: fence === null })
  return reading.kind === 'calls' ? { reading, rest: source.slice(mark) } : null
}

/** The beginning of a line that closes the fence; outside of a fence, any line of backticks. */
const closingFence = (fence: string): RegExp => (fence[0] === '~' ? /^ {0,3}~~~/m : /^ {0,3}```/m)
