// Long tables, lists and paragraphs are drawn in pieces, which look as if the block had been drawn whole.
import i18next from 'i18next'
import { createElement, type ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { beforeAll, describe, expect, test } from 'vitest'
import { splitBlocks } from '../../server/protocol/markdown/split-blocks.ts'
import { TranslationProvider } from '../../web/src/lib/i18n/use-translation.tsx'
import { Markdown } from '../../web/src/ui/markdown/markdown.tsx'
import { MarkdownBlock } from '../../web/src/ui/markdown/markdown-block.tsx'
import { type Pieces, splitPieces } from '../../web/src/ui/markdown/split-pieces.ts'
import { pageTexts } from '../support/page/texts.ts'
import { type Random, rounds, SEED } from '../support/random.ts'

beforeAll(async () => {
  await i18next.init({
    lng: 'en',
    resources: { en: { translation: pageTexts('en') } },
  })
})

const html = (content: ReactNode): string =>
  renderToStaticMarkup(createElement(TranslationProvider, null, content))
/** The pieces of a table are bodies of it, which look like one. */
const inPieces = (text: string): string =>
  html(createElement(Markdown, { text }))
    .replace(/^<div[^>]*class="prose"[^>]*><div class="prose-part">(.*)<\/div><\/div>$/s, '$1')
    .replaceAll('</tbody><tbody>', '')
const whole = (text: string): string => html(createElement(MarkdownBlock, { text }))

const ORDINARY = [
  'a few words',
  'of a sentence. ',
  'Next, the figure 3.5',
  '**bold words**',
  '*emphasis*',
  '***both***',
  '**bold with *more* inside**',
  '`code * here`',
  '``code ` with tick``',
  '~~gone~~',
  '[a link](https://example.org/a_b_c)',
  '[**bold** link](https://example.org "title")',
  'https://example.org/path_(x)',
  'https://example.org/路径，然后',
  'www.example.org',
  'mail@example.org',
  '<https://example.org>',
  'snake_case_name',
  'H<sub>2</sub>O',
  'line<br>break',
  '5 * 3 ~ 15',
  'a < b',
  '\\*escaped\\*',
  '&amp; &copy;',
  '中文句子。接着是下一句，',
  '**注意：**请看',
  '2024 年，',
  '$x + y_1$',
  'it costs $5',
  'US$7',
  'שלום',
  '[1]',
  '[^1]',
  '![picture](https://example.org/a.png)',
]
const HOSTILE = [
  '*',
  '**',
  '***',
  '_',
  '__',
  '`',
  '``',
  '~~',
  '[',
  ']',
  '](',
  '![',
  '](x y)',
  '<b>',
  '</b>',
  '<i',
  '<!--',
  '\\',
  '【1,',
  '2】',
  '*a **b* c**',
  'a**"b"**c',
  '**“引”**字',
  '|',
]
const SPACES = [' ', ' ', ' ', ' ', '\n', '  \n', '\\\n']

const paragraph = (
  random: Random,
  words: readonly string[],
  length: number,
  spaces: readonly string[] = SPACES,
): string => {
  let text = 'It begins '
  while (text.length < length) text += random.pick(words) + random.pick(spaces)
  return text.trim()
}

const table = (random: Random, words: readonly string[], rows: number): string => {
  const cell = () =>
    random
      .pick(words)
      .replaceAll(/[|\\\n]/g, '')
      .trim()
  const row = () => `| ${cell()} | ${cell()} | ${cell()} |`
  return [row(), '| --- | :-: | ---: |', ...Array.from({ length: rows }, row)].join('\n')
}

/** A list of items, of which some have lists of their own, with space between all of them or none. */
const list = (random: Random, words: readonly string[], items: number): string => {
  const line = () => `${random.pick(words)} ${random.pick(words)}`.replaceAll('\n', ' ').trim()
  const isOrdered = random.share() < 0.4
  const task = random.share() < 0.3 ? '[x] ' : ''
  const from = random.below(12)
  const space = random.share() < 0.3 ? '\n\n' : '\n'
  const mark = random.pick(['-', '*', '+'])
  const lines = Array.from({ length: items }, (_, at) => {
    const own = isOrdered ? `${from + at}. ` : `${mark} `
    const inner = random.share() < 0.2 ? `\n${' '.repeat(own.length)}- ${line()}` : ''
    const more = random.share() < 0.1 ? `\n${' '.repeat(own.length)}${line()}` : ''
    return `${own}${random.share() < 0.5 ? task : ''}${line()}${more}${inner}`
  })
  return lines.join(space)
}

const isOneBlock = (text: string): boolean => {
  const blocks = splitBlocks(text)
  return blocks.length === 1 && blocks[0]?.kind === 'markdown'
}

describe('pieces', () => {
  test(`look like the whole block, with ordinary text (SEED=${SEED})`, () => {
    let [split, lists] = [0, 0]
    for (const { random, what } of rounds(25)) {
      const text = paragraph(random, ORDINARY, 1_500)
      if (!isOneBlock(text)) continue
      if ((splitPieces(text)?.pieces.length ?? 1) > 1) split += 1
      expect(inPieces(text), what).toBe(whole(text))
      const rows = table(random, ORDINARY, 20)
      expect(splitPieces(rows)?.pieces.length, what).toBe(4)
      expect(inPieces(rows), what).toBe(whole(rows))
      const items = list(random, ORDINARY, 25)
      if (!isOneBlock(items)) continue
      if (splitPieces(items)?.kind === 'list') lists += 1
      expect(inPieces(items), what).toBe(whole(items))
    }
    expect(split).toBeGreaterThan(10)
    expect(lists).toBeGreaterThan(3)
  })

  test(`look like the whole block, with marks that open and close nothing (SEED=${SEED})`, () => {
    for (const { random, what } of rounds(80)) {
      const text = paragraph(random, [...ORDINARY, ...ORDINARY, ...HOSTILE], 1_500, [...SPACES, ''])
      if (isOneBlock(text)) expect(inPieces(text), what).toBe(whole(text))
      const items = list(random, [...ORDINARY, ...HOSTILE], 25)
      if (isOneBlock(items)) expect(inPieces(items), what).toBe(whole(items))
    }
  })

  test(`of a text that grows are those of the complete text (SEED=${SEED})`, () => {
    for (const { random, what } of rounds(40)) {
      const words = [...ORDINARY, ...HOSTILE]
      const text =
        random.share() < 0.5
          ? paragraph(random, words, 3_000, [...SPACES, ''])
          : random.share() < 0.5
            ? table(random, words, 40)
            : list(random, words, 50)
      let grown: Pieces | null = null
      for (let end = 1; end < text.length + 40; end += random.below(40) + 1) {
        grown = splitPieces(text.slice(0, end), grown)
        expect(grown, what).toEqual(splitPieces(text.slice(0, end)))
      }
    }
  })

  test('do not end in code that only seems to follow a tick in a URL', () => {
    const words = 'some words '.repeat(60)
    const text = `See https://example.org/路径，然后\`\`code \` with tick\`\` a \` \\*b \`code ${words}\``
    expect(inPieces(text)).toBe(whole(text))
  })

  test('are short whatever a paragraph contains, and there are few of them', () => {
    for (const words of [
      'plain words. ',
      '**open words ',
      'costs $5 and [ ',
      '没有空格的句子。',
      '` ',
    ]) {
      const pieces = splitPieces(words.repeat(20_000 / words.length))?.pieces ?? []
      expect(Math.max(...pieces.map(({ text }) => text.length)), words).toBeLessThan(4_500)
      expect(pieces.length, words).toBeLessThan(45)
    }
  })

  test('do not divide what only its end decides: headings, lists, quotations', () => {
    const words = 'some words '.repeat(100)
    for (const text of [`${words}\n===`, `${words}\n10. a`, `> ${words}`, `| a |\n| - |\n${words}`])
      expect(inPieces(text)).toBe(whole(text))
  })

  test('of a list are those of its items, also where these begin in bold', () => {
    for (const mark of ['-', '*', '+', '1.']) {
      const text = `${mark} **Term**: words of a point that explain it\n`.repeat(30)
      expect(splitPieces(text)?.kind, mark).toBe('list')
      expect(inPieces(text), mark).toBe(whole(text))
    }
  })

  test('of a list, wherever it is cut off while it grows, look like the whole list', () => {
    const item = (at: number) =>
      `${at}. point ${at} with **bold** words\n   - and \`code\` of its own`
    for (const space of ['\n', '\n\n']) {
      const items = Array.from({ length: 14 }, (_, at) => item(at + 88)).join(space)
      for (let end = items.length - 75; end <= items.length; end += 1) {
        const text = items.slice(0, end)
        if (isOneBlock(text)) expect(inPieces(text)).toBe(whole(text))
      }
    }
  })

  test('of a list are one list also if its items hold headings, code, rules or nothing', () => {
    const items = '- some words of a point\n'.repeat(30)
    for (const end of [
      '- # heading\n2',
      '- a\n-',
      '- a\n*',
      '- a\n***',
      '- - -',
      '-     code',
      '- > quoted\nlazy',
      '- a\n  | b |\n  | - |\n- c',
      '- a\n\n      code\n- c',
      '- a\n\n  b\n- c',
      '- a\n 1. b',
      '- ~~~\n- a\n- ~~~',
      '- $$\n- a\n- $$',
    ])
      expect(inPieces(items + end), end).toBe(whole(items + end))
  })

  test('of a table are marked as growing until the table is finished', () => {
    const rows = `| 1 | 2 |\n| - | - |\n${'| 3 | 4 |\n'.repeat(20)}`
    const drawn = (text: string, growing: boolean): string =>
      html(createElement(Markdown, { text, growing }))
    const mark = '<table data-growing="">'
    expect(drawn(rows, true)).toContain(mark)
    expect(drawn(rows, false)).not.toContain(mark)
    expect(drawn(`${rows}\nWhat follows the table.`, true)).not.toContain(mark)
  })

  test('of a table take the direction of its first letter, wherever it is', () => {
    const rows = `| 1 | \`code\` |\n| - | - |\n${'| 2 | 3 |\n'.repeat(20)}| שלום | a |`
    expect(inPieces(rows)).toBe(whole(rows))
    expect(inPieces(rows)).toContain('dir="rtl"')
  })
})
