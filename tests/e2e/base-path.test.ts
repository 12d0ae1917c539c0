// The page below a path of its host, behind a reverse proxy: nothing that it requests or stores is outside of that path.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, leave, say } from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { type PrefixProxy, startPrefixProxy } from '../support/server/prefix-proxy.ts'
import { TEST_JWT_SECRET, type TestServer, useServers } from '../support/server/server.ts'
import { setUp } from '../support/sign-in/single-sign-on.ts'

describeInBrowser('the page below a path of its host', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let proxy: PrefixProxy
  let server: TestServer
  beforeAll(async () => {
    upstream = await startUpstream()
    proxy = await startPrefixProxy('/tools/chat', true)
    server = await servers.start({
      config: {
        ...scripted(upstream),
        auth_mode: 'multi',
        jwt_secret: TEST_JWT_SECRET,
        public_url: `${proxy.origin}/tools/chat`,
      },
      webRoot: visitor.webRoot(),
    })
    proxy.target = server.url
    await setUp(server)
  })
  afterAll(async () => {
    proxy.close()
    await upstream.close()
  })

  test('signing in, answers, deep links, diagrams and the page without a connection work', async () => {
    const page = await visitor.open(`${proxy.origin}/tools/chat/settings/appearance`, {
      serviceWorker: true,
    })
    await page.getByLabel('Username').fill('root')
    await page.getByLabel('Password').fill('a good password')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Appearance' }).first().waitFor()
    const [cookie] = (await page.context().cookies(`${proxy.origin}/tools/chat/api/auth`)).filter(
      ({ name }) => name.startsWith('nanoclaw_session'),
    )
    expect(cookie?.path).toBe('/tools/chat/api/auth')

    await page.getByRole('link', { name: 'New conversation' }).first().click()
    upstream.enqueue(turn.text('A drawing:\n\n```mermaid\ngraph TD; a --> b\n```\n\nIt is done.'))
    await say(page, 'Draw something')
    await page.getByText('It is done.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    await page.getByRole('img', { name: 'Diagram' }).waitFor()
    const conversation = new URL(page.url())
    expect(conversation.pathname).toMatch(/^\/tools\/chat\/c\/[\w-]+$/)

    // The session is renewed with its cookie, and the document of a conversation loads like any other.
    await page.reload()
    await page.getByText('It is done.').waitFor()
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    expect(
      await page.evaluate<string>('navigator.serviceWorker.ready.then(({ scope }) => scope)'),
    ).toBe(`${proxy.origin}/tools/chat/`)
    const names = () => page.evaluate<string[]>('caches.keys()')
    await expect.poll(names).toContain('nanoclaw-files/tools/chat')
    expect(await page.evaluate<string[]>('Object.keys(localStorage)')).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/^nanoclaw\./)]),
    )
    await expect
      .poll(() => page.evaluate<boolean>('navigator.serviceWorker.controller !== null'))
      .toBe(true)
    await page.reload()
    await page.getByText('It is done.').waitFor()
    await page.context().setOffline(true)
    await page.reload()
    await page.getByText('It is done.').waitFor()
    await page.context().setOffline(false)
    expect(proxy.strays).toEqual([])
    await leave(page)
  })

  test('whoever opens it without the proxy comes to the same path', async () => {
    const page = await visitor.open(`${server.url}/c/any?x=1`, { ownContext: true })
    await page.getByLabel('Username').waitFor()
    expect(page.url()).toBe(`${server.url}/tools/chat/c/any?x=1`)
    await leave(page)
  })
})
