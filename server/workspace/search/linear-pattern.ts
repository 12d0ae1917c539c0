// Patterns of RE2, which need time in proportion to the text, and to the pattern with its repeats written out. Runs in the
// worker thread only: both together can take seconds.
import { RE2JS } from 're2js'

/** Whether the pattern matches anywhere in the text. Throws if the pattern is not valid. */
export const matchesLinear = ({ pattern, text }: { pattern: string; text: string }): boolean =>
  RE2JS.compile(pattern).matcher(text).find()
