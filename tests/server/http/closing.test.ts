// Closing the HTTP server: it waits for responses under way, and for nothing else.
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { createApp } from '../../../server/http/app.ts'

test('a connection whose response ends while the server closes is closed as well, although its client keeps it open', async () => {
  const app = createApp({ bodyLimit: 10_000 })
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let arrive = (): void => {}
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  app.get('/api/slow', async () => {
    arrive()
    await released
    return 'the whole response'
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  // Otherwise the server's time limit for idle connections would end the test as well, half a minute later.
  app.server.keepAliveTimeout = 0
  const agent = new Agent({ keepAlive: true })
  const request = get(`${origin}/api/slow`, { agent })
  await arrived
  const closed = app.close()
  await expect.poll(() => app.server.listening).toBe(false)
  release()
  const [response]: IncomingMessage[] = await once(request, 'response')
  expect(await response?.setEncoding('utf8').toArray()).toEqual(['the whole response'])
  await closed
  agent.destroy()
})

test('a connection that was opened in advance and never used does not delay the end', async () => {
  const app = createApp({ bodyLimit: 10_000 })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  // Otherwise the server's time limit for headers would end the test as well.
  app.server.headersTimeout = 0
  app.server.requestTimeout = 0
  const accepted = once(app.server, 'connection')
  const unused = connect(Number(new URL(origin).port), '127.0.0.1')
  await accepted
  const ended = once(unused, 'close')
  await app.close()
  await ended
})
