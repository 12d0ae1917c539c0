// Groups the blocks of a text into parts, so that rendering and layout of a growing text cost only its newest parts.
import type { Block } from '../../../../server/protocol/markdown/split-blocks.ts'

/** A part with this many blocks ends at the next block that allows it. */
const PART_BLOCKS = 16

/** Whether the next block must stay in the same part: margins of headings and rules collapse only within a part. */
const keepsNextBlock = (block: Block): boolean =>
  block.kind === 'markdown' &&
  (/^ {0,3}#/.test(block.text) || /^ {0,3}[-=*_][-=*_ ]*$/m.test(block.text))

/** Splits blocks into parts, in order. When blocks are added, only the last part changes. */
export function splitParts(blocks: readonly Block[]): Block[][] {
  const parts: Block[][] = []
  let part: Block[] = []
  for (const block of blocks) {
    const last = part.at(-1)
    if (last === undefined || (part.length >= PART_BLOCKS && !keepsNextBlock(last))) {
      part = []
      parts.push(part)
    }
    part.push(block)
  }
  return parts
}
