// The snippets of tool calls and results: readable without JSON's punctuation.
import { expect, test } from 'vitest'
import { readableToolSnippet } from '../../../server/search/search.ts'
import { snippetOf } from '../../../server/search/text-match.ts'

const escaped = (text: string): string => snippetOf(text, [], []).snippet

test.each([
  [
    'weather {"city":"Oslo","days":[1,2],"units":"metric"}',
    'weather city: Oslo, days: 1,2, units: metric',
  ],
  [
    'web_search {"success":true,"data":{"results":[{"title":"Tea, hot","url":"https://a.org/x?y=1"}]}}',
    'web_search results: title: Tea, hot, url: https://a.org/x?y=1',
  ],
  [
    'fetch {"success":false,"error":"The page is <gone> & away."}',
    'fetch The page is &lt;gone&gt; &amp; away.',
  ],
  [
    'calculator {"success":true,"data":{"result":2000},"execution_time":0.055}',
    'calculator result: 2000',
  ],
  ['calculator {"expression":"1,000 * 2"}', 'calculator expression: 1,000 * 2'],
  ['echo plain text: "quoted"', 'echo plain text: &quot;quoted&quot;'],
  [
    'file_write {"path":"a.js","content":"if (a[0]) { say("x", [y]) } else b"}',
    'file_write path: a.js, content: if (a[0]) { say(&quot;x, [y]) } else b',
  ],
])('%s is shown as %s', (stored, shown) => {
  expect(readableToolSnippet(escaped(stored))).toBe(shown)
})

test('hits stay marked, wherever the snippet begins and ends', () => {
  const html =
    '…e&quot;:&quot;x&quot;,&quot;<mark>city</mark>&quot;:&quot;<mark>Oslo</mark> now&quot;,&quot;da…'
  expect(readableToolSnippet(html)).toBe('…e: x, <mark>city</mark>: <mark>Oslo</mark> now, da…')
})
