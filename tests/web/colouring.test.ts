// Highlighting code that is still growing: one request at a time, and none once the block is removed.
import { expect, test } from 'vitest'
import { createColouring } from '../../web/src/ui/markdown/colouring.ts'
import type { Token } from '../../web/src/ui/markdown/highlight.ts'

/** A highlighter that responds when the test tells it to. */
function scriptedHighlighter() {
  const asked: { code: string; answer: (lines: Token[][] | null) => void }[] = []
  return {
    asked,
    highlight: (code: string) =>
      new Promise<Token[][] | null>((answer) => {
        asked.push({ code, answer })
      }),
  }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))
const line = (text: string): Token[][] => [[[text, 'red']]]

test('while one request is open the newest text waits, and the texts in between are never requested', async () => {
  const { asked, highlight } = scriptedHighlighter()
  const shown: Token[][][] = []
  const colouring = createColouring({
    highlight,
    pause: () => Promise.resolve(),
    onLines: (lines) => shown.push(lines),
  })
  colouring.want('a', 'js')
  colouring.want('ab', 'js')
  colouring.want('abc', 'js')
  expect(asked.map(({ code }) => code)).toEqual(['a'])
  asked[0]?.answer(line('a'))
  await settled()
  expect(asked.map(({ code }) => code)).toEqual(['a', 'abc'])
  asked[1]?.answer(line('abc'))
  await settled()
  expect(shown).toEqual([line('a'), line('abc')])
  expect(asked).toHaveLength(2)
})

test('after it was cancelled, no result is delivered and no further request is sent', async () => {
  const { asked, highlight } = scriptedHighlighter()
  const shown: Token[][][] = []
  const colouring = createColouring({
    highlight,
    pause: () => Promise.resolve(),
    onLines: (lines) => shown.push(lines),
  })
  colouring.want('a', 'js')
  colouring.want('ab', 'js')
  colouring.cancel()
  asked[0]?.answer(line('a'))
  await settled()
  colouring.want('abc', 'js')
  await settled()
  expect(shown).toEqual([])
  expect(asked).toHaveLength(1)
})

test('a language without colours does not prevent requests for later text', async () => {
  const { asked, highlight } = scriptedHighlighter()
  const colouring = createColouring({
    highlight,
    pause: () => Promise.resolve(),
    onLines: () => {},
  })
  colouring.want('a', 'nothing')
  asked[0]?.answer(null)
  await settled()
  colouring.want('a', 'js')
  expect(asked).toHaveLength(2)
})
