// Answers read aloud. Headless browsers have no voices: a simulation records what would be said.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeInBrowser, leave, say } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

const ANSWER = [
  '## Tea',
  'The formula $E = mc^2$ says it.[^1]',
  '| Kind | Minutes |\n| - | - |\n| Green | 2 |',
  '```python\nprint(1)\n```',
  '- [ ] drink it',
  '[^1]: A note.',
].join('\n\n')

/** Speech synthesis that says nothing: `window.said` holds the texts since the last cancellation. */
const SPEECH = `
  window.said = []
  window.SpeechSynthesisUtterance = class extends EventTarget {
    constructor(text) { super(); this.text = text }
  }
  Object.defineProperty(window, 'speechSynthesis', { value: {
    speak: (utterance) => window.said.push([utterance.lang, utterance.text]),
    cancel: () => { window.said = [] },
  } })`

const said = (page: Page): Promise<[language: string, text: string][]> =>
  page.evaluate('window.said')

describeInBrowser('reading aloud', (visitor) => {
  const site = usePageServer(visitor)

  test('an answer is read without its code and with each formula once, until its button or another view stops it', async () => {
    site.upstream.enqueue(turn.text(ANSWER))
    const page = await visitor.open(site.server.url)
    await page.addInitScript(SPEECH)
    await page.reload()
    await say(page, 'How long?')
    const menu = page.getByRole('button', { name: 'More actions' })
    const stop = page.getByRole('button', { name: 'Stop reading' })
    await menu.click()
    await page.getByRole('menuitem', { name: 'Read aloud' }).click()
    await stop.waitFor()
    const texts = await said(page)
    expect(new Set(texts.map(([language]) => language))).toEqual(new Set(['en']))
    expect(texts.map(([, text]) => text).join('')).toBe(
      'Tea\nThe formula E = mc^2 says it.\nKind, Minutes\nGreen, 2\ndrink it\nA note.',
    )

    await stop.click()
    await stop.waitFor({ state: 'detached' })
    expect(await said(page)).toEqual([])

    await menu.click()
    await page.getByRole('menuitem', { name: 'Read aloud' }).click()
    await expect.poll(() => said(page)).not.toEqual([])
    await page.getByRole('link', { name: 'New conversation' }).click()
    await expect.poll(() => said(page)).toEqual([])
    await leave(page)
  })
})
