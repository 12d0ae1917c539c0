// Queued messages: paused by the answer they were written after, whatever branch is shown; written offline, they are sent later.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composer, describeInBrowser, leave, say } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { type Turn, turn } from '../support/provider/upstream-turns.ts'
import { type Link, startLink } from '../support/server/link.ts'

/** An answer that begins with `text` and never ends. */
function endless(text: string): Turn {
  const whole = turn.text(text, { chunkSize: 200 })
  const never = new Promise<void>(() => undefined)
  return { ...whole, actions: [...whole.actions.slice(0, 2), { until: never }] }
}

const answers = (page: Page) => page.getByRole('article', { name: 'Answer' })

describeInBrowser('queued messages', (visitor) => {
  const on = usePageServer(visitor)
  let link: Link
  beforeAll(async () => {
    link = await startLink({ host: '127.0.0.1', port: Number(new URL(on.server.url).port) })
  })
  afterAll(() => link.close())

  test('a paused message stays when an earlier version is looked at, and is then sent after the answer it was written for', async () => {
    on.upstream.enqueue(turn.text('The first version.'), endless('The second version.'))
    const page = await visitor.open(on.server.url)
    await say(page, 'Tell me.')
    await answers(page).getByText('The first version.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).click()
    await answers(page).getByText('The second version.').waitFor()
    await say(page, 'And then?')
    const queue = page.getByRole('region', { name: 'Queued messages' })
    await queue.getByText('Sent when this answer is complete').waitFor()
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await queue.getByText(/^Paused/).waitFor()
    await page.getByRole('button', { name: 'Previous version' }).click()
    await answers(page).getByText('The first version.').waitFor()
    await queue.getByText(/^Paused/).waitFor()
    // Also for a page that has not seen how the answer ended, which is what another device is.
    await page.reload()
    await answers(page).getByText('The first version.').waitFor()
    await queue.getByText(/^Paused/).waitFor()
    expect(on.upstream.requests).toHaveLength(2)

    on.upstream.enqueue(turn.text('Then that.'))
    await queue.getByRole('button', { name: 'Send now' }).click()
    await answers(page).getByText('Then that.').waitFor()
    await answers(page).getByText('The second version.').waitFor()
    const sent = on.upstream.requests.at(-1)?.messages.map(({ content }) => content)
    expect(sent?.slice(-3)).toEqual([
      expect.stringContaining('Tell me.'),
      'The second version.',
      expect.stringContaining('And then?'),
    ])
    await leave(page)
  })

  test('a message written without a connection is sent when it is back, although the last answer was stopped', async () => {
    on.upstream.enqueue(endless('As far as this.'))
    const page = await visitor.open(`http://localhost:${link.port}`, { serviceWorker: true })
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    await expect
      .poll(() => page.evaluate<boolean>('navigator.serviceWorker.controller !== null'))
      .toBe(true)
    await say(page, 'Tell me more.')
    await answers(page).getByText('As far as this.').waitFor()
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await page.getByText('Stopped.').waitFor()
    link.cut()
    await page.reload()
    await page.getByText('Can’t reach the server.').waitFor()
    await composer(page).waitFor()
    await say(page, 'Something else.')
    await page.getByText('Sent as soon as the server can be reached').waitFor()
    on.upstream.enqueue(turn.text('Of course.'))
    link.restore()
    await answers(page).getByText('Of course.').waitFor()
    await page.getByText('Sent as soon as the server can be reached').waitFor({ state: 'detached' })
    await leave(page)
  })

  test('a message whose answer was deleted elsewhere pauses, and is then sent after the last message', async () => {
    on.upstream.enqueue(turn.text('The first answer.'), endless('The second answer.'))
    const page = await visitor.open(on.server.url)
    await say(page, 'Tell me.')
    await answers(page).getByText('The first answer.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    await say(page, 'And more?')
    await answers(page).getByText('The second answer.').waitFor()
    await say(page, 'And then?')
    const queue = page.getByRole('region', { name: 'Queued messages' })
    await queue.getByText('Sent when this answer is complete').waitFor()
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await queue.getByText(/^Paused/).waitFor()
    const path = `/api/conversations/${new URL(page.url()).pathname.split('/')[2]}/messages`
    const { json } = await on.server.call('GET', path)
    const stored: { id: string; text: string }[] = json.data.items
    const question = stored.find(({ text }) => text === 'And more?')
    await on.server.call('DELETE', `${path}/${question?.id}`)

    const refused = page.waitForResponse(
      (response) => response.request().method() === 'POST' && response.url().endsWith(path),
    )
    await page.reload()
    expect((await refused).status()).toBe(404)
    await queue.getByText(/^Paused/).waitFor()
    on.upstream.enqueue(turn.text('Then that.'))
    await queue.getByRole('button', { name: 'Send now' }).click()
    await answers(page).getByText('Then that.').waitFor()
    const sent = on.upstream.requests.at(-1)?.messages.map(({ content }) => content)
    expect(sent?.slice(-2)).toEqual(['The first answer.', expect.stringContaining('And then?')])
    await leave(page)
  })
})
