// The `text_process` tool: counts and transforms text by characters, lines and words as readers perceive them.
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { defineTool, succeed, type ToolDefinition } from '../../definition.ts'

const MAX_TEXT_CHARACTERS = 200_000
/**
 * Characters passed to the segmenter per call. Node 20 copies the whole input into every segment, so one call for 75,000
 * characters allocates gigabytes. In slices, the same text takes a third of a second.
 */
const SLICE_CHARACTERS = 512

const Input = z.object({
  text: z.string().max(MAX_TEXT_CHARACTERS).describe('The text.'),
  operation: z
    .enum(['count', 'lines', 'words', 'upper', 'lower', 'reverse'])
    .describe(
      'count: number of characters; lines, words: their list and number; upper, lower: change case; reverse: reverse the characters.',
    ),
})

export const textProcess: ToolDefinition = defineTool({
  name: 'text_process',
  description:
    'Counts the characters, lines or words of a text, changes its case or reverses it. Use it when the exact result matters. ' +
    'An emoji or accented letter counts as one character.',
  category: 'data',
  riskLevel: 'low',
  cacheable: true,
  timeoutMs: 10_000,
  input: Input,
  handler: async ({ text, operation }) => {
    switch (operation) {
      case 'count':
        return succeed({ count: (await characters(text)).length })
      case 'lines': {
        const lines = text === '' ? [] : text.replace(/\r\n?|\n$/g, endOfLine).split('\n')
        return succeed({ count: lines.length, lines })
      }
      case 'words': {
        const words: string[] = []
        for (const piece of text.split(/\s+/u))
          if (piece !== '') words.push(...(await wordsOf(piece)))
        return succeed({ count: words.length, words })
      }
      case 'upper':
        return succeed({ result: text.toUpperCase() })
      case 'lower':
        return succeed({ result: text.toLowerCase() })
      case 'reverse':
        return succeed({ result: (await characters(text)).reverse().join('') })
    }
  },
})

/** Normalizes line breaks; a final line break does not begin another line. */
const endOfLine = (found: string, offset: number, whole: string): string =>
  offset + found.length === whole.length ? '' : '\n'

const graphemeSegmenter = new Intl.Segmenter('und', { granularity: 'grapheme' })
const wordSegmenter = new Intl.Segmenter('und', { granularity: 'word' })
const UNSPACED_SCRIPTS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

/** Returns the segments of a text for which `isWanted` is true. Works in slices and yields to the event loop after each. */
async function segmentsOf(
  segmenter: Intl.Segmenter,
  text: string,
  isWanted: (segment: Intl.SegmentData) => boolean,
): Promise<string[]> {
  const found: string[] = []
  let start = 0
  while (start < text.length) {
    // Half of a surrogate pair at the end would count as a segment of its own.
    const slice = text.slice(start, start + SLICE_CHARACTERS).replace(/(?<=.)[\ud800-\udbff]$/s, '')
    const segments = [...segmenter.segment(slice)]
    const isEnd = start + slice.length >= text.length
    // The last segment may continue, so the next slice begins with it.
    if (!isEnd && segments.length > 1) segments.pop()
    for (const segment of segments) {
      if (isWanted(segment)) found.push(segment.segment)
      start += segment.segment.length
    }
    await setImmediate()
  }
  return found
}

const characters = (text: string): Promise<string[]> =>
  segmentsOf(graphemeSegmenter, text, () => true)

/** A dictionary segments scripts without spaces between words. */
const wordsOf = async (piece: string): Promise<string[]> =>
  UNSPACED_SCRIPTS.test(piece)
    ? await segmentsOf(wordSegmenter, piece, ({ isWordLike }) => isWordLike === true)
    : [piece]
