// Further pages of a list: they arrive even if the loaded pages are refetched meanwhile.
import { expect, test } from 'vitest'
import { describeInBrowser, leave } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

describeInBrowser('further pages', (visitor) => {
  const on = usePageServer(visitor)

  test('earlier messages arrive even if the newest are refetched while they are loading', async () => {
    const { server, upstream } = on
    const { json } = await server.call('POST', '/api/conversations', { body: { title: 'Long' } })
    const path = `/api/conversations/${json.data.id}/messages`
    const ask = async (text: string): Promise<void> => {
      upstream.enqueue(turn.text(`Answer to ${text}`))
      await server.call('POST', path, { body: { text, stream: false } })
    }
    for (let number = 0; number < 22; number += 1) await ask(`question ${number}.`)
    const page = await visitor.open(`${server.url}/c/${json.data.id}`)
    await page.getByText('Answer to question 21.').waitFor()
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const isEarlier = (url: string): boolean => new URL(url).searchParams.has('cursor')
    await page.route(`**${path}?*`, async (route) => {
      if (isEarlier(route.request().url())) await gate
      await route.continue()
    })
    const earlier = page.waitForRequest((request) => isEarlier(request.url()))
    await page.getByText('question 3.', { exact: true }).scrollIntoViewIfNeeded()
    await earlier
    const again = page.waitForRequest(
      (request) => request.url().includes(`${path}?`) && !isEarlier(request.url()),
    )
    await ask('one more question.')
    await again
    release()
    await page.getByText('Answer to question 0.').waitFor()
    expect(await page.getByRole('article', { name: 'Your message' }).count()).toBe(23)
    await leave(page)
  })
})
