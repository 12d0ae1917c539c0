// Plain-text previews of answers, without Markdown syntax.
import { expect, test } from 'vitest'
import { plainPreview } from '../../web/src/ui/markdown/plain-preview.ts'

test.each([
  ['## The **answer** is `42`', 'The answer is 42'],
  ['> [!WARNING]\n> Mind the *gap*.', 'Mind the gap.'],
  ['- [x] done\n- open\n* more', 'done open more'],
  ['| a | b |\n| - | -: |\n| 1 | 2 |', 'a · b 1 · 2'],
  ['```js\nrun(1)\n```', 'run(1)'],
  ['Look: ```ts // Tea ``` and cake', 'Look: // Tea and cake'],
  ['See [the site](https://example.com/a "t")[^1] and ![a cat](cat.png)', 'See the site and a cat'],
  ['See [the site](https://exam', 'See the site'],
  ['<details><summary>More</summary>\ntext<br>', 'More text'],
  ['---\n1. one\n2. two', '1. one 2. two'],
  ['The sum \\(a+b\\)\n$$\nx = 1\n$$', 'The sum a+b x = 1'],
  ['The mean $\\bar{x}$ of it', 'The mean \\bar{x} of it'],
])('%j is shown as %j', (markdown, words) => {
  expect(plainPreview(markdown)).toBe(words)
})

test('a plain preview keeps the punctuation of names and sums', () => {
  for (const text of ['snake_case_name and 2 * 3 * 4', 'if a < b and c > d', 'it cost $5 and $10'])
    expect(plainPreview(text)).toBe(text)
})
