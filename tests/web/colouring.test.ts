// The page's colours: those of its first paint, and of code that is still growing: one request at a time, and none once the block is removed.
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { createColouring } from '../../web/src/ui/markdown/colouring.ts'
import type { Token } from '../../web/src/ui/markdown/highlight.ts'

/** The colouring of one block, with a highlighter that responds when the test tells it to. */
function scriptedColouring() {
  const asked: { code: string; answer: (lines: Token[][] | null) => void }[] = []
  const shown: Token[][][] = []
  const colouring = createColouring({
    highlight: (code) =>
      new Promise((answer) => {
        asked.push({ code, answer })
      }),
    pause: () => Promise.resolve(),
    onLines: (lines) => shown.push(lines),
  })
  return { asked, shown, colouring }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))
const line = (text: string): Token[][] => [[[text, 'red']]]

test('while one request is open, the newest text waits, and the texts in between are never requested', async () => {
  const { asked, shown, colouring } = scriptedColouring()
  colouring.update('a', 'js')
  colouring.update('ab', 'js')
  colouring.update('abc', 'js')
  expect(asked.map(({ code }) => code)).toEqual(['a'])
  asked[0]?.answer(line('a'))
  await settled()
  expect(asked.map(({ code }) => code)).toEqual(['a', 'abc'])
  asked[1]?.answer(line('abc'))
  await settled()
  expect(shown).toEqual([line('a'), line('abc')])
  expect(asked).toHaveLength(2)
})

test('after cancellation, no result is delivered and no further request is sent', async () => {
  const { asked, shown, colouring } = scriptedColouring()
  colouring.update('a', 'js')
  colouring.update('ab', 'js')
  colouring.cancel()
  asked[0]?.answer(line('a'))
  await settled()
  colouring.update('abc', 'js')
  await settled()
  expect(shown).toEqual([])
  expect(asked).toHaveLength(1)
})

test('a language without colours does not prevent requests for later text', async () => {
  const { asked, colouring } = scriptedColouring()
  colouring.update('a', 'nothing')
  asked[0]?.answer(null)
  await settled()
  colouring.update('a', 'js')
  expect(asked).toHaveLength(2)
})

test('the first paint has the colours of the page in both themes and with high contrast', async () => {
  const blocksOf = async (file: string) => {
    const source = await readFile(file, 'utf8')
    const blocks = source.matchAll(/^((?::root|\[data-(?:theme|contrast)=)[^{\n]*) \{([^}]*)\}/gm)
    return [...blocks].map(([, selector, body = '']) => ({
      selector,
      colours: [...body.matchAll(/--[\w-]+: oklch\([^;]*;/g)].map(([text]) => text),
    }))
  }
  const page = await blocksOf('web/src/app/styles.css')
  const first = await blocksOf('web/public/boot.css')
  expect(first.filter(({ colours }) => colours.length > 0)).toHaveLength(4)
  for (const { selector, colours } of first) {
    const known = page.find((block) => block.selector === selector)?.colours ?? []
    expect(colours.filter((colour) => !known.includes(colour))).toEqual([])
  }
})
