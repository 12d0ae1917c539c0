// Snippets and phrase matching, checked against real texts.
import { expect, test } from 'vitest'
import { wordPositions } from '../../../server/lib/word-positions.ts'
import { foldText, indexWords } from '../../../server/lib/words.ts'
import { parseQuery } from '../../../server/search/query.ts'
import { hasPhrase, mayHavePhrase, snippetOf } from '../../../server/search/text-match.ts'
import { BEST_LEVEL, relevanceOf } from '../../../server/search/window.ts'
import { rounds, SEED } from '../../support/random.ts'

const snippet = (text: string, query: string): string =>
  snippetOf(text, wordPositions(text), parseQuery(query).words).snippet

test('a snippet marks every hit and escapes the text around it', () => {
  expect(snippet('<b>Hello</b> & hello', 'hello')).toBe(
    '&lt;b&gt;<mark>Hello</mark>&lt;/b&gt; &amp; <mark>hello</mark>',
  )
})

test('a snippet begins shortly before the first hit and says that it was cut', () => {
  expect(snippet(`${'a '.repeat(200)}needle`, 'needle')).toMatch(
    /^…(a ){10,30}<mark>needle<\/mark>$/,
  )
})

test('a snippet never contains half of a surrogate pair, wherever it is cut', () => {
  for (let shift = 0; shift < 4; shift += 1) {
    const text = `${'😀'.repeat(100)}${'x'.repeat(shift)} needle ${'y'.repeat(shift)}${'😀'.repeat(300)}`
    const found = snippet(text, 'needle')
    // A lone surrogate would become U+FFFD.
    expect(Buffer.from(found).toString(), `shift ${shift}`).toBe(found)
  }
})

test(`the quick check of a phrase misses no match, and the level stays within its range (seed ${SEED})`, () => {
  const pieces = [
    'green',
    'tea',
    'cities',
    '以',
    '太',
    '坊',
    'の',
    'é',
    '½',
    ' ',
    ', ',
    '\n',
    'ＡＢ',
    'y',
    's',
  ]
  let matches = 0
  for (const { random, what } of rounds(400)) {
    const some = (count: number) =>
      Array.from({ length: 1 + random.below(count) }, () => random.pick(pieces)).join('')
    const text = some(30)
    for (const query of [`"${some(4)}"`, `"${text.slice(random.below(text.length))}"`]) {
      const { phrases, words } = parseQuery(query)
      const [phrase = []] = phrases
      if (phrase.length === 0) continue
      const isThere = hasPhrase(wordPositions(text), phrase)
      if (isThere) matches += 1
      expect(mayHavePhrase(foldText(text), phrase) || !isThere, `${what} ${query} in ${text}`).toBe(
        true,
      )
      const level = relevanceOf(text, words)
      expect(level >= 0 && level <= BEST_LEVEL, what).toBe(true)
      if (isThere) expect(level, `${what} ${query} in ${text}`).toBeGreaterThan(0)
    }
  }
  expect(matches).toBeGreaterThan(100)
})

test('the words of a text are those of the index, wherever they are', () => {
  const text = 'Cities ½ ＡＢ以太坊 café ガが 한국어 e\u0301té 12 \u{20000}\u{20001}'
  expect(wordPositions(text).map(({ word }) => word)).toEqual(indexWords(text))
  for (const { from, to } of wordPositions(text)) expect(text.slice(from, to)).not.toMatch(/\s/)
})

test('a phrase is found only where its words follow each other', () => {
  const [phrase = []] = parseQuery('"green tea"').phrases
  expect(hasPhrase(wordPositions('some green tea'), phrase)).toBe(true)
  expect(hasPhrase(wordPositions('green and tea'), phrase)).toBe(false)
})

test("a phrase may stand in the quotes of any of the page's languages", () => {
  const [expected] = parseQuery('"green tea"').phrases
  for (const quoted of [
    '“green tea”',
    '„green tea“',
    '« green tea »',
    '«green tea»',
    '「green tea」',
  ])
    expect(parseQuery(`leaf ${quoted} -cup`)).toMatchObject({
      phrases: [expected],
      without: [[{ word: 'cup' }]],
    })
})
