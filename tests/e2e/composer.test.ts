// The message field in a real browser: messages that wait for an answer, and bringing the last one back.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composer, describeInBrowser, leave, say } from '../support/page.ts'
import { scripted } from '../support/scripted.ts'
import { useServers } from '../support/server.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { turn } from '../support/upstream-turns.ts'

describeInBrowser('the composer', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let url: string
  beforeAll(async () => {
    upstream = await startUpstream()
    const server = await servers.start({ config: scripted(upstream), webRoot: visitor.webRoot() })
    url = server.url
  })
  afterAll(() => upstream.close())

  test('messages written during an answer wait, survive a reload, and are sent in order; one can jump the queue', async () => {
    const whole = turn.text('An endless story.', { chunkSize: 4 })
    const never = new Promise<void>(() => undefined)
    upstream.enqueue(
      {
        ...whole,
        actions: [...whole.actions.slice(0, 3), { until: never }, ...whole.actions.slice(3)],
      },
      turn.text('To the urgent one.'),
      turn.text('To the patient one.'),
    )
    const page = await visitor.open(url)
    await say(page, 'Tell me a story.')
    await page.getByText('An end').waitFor()
    for (const text of ['A patient question', 'A mistake', 'An urgent quest']) await say(page, text)
    const queue = page.getByRole('region', { name: 'Queued messages' })
    const items = queue.getByRole('listitem')
    await items.nth(2).waitFor()
    await page.reload()
    await items.nth(2).waitFor()
    await items.nth(1).getByRole('button', { name: 'Remove from queue' }).click()
    await items.nth(1).getByRole('button', { name: 'Edit queued message' }).click()
    await page.keyboard.type('ion')
    await page.keyboard.press('Enter')
    await items.filter({ hasText: 'An urgent question' }).waitFor()
    await items.nth(1).getByRole('button', { name: 'Stop the answer and send now' }).click()
    await page.getByText('To the patient one.').waitFor()
    await queue.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Regenerate' }).nth(2).waitFor()
    await expect
      .poll(() => page.getByRole('article', { name: 'Your message' }).allInnerTexts())
      .toEqual(['Tell me a story.', 'An urgent question', 'A patient question'])

    await composer(page).press('ArrowUp')
    const field = page.getByRole('textbox', { name: 'Edit' })
    await expect.poll(() => field.inputValue()).toBe('A patient question')
    await field.press('Escape')
    await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('composer')
    await leave(page)
  })
})
