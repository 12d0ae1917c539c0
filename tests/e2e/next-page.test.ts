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

  test('what a failed page says is shown by its button, and the first new row has the focus afterwards', async () => {
    const { server, upstream } = on
    const { json } = await server.call('POST', '/api/conversations', { body: { title: 'Many' } })
    for (let number = 0; number < 51; number += 1) {
      upstream.enqueue(turn.text('Done.'))
      await server.call('POST', `/api/conversations/${json.data.id}/messages`, {
        body: { text: 'Go on.', stream: false },
      })
    }
    const page = await visitor.open(`${server.url}/stats`)
    const rows = page.getByRole('list', { name: 'Recent answers' }).getByRole('listitem')
    const more = page.getByRole('button', { name: 'Show more' })
    await more.waitFor()
    const shown = await rows.count()
    const isNext = (url: URL): boolean =>
      url.pathname === '/api/runs' && url.searchParams.has('cursor')
    await page.route(isNext, (route) => route.fulfill({ status: 502, body: 'Bad gateway' }))
    await more.press('Enter')
    await page.getByRole('alert').getByText('answered with HTTP 502').waitFor()
    await more.and(page.locator(':focus')).waitFor()
    expect(await rows.count()).toBe(shown)
    await page.unroute(isNext)
    await more.press('Enter')
    await rows.nth(shown).getByRole('link').and(page.locator(':focus')).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await leave(page)
  })

  test('in the search, the field has the focus after further hits, because the arrow keys choose among them there', async () => {
    const { server } = on
    for (let number = 0; number < 60; number += 1)
      await server.call('POST', '/api/conversations', { body: { title: `Zeppelin ${number}` } })
    const page = await visitor.open(server.url)
    await page.locator('#composer').waitFor()
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: 'Search everything' })
    await field.fill('zeppelin')
    const hits = page.getByRole('option', { name: /Zeppelin/ })
    const more = page.getByRole('button', { name: 'More results' })
    await more.press('Enter')
    await expect.poll(() => hits.count()).toBe(60)
    await more.waitFor({ state: 'detached' })
    await field.and(page.locator(':focus')).waitFor()
    await leave(page)
  })
})
