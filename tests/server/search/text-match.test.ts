// Snippets and phrase matching, checked against real texts.
import { expect, test } from 'vitest'
import { wordPositions } from '../../../server/lib/word-positions.ts'
import { parseQuery } from '../../../server/search/query.ts'
import { hasPhrase, snippetOf } from '../../../server/search/text-match.ts'

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

test('a snippet contains no half of a surrogate pair, wherever it is cut', () => {
  for (let shift = 0; shift < 4; shift += 1) {
    const text = `${'😀'.repeat(100)}${'x'.repeat(shift)} needle ${'y'.repeat(shift)}${'😀'.repeat(300)}`
    const found = snippet(text, 'needle')
    // A lone surrogate would become U+FFFD.
    expect(Buffer.from(found).toString(), `shift ${shift}`).toBe(found)
  }
})

test('a phrase is found only where its words follow each other', () => {
  const [phrase = []] = parseQuery('"green tea"').phrases
  expect(hasPhrase(wordPositions('some green tea'), phrase)).toBe(true)
  expect(hasPhrase(wordPositions('green and tea'), phrase)).toBe(false)
})
