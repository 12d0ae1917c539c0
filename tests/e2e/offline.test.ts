// The page without a connection: it opens, shows what was loaded before and says so, sends later, and keeps nothing after signing out.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Link, startLink } from '../support/link.ts'
import { composer, describeInBrowser, leave, say } from '../support/page.ts'
import { scripted } from '../support/scripted.ts'
import { register, TEST_JWT_SECRET, type TestServer, useServers } from '../support/server.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { turn } from '../support/upstream-turns.ts'

/** Paths of the responses that the browser keeps. */
const COPIES = `(async () => {
  const opening = indexedDB.open('nanoclaw-copies', 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore('copies', { keyPath: 'key' }).createIndex('at', 'at')
  const database = await new Promise((resolve) => { opening.onsuccess = () => resolve(opening.result) })
  const asking = database.transaction('copies').objectStore('copies').getAll()
  const rows = await new Promise((resolve) => { asking.onsuccess = () => resolve(asking.result) })
  database.close()
  return rows.map(({ path }) => path)
})()`

describeInBrowser('the page without a connection', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  let link: Link
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({
      config: { ...scripted(upstream), auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET },
      webRoot: visitor.webRoot(),
    })
    link = await startLink({ host: '127.0.0.1', port: Number(new URL(server.url).port) })
  })
  afterAll(async () => {
    link?.close()
    await upstream?.close()
  })

  const copies = (page: Page): Promise<string[]> => page.evaluate<string[]>(COPIES)

  test('opens with what was loaded before, sends what is written later, and forgets all on signing out', async () => {
    await register(server, 'ann')
    const page = await visitor.open(`http://localhost:${link.port}`, { serviceWorker: true })
    await page.getByLabel('Username').fill('ann')
    await page.getByLabel('Password').fill('a good password')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    await expect
      .poll(() => page.evaluate<boolean>('navigator.serviceWorker.controller !== null'))
      .toBe(true)
    upstream.enqueue(turn.text('Blue whales.'))
    await say(page, 'Which animal is the largest?')
    await page.getByText('Blue whales.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    await expect
      .poll(async () => (await copies(page)).filter((path) => path.includes('/messages')).length)
      .toBe(1)
    await page.reload()
    await page.getByText('Blue whales.').waitFor()
    await expect
      .poll(() =>
        page.evaluate<boolean>(
          "caches.match('/').then(async (page) => page !== undefined && (await caches.open('nanoclaw-files')).keys().then((all) => all.length > 8))",
        ),
      )
      .toBe(true)

    link.cut()
    await page.reload()
    await page.getByText('Blue whales.').waitFor()
    await page.getByText('You’re offline.').waitFor()
    await page.getByText('Copy on this device').waitFor()
    await say(page, 'And the smallest?')
    await page.getByText('Sent as soon as you’re online again').waitFor()
    await expect.poll(() => composer(page).inputValue()).toBe('')

    upstream.enqueue(turn.text('The bumblebee bat, perhaps.'))
    link.restore()
    await page.getByText('The bumblebee bat, perhaps.').waitFor()
    await page.getByText('You’re offline.').waitFor({ state: 'detached' })

    await page.goto(`http://localhost:${link.port}/settings/account`)
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
    // How people sign in here is public, and asked for by the page for signing in.
    await expect
      .poll(async () => (await copies(page)).filter((path) => path !== '/api/auth/mode'))
      .toEqual([])
    await leave(page)
  })
})
