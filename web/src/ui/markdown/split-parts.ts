// Groups the blocks of an answer into parts, so that a long one costs no more to draw and lay out than its newest parts.
import type { Block } from '../../../../server/protocol/markdown/split-blocks.ts'

/** From this many blocks on, a part ends as soon as it may. */
const PART_BLOCKS = 16

/** A heading or a rule: its margin joins that of the block after it, which works only within one part. */
const isFollowed = (block: Block): boolean =>
  block.kind === 'markdown' &&
  (/^ {0,3}#/.test(block.text) || /^ {0,3}[-=*_][-=*_ ]*$/m.test(block.text))

/** The blocks in parts, in order. Only the last part changes while blocks are added. */
export function splitParts(blocks: readonly Block[]): Block[][] {
  const parts: Block[][] = []
  let part: Block[] = []
  for (const block of blocks) {
    const last = part.at(-1)
    if (last === undefined || (part.length >= PART_BLOCKS && !isFollowed(last))) {
      part = []
      parts.push(part)
    }
    part.push(block)
  }
  return parts
}
