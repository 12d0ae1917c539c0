// What leaves a conversation: messages sent through a channel, and remembered facts that come from outside text.
import { createECDH, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'

const upstream = await useUpstream()

const { start } = useServers()
const received: string[] = []
const pushed: string[] = []
const receiver = createServer((request, response) => {
  const into = request.url === '/push' ? pushed : received
  request.on('data', (chunk: Buffer) => into.push(chunk.toString('utf8')))
  request.on('end', () => response.end('{}'))
})
let server: TestServer
beforeAll(async () => {
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
  server = await start({
    config: {
      models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
      titles: 'first_message',
      network: { allow_private: ['127.0.0.1'] },
      mcp_servers: {
        outside: {
          command: process.execPath,
          args: [resolve(import.meta.dirname, '../../../examples/mcp-server.mjs')],
        },
      },
    },
  })
  await server.server.toolsReady
})
afterAll(async () => {
  receiver.closeAllConnections()
  await new Promise((done) => receiver.close(done))
})

const converse = async (approval: string) => {
  const { json } = await server.call('POST', '/api/conversations', { body: { approval } })
  const url = `${server.url}/api/conversations/${json.data.id}/messages`
  return openEvents(url, { body: { text: 'Go' } })
}

test('a message is sent through a channel of the user, and an unknown channel is a failure that names the existing ones', async () => {
  const { port } = receiver.address() as AddressInfo // never null or a path: the server listens on TCP
  const created = await server.call('POST', '/api/channels', {
    body: {
      type: 'webhook',
      name: 'ops',
      settings: { url: `http://127.0.0.1:${port}/SECRET`, secret: 'SECRET-of-it' },
    },
  })
  expect(created.status).toBe(200)
  upstream.enqueue(
    turn.toolCalls([{ name: 'message', arguments: { content: 'Deployed.', to: 'channel:ops' } }]),
    turn.toolCalls([{ name: 'message', arguments: { content: 'x', to: 'channel:nowhere' } }]),
    turn.text('Told them.'),
  )
  const events = await (await converse('auto_medium')).all()
  const results = events.filter(({ data }) => data.type === 'tool_result')
  expect(JSON.parse(results[0]?.data.content)).toMatchObject({
    success: true,
    data: { status: 'delivered' },
  })
  expect(results[1]?.data.content).toContain('channel:ops')
  expect(received.join('')).toContain('Deployed.')
  const listed = await server.call('GET', '/api/channels')
  expect(listed.json.data.items).toMatchObject([{ last_delivery: { status: 'delivered' } }])
  expect(JSON.stringify([created, listed])).not.toContain('SECRET')
})

test('a subscribed browser is notified of an answer, and a subscription with wrong keys is refused', async () => {
  const { port } = receiver.address() as AddressInfo // never null or a path: the server listens on TCP
  const p256dh = createECDH('prime256v1').generateKeys('base64url')
  const subscription = {
    endpoint: `http://127.0.0.1:${port}/push`,
    keys: { p256dh, auth: randomBytes(16).toString('base64url') },
  }
  const subscribe = (body: object) => server.call('POST', '/api/push/subscriptions', { body })
  for (const wrong of [
    { ...subscription, endpoint: 'file:///etc/passwd' },
    { ...subscription, keys: { ...subscription.keys, p256dh: `B${'A'.repeat(86)}` } },
    { ...subscription, keys: { p256dh, auth: 'short' } },
  ])
    expect((await subscribe(wrong)).status).toBe(400)
  const { json } = await subscribe(subscription)
  expect((await subscribe(subscription)).json.data.id).toBe(json.data.id)
  const before = pushed.length
  upstream.enqueue(turn.text('Done.'))
  await (await converse('auto')).all()
  await eventually(() => expect(pushed).toHaveLength(before + 1))
  expect(pushed.join()).not.toContain('Done')
  await server.call('DELETE', `/api/push/subscriptions/${json.data.id}`)
})

test('saving a fact after outside text was read needs approval, and the fact is marked', async () => {
  upstream.enqueue(
    turn.toolCalls([{ name: 'mcp__outside__show', arguments: {} }]),
    turn.toolCalls([
      { name: 'save_memory', arguments: { fact: 'The user wants to be called Bob' } },
    ]),
    turn.text('Noted.'),
  )
  const stream = await converse('auto_medium')
  const approvalRequest = await stream.next(({ event }) => event === 'approval_required')
  expect(approvalRequest.data).toMatchObject({
    name: 'save_memory',
    preview: { display: 'Remember: The user wants to be called Bob' },
  })
  await server.call('POST', `/api/runs/${approvalRequest.data.run_id}/approvals`, {
    body: { id_ref: approvalRequest.data.id_ref, decision: 'approve' },
  })
  await stream.all()
  const { json } = await server.call('GET', '/api/memory')
  expect(json.data.content).toContain('The user wants to be called Bob (from outside text)')
})
