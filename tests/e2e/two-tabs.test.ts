// Two tabs stay in sync, also after one was offline; pinned conversations stay visible.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, leave, REMOTE_HOST, say } from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

describeInBrowser('two tabs', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({
      config: {
        ...scripted(upstream),
        trusted_hosts: [REMOTE_HOST],
        tools: { risk: { calculator: 'high' } },
      },
      webRoot: visitor.webRoot(),
    })
  })
  afterAll(() => upstream.close())

  test('a send, an approval, a stop, a rename and a deletion in one tab appear in the other', async () => {
    const one = await visitor.open(server.url)
    const other = await visitor.open(server.url, { remote: true })
    const list = other.getByRole('navigation', { name: 'Conversations' })
    // On a slow line the list comes before the stream of changes: what happens in between is shown nevertheless.
    let follow = (): void => undefined
    const sent = new Promise<void>((resolve) => {
      follow = resolve
    })
    await other.route('**/api/events', async (route) => {
      await sent
      await route.continue()
    })
    await other.reload()
    await list.getByText('No conversations yet').waitFor()
    upstream.enqueue(
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '6 * 7' } }]),
      turn.text('Forty-two.'),
    )
    await say(one, 'Six times seven?')
    await one.getByRole('button', { name: 'Approve' }).waitFor()
    follow()
    await list.getByText('waiting for your approval').waitFor({ state: 'attached' })
    await list.getByRole('link').first().click()
    await other.getByRole('button', { name: 'Approve' }).waitFor()
    await one.getByRole('button', { name: 'Approve' }).click()
    for (const tab of [one, other]) {
      await tab.getByText('Forty-two.').waitFor()
      await tab.getByText('waiting for your approval').waitFor({ state: 'detached' })
      await tab.getByRole('button', { name: 'Regenerate' }).waitFor()
    }

    // Both tabs show the same conversation; the second one did not send the message.
    const whole = turn.text('It goes on and on.', { chunkSize: 4 })
    const never = new Promise<void>(() => undefined)
    upstream.enqueue({
      ...whole,
      actions: [...whole.actions.slice(0, 4), { until: never }, ...whole.actions.slice(4)],
    })
    await say(one, 'Tell me a story.')
    await other.getByText('Tell me a story.').waitFor()
    await other.getByText('It goes').waitFor()
    await other.getByRole('button', { name: 'Stop' }).click()
    await one.getByText('Stopped.').waitFor()
    await one.getByRole('button', { name: 'Send', exact: true }).waitFor()

    await other.context().setOffline(true)
    const id = new URL(one.url()).pathname.split('/').at(-1) ?? ''
    await server.call('PATCH', `/api/conversations/${id}`, { body: { title: 'A new name' } })
    await one.getByRole('heading', { name: 'A new name' }).waitFor()
    await one.getByRole('navigation', { name: 'Conversations' }).getByText('A new name').waitFor()
    await other.context().setOffline(false)
    await other.getByRole('heading', { name: 'A new name' }).waitFor()

    await server.call('DELETE', `/api/conversations/${id}`)
    for (const tab of [one, other]) {
      await tab.getByText('This conversation was deleted in another tab').waitFor()
      await tab.waitForURL((url) => url.pathname === '/')
      await tab.getByText('No conversations yet').waitFor()
    }
    await leave(other)
    await leave(one)
  })

  test('a conversation that is not open shows in its row and in the tab’s title that it waits or has a new answer', async () => {
    const one = await visitor.open(server.url)
    const list = one.getByRole('navigation', { name: 'Conversations' })
    await list.getByText('No conversations yet').waitFor()
    // Another device: an answer that is shown there still counts as new here.
    const other = await visitor.open(server.url, { remote: true })
    upstream.enqueue(
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '6 * 7' } }]),
      turn.text('Forty-two.'),
    )
    await say(other, 'Six times seven?')
    await other.getByRole('button', { name: 'Approve' }).waitFor()
    await expect.poll(() => other.title()).toBe('● waiting for you · Six times seven? · NanoClaw')
    await expect.poll(() => one.title()).toBe('(1) NanoClaw')
    await other.getByRole('button', { name: 'Approve' }).click()
    await list.getByText('new answer').waitFor({ state: 'attached' })
    expect(await one.title()).toBe('(1) NanoClaw')
    await list.getByRole('link').first().click()
    await one.getByText('Forty-two.').waitFor()
    await expect.poll(() => one.title()).toBe('Six times seven? · NanoClaw')
    await one.goto(server.url)
    await list.getByRole('link').first().waitFor()
    expect(await list.getByText('new answer').count()).toBe(0)
    const id = new URL(other.url()).pathname.split('/').at(-1) ?? ''
    await server.call('DELETE', `/api/conversations/${id}`)
    await list.getByText('No conversations yet').waitFor()
    await leave(other)
    await leave(one)
  })

  test('a pinned conversation stays at the top, however many newer ones there are', async () => {
    const make = async (title: string): Promise<string> =>
      (await server.call('POST', '/api/conversations', { body: { title } })).json.data.id
    const id = await make('Keep me')
    await server.call('PATCH', `/api/conversations/${id}`, { body: { pinned: true } })
    for (let at = 0; at < 45; at += 1) await make(`Newer ${at}`)
    const page = await visitor.open(server.url, { remote: true })
    const pinned = page.getByRole('region', { name: 'Pinned' })
    await pinned.getByText('Keep me').waitFor()
    await pinned.getByRole('button', { name: 'Actions for “Keep me”' }).click()
    await page.getByRole('menuitem', { name: 'Unpin' }).click()
    await pinned.waitFor({ state: 'detached' })
    await expect
      .poll(() =>
        page.getByRole('navigation', { name: 'Conversations' }).getByText('Keep me').count(),
      )
      .toBeLessThan(2)
    await leave(page)
  })
})
