// The threads that render Markdown for everybody: a slow text delays only its owner, and what replaces it is not kept.
import { expect, test, vi } from 'vitest'
import { newId } from '../../../server/lib/ids.ts'
import type { UserId } from '../../../server/protocol/ids.ts'
import { createMarkdownRenderer } from '../../../server/sharing/markdown.ts'

/** Renders by hand: texts wait until the test lets them through or ends them as too slow. */
function prepare() {
  const waiting: {
    text: string
    timeoutMs: number
    resolve(html: string): void
    reject(error: Error): void
  }[] = []
  let asked = 0
  const markdown = createMarkdownRenderer(() => ({
    request: ({ text }, { timeoutMs }) => {
      asked += 1
      if (!text.startsWith('slow')) return Promise.resolve(`<p>${text}</p>`)
      return new Promise((resolve, reject) => {
        waiting.push({ text, timeoutMs, resolve, reject })
      })
    },
    close: async () => {},
  }))
  return { waiting, markdown, asked: () => asked }
}

const [attacker, colleague] = [newId<UserId>(), newId<UserId>()]

test('a colleague’s text is rendered while many slow texts of another user wait', async () => {
  const { markdown, waiting } = prepare()
  const slow = Array.from({ length: 20 }, (_, at) =>
    markdown.render(attacker, `slow ${at}`, { language: 'en', hasFrames: false }),
  )
  await expect.poll(() => waiting.length).toBe(1)
  expect(await markdown.render(colleague, 'quick', { language: 'en', hasFrames: false })).toBe(
    '<p>quick</p>',
  )
  for (let at = 0; at < slow.length; at += 1) {
    await expect.poll(() => waiting.length).toBe(at + 1)
    waiting[at]?.resolve('<p>late</p>')
  }
  expect(new Set(await Promise.all(slow))).toEqual(new Set(['<p>late</p>']))
})

test('a text that takes too long is shown as plain text and not tried again at once; it ends no other text', async () => {
  const { markdown, waiting, asked } = prepare()
  const rendered = markdown.render(attacker, 'slow', { language: 'en', hasFrames: false })
  await expect.poll(() => waiting.length).toBe(1)
  waiting[0]?.reject(new Error('too slow'))
  const plain = '<pre class="plain">slow</pre>'
  expect(await rendered).toBe(plain)
  const before = asked()
  expect(await markdown.render(colleague, 'slow', { language: 'en', hasFrames: false })).toBe(plain)
  expect(asked()).toBe(before)
})

test('a text that was rendered without its colours because that took too long is coloured later', async () => {
  const { markdown, waiting, asked } = prepare()
  const render = () =>
    markdown.render(attacker, 'slow\n```ts\nlet a\n```', { language: 'en', hasFrames: false })
  const first = render()
  await expect.poll(() => waiting.length).toBe(1)
  waiting[0]?.resolve('<p>plain</p>')
  await expect.poll(() => waiting.length).toBe(2)
  // The grammar of a language is slow at first, whatever the text is.
  expect(waiting[1]?.timeoutMs).toBeGreaterThanOrEqual(4 * (waiting[0]?.timeoutMs ?? 0))
  waiting[1]?.reject(new Error('too slow'))
  expect(await first).toBe('<p>plain</p>')
  expect(await render()).toBe('<p>plain</p>')
  expect(asked()).toBe(2)
  const later = performance.now() + 6 * 60_000
  vi.spyOn(performance, 'now').mockReturnValue(later)
  // The cache reads its clock at most once in a millisecond.
  await expect
    .poll(() => {
      void render()
      return asked()
    })
    .toBe(3)
  waiting[2]?.resolve('<p>plain</p>')
  await expect.poll(() => waiting.length).toBe(4)
  waiting[3]?.resolve('<p>coloured</p>')
  expect(await render()).toBe('<p>coloured</p>')
})
