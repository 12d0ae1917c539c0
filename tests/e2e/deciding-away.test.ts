// A run waits while the laptop is closed: the phone is told and decides by links, the server is killed in between, and the receipt
// says what happened. A rule from the second approval lets the third call through, and is found and removed.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { describeInBrowser, expectAccessible, leave, say } from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../support/server/server-process.ts'

/** Where pictures of the page are kept, to be looked at; none by default. */
const PICTURES = process.env.PICTURES

describeInBrowser('deciding from a phone while the laptop is closed', (visitor) => {
  let upstream: Upstream
  let folder: string
  let place: ServerPlace
  let server: ServerProcess
  /** What the phone has received. */
  const received: string[] = []
  const phone = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8')
    })
    request.on('end', () => {
      received.push(text)
      response.end('{}')
    })
  })
  /** Lets the model go on to its third call. */
  let release = (): void => {}

  beforeAll(async () => {
    upstream = await startUpstream()
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const write = (id: string, path: string, content: string, until?: Promise<void>) =>
      turn.toolCalls(
        [{ id, name: 'file_write', arguments: { path, content } }],
        until === undefined ? {} : { until },
      )
    upstream.program(({ messages }) => {
      const results = messages.filter(({ role }) => role === 'tool').length
      if (results === 0) return write('call_1', 'unwanted.md', 'never\n')
      if (results === 1) return write('call_2', 'wanted.md', 'first\n')
      if (results === 2) return write('call_3', 'wanted.md', 'second\n', released)
      // The words of the answer say something else than what happened.
      return turn.text('I have written unwanted.md and sent three messages.')
    })
    await new Promise<void>((done) => phone.listen(0, '127.0.0.1', done))
    folder = mkdtempSync(join(tmpdir(), 'nanoclaw-away-'))
    place = await serverPlace(folder, {
      ...scripted(upstream),
      network: { allow_private: ['127.0.0.1'] },
    })
    server = await place.start()
  })
  afterAll(async () => {
    await place?.close()
    await upstream?.close()
    phone.closeAllConnections()
    await new Promise((done) => phone.close(done))
    rmSync(folder, { recursive: true, force: true })
  })

  // biome-ignore lint/suspicious/noExplicitAny: responses of every shape, which the assertions check
  const call = async (method: string, path: string, body?: object): Promise<any> => {
    const response = await fetch(server.url + path, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return { status: response.status, ...Object(await response.json()) }
  }
  const waiting = async () => (await call('GET', '/api/approvals')).data.items
  const picture = async (page: Page, name: string): Promise<void> => {
    if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/away-${name}.png` })
  }

  test('rejects one call and approves another by link across a kill, and everything afterwards says what happened', async () => {
    const { port } = phone.address() as AddressInfo // never null or a path: the server listens on TCP
    await call('POST', '/api/channels', {
      type: 'webhook',
      name: 'phone',
      settings: { url: `http://127.0.0.1:${port}/` },
    })
    await call('PATCH', '/api/preferences', {
      ask: [{ through: 'channel:phone', after: 0, detail: 'preview' }],
    })
    const project = (await call('POST', '/api/projects', { name: 'Away' })).data.id
    const { data: conversation } = await call('POST', '/api/conversations', {
      project_id: project,
    })

    // The laptop: the run waits, nobody is told while the page is open; then it is closed.
    const laptop = await visitor.open(`${server.url}/c/${conversation.id}`, {
      withBuiltPage: true,
    })
    await say(laptop, 'Tidy up while I am away')
    await laptop.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    await picture(laptop, 'laptop-waits')
    expect(received).toEqual([])
    await leave(laptop)
    await eventually(() => expect(received).toHaveLength(1))
    expect(received[0]).toContain('file_write (medium risk)')
    expect(received[0]).toContain('unwanted.md')

    // The phone rejects the first call by link.
    const [first] = await waiting()
    const rejecting = await call('POST', `/api/approvals/${first.id}/link`, {})
    const onPhone = await visitor.open(server.url + new URL(rejecting.data.url).pathname, {
      withBuiltPage: true,
      phone: true,
      theme: 'dark',
    })
    await onPhone.getByRole('button', { name: 'Reject' }).waitFor()
    await picture(onPhone, 'phone-link')
    await expectAccessible(onPhone)
    await onPhone.getByRole('button', { name: 'Reject' }).click()
    await eventually(() => expect(received).toHaveLength(2))
    await picture(onPhone, 'phone-rejected')
    await leave(onPhone)
    expect(received[1]).toContain('wanted.md')

    // The server is killed while the second call waits, and starts again; its link still works.
    const [second] = await waiting()
    expect(second.arguments).toEqual({ path: 'wanted.md', content: 'first\n' })
    const approving = await call('POST', `/api/approvals/${second.id}/link`, {})
    await server.kill('SIGKILL')
    server = await place.start()
    expect((await waiting())[0]).toMatchObject({ id: second.id, call_hash: second.call_hash })
    const again = await visitor.open(server.url + new URL(approving.data.url).pathname, {
      withBuiltPage: true,
      phone: true,
    })
    await again.getByRole('button', { name: 'Approve', exact: true }).click()
    await eventually(async () =>
      expect((await call('GET', `/api/approvals/${second.id}`)).data).toMatchObject({
        state: 'approved',
        decided_through: 'link',
      }),
    )
    await picture(again, 'phone-approved')
    await leave(again)
    expect((await call('GET', `/api/approvals/${first.id}`)).data).toMatchObject({
      state: 'rejected',
      decided_through: 'link',
    })
    // Nobody was told twice of the call that waited across the restart.
    expect(received).toHaveLength(2)

    // A rule from the second approval, a little wider: this file, whatever is written.
    const preview = await call('POST', '/api/grants/preview', {
      scope: 'conversation',
      scope_id: conversation.id,
      tool: 'file_write',
      approval_id: second.id,
    })
    expect(preview.data.suggested.path).toEqual({ equals: 'wanted.md' })
    const grant = await call('POST', '/api/grants', {
      scope: 'conversation',
      scope_id: conversation.id,
      tool: 'file_write',
      match: { ...preview.data.suggested, content: { any: true } },
      approval_id: second.id,
      max_uses: 10,
    })
    expect(grant.status).toBe(200)
    release()

    // The laptop is opened again: the third call needed nobody, and the receipt says what happened.
    const opened = await visitor.open(`${server.url}/c/${conversation.id}`, {
      withBuiltPage: true,
    })
    await opened.getByText('I have written unwanted.md').waitFor()
    const receipt = opened.getByRole('button', { name: /1 file changed/ })
    await receipt.waitFor()
    await receipt.click()
    await opened.getByText('1 rejected').waitFor()
    await picture(opened, 'laptop-receipt')
    await expectAccessible(opened)
    expect(received).toHaveLength(2)
    const items = (await call('GET', `/api/conversations/${conversation.id}/messages`)).data.items
    const told = await call(
      'GET',
      `/api/conversations/${conversation.id}/messages/${items[1].id}/receipt`,
    )
    expect(told.data).toMatchObject({
      calls: { total: 3, failed: 0, rejected: 1, expired: 0, parked: 0 },
      files: [{ path: 'wanted.md', change: 'added', added: 1, removed: 0 }],
      commands: [],
      sent: [],
      unresolved: [],
      grants_used: [grant.data.id],
    })
    const file = await call('GET', `/api/projects/${project}/files/wanted.md`)
    expect(file.data.content).toBe('second\n')

    // The rule is found with its use, on the phone, too, and removed.
    await opened.getByRole('link', { name: 'Allowed by a permission' }).first().click()
    await opened.getByText('used once').first().waitFor()
    const address = opened.url()
    await leave(opened)
    const settings = await visitor.open(address, {
      withBuiltPage: true,
      phone: true,
    })
    await settings.getByText('used once').first().waitFor()
    await settings.getByText('used once').first().scrollIntoViewIfNeeded()
    await picture(settings, 'phone-grants')
    await settings
      .getByRole('button', { name: /^Remove the permission/ })
      .first()
      .click()
    await settings.getByText('No permissions. The agent asks you each time.').waitFor()
    expect((await call('GET', '/api/grants')).data.items).toEqual([])
    await leave(settings)
  })
})
