// The page without a connection: it opens, shows what was loaded before and says so, sends later, and keeps nothing after signing out.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReceiver } from '../server/messaging/receivers.ts'
import { composer, describeInBrowser, leave, say, visit } from '../support/page/page.ts'
import { newBrowser } from '../support/page/push-browser.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { type Link, startLink } from '../support/server/link.ts'
import { register, TEST_JWT_SECRET, type TestServer, useServers } from '../support/server/server.ts'

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
      config: {
        ...scripted(upstream),
        auth_mode: 'multi',
        jwt_secret: TEST_JWT_SECRET,
        network: { allow_private: ['127.0.0.1'] },
      },
      webRoot: visitor.webRoot(),
    })
    link = await startLink({ host: '127.0.0.1', port: Number(new URL(server.url).port) })
  })
  afterAll(async () => {
    link?.close()
    await upstream?.close()
  })

  const copies = (page: Page): Promise<string[]> => page.evaluate<string[]>(COPIES)

  test('opens with what it loaded before, sends new messages later, and forgets everything on sign-out', async () => {
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

    // The first visit of this browser is all that it needs.
    link.cut()
    await page.reload()
    await page.getByText('Blue whales.').waitFor()
    await page.getByText('Can’t reach the server.').waitFor()
    await page.getByText('Copy on this device').waitFor()
    // The list has the conversation that was created after it had loaded.
    const whales = page.getByRole('link', { name: 'Which animal is the largest?' })
    await whales.waitFor()
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.getByText('This view isn’t stored on this device.').waitFor()
    await whales.click()
    await page.getByText('Blue whales.').waitFor()
    await say(page, 'And the smallest?')
    await page.getByText('Sent as soon as the server can be reached').waitFor()
    await expect.poll(() => composer(page).inputValue()).toBe('')

    // Another conversation, after a reload that has only the stored files.
    await page.goto(`http://localhost:${link.port}/`)
    await say(page, 'And the fastest?')
    await page.getByText('Sent as soon as the server can be reached').waitFor()
    await page.reload()
    await page.getByText('And the fastest?').waitFor()

    upstream.enqueue(turn.text('One of the two.'), turn.text('The other one.'))
    link.restore()
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.getByRole('article').getByText('And the fastest?').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    await page.getByText('Can’t reach the server.').waitFor({ state: 'detached' })
    await whales.click()
    await page.getByText('And the smallest?').waitFor()
    await page.getByText(/One of the two\.|The other one\./).waitFor()

    await page.goto(`http://localhost:${link.port}/settings/account`)
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
    // The sign-in page requests how people sign in here, which is public.
    await expect
      .poll(async () => (await copies(page)).filter((path) => path !== '/api/auth/mode'))
      .toEqual([])
    await leave(page)
  })

  test('a subscribed browser is notified that the agent waits, and Approve in the notification decides that call', async () => {
    const service = await startReceiver()
    const browser = newBrowser(`${service.url}/phone`)
    const token = await register(server, 'kim')
    const page = await visitor.open(server.url, { serviceWorker: true })
    // A browser without a screen has neither notifications nor a push service: the test stands in for both.
    await page.evaluate(
      `Object.defineProperty(Notification, 'permission', { get: () => 'granted' })
      Notification.requestPermission = async () => 'granted'
      PushManager.prototype.subscribe = async () => ({ toJSON: () => (${JSON.stringify(browser.subscription)}) })`,
    )
    await page.getByLabel('Username').fill('kim')
    await page.getByLabel('Password').fill('a good password')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)')
    await visit(page, '/settings/appearance')
    const subscribed = page.waitForResponse('**/api/push/subscriptions')
    await page.getByRole('switch', { name: /^Notify me/ }).click()
    expect((await subscribed).status()).toBe(200)
    await page.goto('about:blank')
    const ask = [{ through: 'push', after: 0, detail: 'name' }]
    await server.call('PATCH', '/api/preferences', { token, body: { ask } })

    const project = await server.call('POST', '/api/projects', { token, body: { name: 'Notes' } })
    const conversation = await server.call('POST', '/api/conversations', {
      token,
      body: { project_id: project.json.data.id },
    })
    upstream.enqueue(
      turn.toolCalls([{ name: 'file_write', arguments: { path: 'a.md', content: 'written' } }]),
      turn.text('Done.'),
    )
    const sent = await server.call(
      'POST',
      `/api/conversations/${conversation.json.data.id}/messages`,
      { token, body: { text: 'Write it.', stream: false } },
    )
    const runId = sent.json.data.run.id
    await expect.poll(() => service.received.length).toBe(1)
    const [message] = service.received
    const notice = browser.read(message?.bytes ?? Buffer.alloc(0))
    const [worker] = page.context().serviceWorkers()
    if (worker === undefined) throw new Error('the page has no service worker')
    // The rest runs in the service worker, as if the push service of the browser's vendor had delivered the message.
    const [shown] = await worker.evaluate<[{ body: string; actions: object[]; data: object }]>(
      `(async () => {
        const shown = []
        ServiceWorkerRegistration.prototype.showNotification = async (_title, options) => shown.push(options)
        await showPush(${notice})
        return shown
      })()`,
    )
    expect(shown).toMatchObject({
      body: 'The agent is waiting for you. Write file',
      actions: [{ title: 'Approve' }, { title: 'Reject' }],
    })
    await worker.evaluate(`handleClick(${JSON.stringify(shown.data)}, 'approve')`)
    await expect
      .poll(
        async () => (await server.call('GET', `/api/runs/${runId}`, { token })).json.data.status,
      )
      .toBe('completed')
    const file = await server.call('GET', `/api/projects/${project.json.data.id}/files/a.md`, {
      token,
    })
    expect(file.json.data.content).toBe('written')
    await page.context().close()
  })

  test('a part that cannot be loaded or that crashes shows a notice and does not affect the rest of the page', async () => {
    upstream.enqueue(turn.text('First.'), turn.text('Second.'))
    const token = await register(server, 'ben')
    const { json } = await server.call('POST', '/api/conversations', { token, body: {} })
    for (const text of ['one', 'two'])
      await server.call('POST', `/api/conversations/${json.data.id}/messages`, {
        token,
        body: { text, stream: false },
      })
    const page = await visitor.open(server.url, { ownContext: true })
    await page.getByLabel('Username').fill('ben')
    await page.getByLabel('Password').fill('a good password')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await composer(page).waitFor()

    // A connection that drops once causes no notice.
    let dropped = 0
    await page.route('**/assets/usage-page-*.js', async (route) => {
      dropped += 1
      if (dropped === 1) await route.abort()
      else await route.continue()
    })
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.getByRole('heading', { name: 'Usage' }).waitFor()
    expect(dropped).toBe(2)

    await page.route('**/assets/memory-page-*.js', (route) => route.abort())
    await page.getByRole('link', { name: 'Memory' }).click()
    await page.getByText('This part of the page couldn’t be shown.').waitFor()
    await page.getByRole('link', { name: 'Usage' }).waitFor()
    await page.unroute('**/assets/memory-page-*.js')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'Memory' }).waitFor()

    // A message that this build cannot render.
    await page.route('**/api/conversations/*/messages?*', async (route) => {
      const response = await route.fetch()
      const body = await response.json()
      body.data.items[1].process_steps = { length: 1 }
      await route.fulfill({ response, json: body })
    })
    await page.goto(`${server.url}/c/${json.data.id}`)
    await page.getByText('This part of the page couldn’t be shown.').waitFor()
    await page.getByText('Second.').waitFor()
    expect(await page.getByText('First.').count()).toBe(0)
    await composer(page).waitFor()
    await leave(page)
  })
})
