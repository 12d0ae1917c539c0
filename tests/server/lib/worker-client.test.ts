// The client of a worker thread: replies, time limits, aborts and crashes.
import { afterEach, describe, expect, test } from 'vitest'
import { createWorkerClient, type WorkerClient } from '../../../server/lib/worker-client.ts'
import type { EchoRequest } from '../../support/echo.child.ts'

type Echo = WorkerClient<EchoRequest, { text: string; threadId: number }>

const clients: Echo[] = []
const createClient = (): Echo => {
  const client: Echo = createWorkerClient('../tests/support/echo.child', {
    startTimeoutMs: 60_000,
    idleMs: 60_000,
    timeoutError: (timeoutMs) => new Error(`no reply after ${timeoutMs} ms`),
    abortedError: () => new Error('nobody waits for it'),
  })
  clients.push(client)
  return client
}
const LONG_MS = 60_000
const echo = (client: Echo, text: string, timeoutMs = LONG_MS) =>
  client.request({ kind: 'echo', text }, { timeoutMs })

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()))
})

describe('a worker client', () => {
  test('gives each of several requests its own reply, from one thread', async () => {
    const client = createClient()
    const replies = await Promise.all(['a', 'b', 'c'].map((text) => echo(client, text)))
    expect(replies.map(({ text }) => text)).toEqual(['a', 'b', 'c'])
    expect(new Set(replies.map(({ threadId }) => threadId)).size).toBe(1)
    expect((await echo(client, 'd')).threadId).toBe(replies[0]?.threadId)
  })

  test('terminates the thread when a request times out, rejects its other requests, and starts another', async () => {
    const client = createClient()
    const before = await echo(client, 'before')
    const stuck = client.request({ kind: 'loop' }, { timeoutMs: 50 })
    const behind = echo(client, 'behind')
    await expect(stuck).rejects.toThrow('no reply after 50 ms')
    await expect(behind).rejects.toThrow('no reply after 50 ms')
    expect((await echo(client, 'after')).threadId).not.toBe(before.threadId)
  })

  test('terminates the thread when the signal of a request aborts', async () => {
    const client = createClient()
    const before = await echo(client, 'before')
    const controller = new AbortController()
    const stuck = client.request(
      { kind: 'loop' },
      { timeoutMs: LONG_MS, signal: controller.signal },
    )
    controller.abort()
    await expect(stuck).rejects.toThrow('nobody waits for it')
    expect((await echo(client, 'after')).threadId).not.toBe(before.threadId)
  })

  test('refuses a request whose signal has aborted already, and keeps the thread', async () => {
    const client = createClient()
    const before = await echo(client, 'before')
    const late = client.request(
      { kind: 'loop' },
      { timeoutMs: LONG_MS, signal: AbortSignal.abort() },
    )
    await expect(late).rejects.toThrow('nobody waits for it')
    expect((await echo(client, 'after')).threadId).toBe(before.threadId)
  })

  test('rejects with the cause when the thread crashes, and starts another', async () => {
    const client = createClient()
    await expect(client.request({ kind: 'crash' }, { timeoutMs: LONG_MS })).rejects.toThrow(
      'crashed on request',
    )
    expect((await echo(client, 'after')).text).toBe('after')
  })

  test('rejects open requests with the reason it is closed for', async () => {
    const client = createClient()
    await echo(client, 'before')
    const stuck = client.request({ kind: 'loop' }, { timeoutMs: LONG_MS })
    const rejected = expect(stuck).rejects.toThrow('the server stops')
    await client.close(new Error('the server stops'))
    await rejected
  })
})
