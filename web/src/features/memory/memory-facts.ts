// The facts in a memory's text, as the page lists and removes them.
import {
  type MemoryFact as Fact,
  readMemoryLines,
} from '../../../../server/protocol/memory-format.ts'

/** A fact, with its line for removing it. */
export type MemoryFact = Fact & {
  /** The line as it is in the text. */
  line: string
}

/** All facts, newest first. */
export const factsIn = (content: string): MemoryFact[] =>
  readMemoryLines(content.split('\n'))
    .flatMap(({ line, fact }) => (fact === null ? [] : [{ ...fact, line }]))
    .reverse()

/** The text without a fact; unchanged if the fact no longer exists. */
export function withoutFact(content: string, line: string): string {
  const lines = content.split('\n')
  const index = readMemoryLines(lines).findIndex((one) => one.fact !== null && one.line === line)
  return index === -1 ? content : lines.toSpliced(index, 1).join('\n')
}
