// Reads calls from a value whose end a stray quote hides: the closing tag or fence after it marks the end.
import { findClosingTag } from './call-tags.ts'
import type { KnownTools, Reading } from './parsed-call.ts'
import { readJsonCalls } from './read-calls.ts'

/**
 * The calls before the first closing mark in `source`, and the text from the mark on; null when there is no mark or no call
 * before it. `tagged`: the value is in a tag, otherwise in a code fence.
 */
export function readBeforeMark(
  source: string,
  known: KnownTools,
  isTagged: boolean,
): { reading: Reading; rest: string } | null {
  const mark = isTagged ? findClosingTag(source) : source.search(/^ {0,3}```/m)
  if (mark === -1) return null
  const reading = readJsonCalls(source.slice(0, mark), known, { explicit: isTagged })
  return reading.kind === 'calls' ? { reading, rest: source.slice(mark) } : null
}
