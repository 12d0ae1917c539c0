// The `text_process` tool: counting and changing text by what a reader sees as characters, lines and words.
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { defineTool, succeed, type ToolDefinition } from '../definition.ts'

const MAX_TEXT = 200_000
/** Characters looked at before other work gets its turn. */
const TURN = 4_000

const Input = z.object({
  text: z.string().max(MAX_TEXT).describe('The text to work on.'),
  operation: z
    .enum(['count', 'lines', 'words', 'upper', 'lower', 'reverse'])
    .describe(
      'count: number of characters as a reader sees them; lines: the lines and their number; ' +
        'words: the words and their number; upper, lower: change of case; reverse: the characters backwards.',
    ),
})

export const textProcess: ToolDefinition = defineTool({
  name: 'text_process',
  description:
    'Counts characters, lines or words of a text, changes its case or reverses it. Use it when the exact number or form matters: ' +
    'an emoji or an accented letter counts as one character.',
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
        const words = text
          .split(/\s+/u)
          .filter((word) => word !== '')
          .flatMap(wordsOf)
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

/** One form of line end; the one that ends the text starts no further line. */
const endOfLine = (found: string, offset: number, whole: string): string =>
  offset + found.length === whole.length ? '' : '\n'

async function characters(text: string): Promise<string[]> {
  const found: string[] = []
  for (const { segment } of new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(text)) {
    found.push(segment)
    if (found.length % TURN === 0) await setImmediate()
  }
  return found
}

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u
const wordSegmenter = new Intl.Segmenter('und', { granularity: 'word' })

/** Scripts that put no spaces between words are cut by their dictionary. */
const wordsOf = (piece: string): string[] =>
  unspaced.test(piece)
    ? [...wordSegmenter.segment(piece)]
        .filter((part) => part.isWordLike)
        .map((part) => part.segment)
    : [piece]
