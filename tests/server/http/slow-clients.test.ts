// Clients that stop in the middle of a body are disconnected; those that move on are not.
import { connect } from 'node:net'
import multipart from '@fastify/multipart'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dropStalledReaders, guardSlowBodies } from '../../../server/http/slow-clients.ts'

/** Far more than the system takes in between two ends of a connection. */
const LONG = 'x'.repeat(40_000_000)

let app: FastifyInstance
let port = 0

beforeAll(async () => {
  app = Fastify()
  guardSlowBodies(app, 300)
  dropStalledReaders(app, 600)
  await app.register(multipart)
  app.get('/long', async () => LONG)
  app.get('/late', (_request, reply) => {
    setTimeout(() => void reply.send('late'), 1_500)
  })
  app.post('/json', async () => ({ ok: true }))
  app.post('/upload', async (request) => {
    const file = await request.file()
    return { bytes: (await file?.toBuffer())?.length }
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.server.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
})
afterAll(() => app.close())

/** Sends the pieces with pauses and answers what came back until the connection was closed. */
const send = (pieces: readonly string[], pauseMs: number): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(received))
    const next = (index: number): void => {
      const piece = pieces[index]
      if (piece === undefined || socket.destroyed) return
      socket.write(piece)
      setTimeout(next, pauseMs, index + 1)
    }
    next(0)
  })

const head = (path: string, type: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`

const upload = (content: readonly string[]): string[] => {
  const before =
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n'
  const parts = [before, ...content, '\r\n--b--\r\n']
  return [head('/upload', 'multipart/form-data; boundary=b', parts.join('').length), ...parts]
}

test('a client that never ends its JSON body is disconnected', async () => {
  expect(await send([head('/json', 'application/json', 100), '{'], 10)).toBe('')
})

test('a client that stops in the middle of an upload is disconnected', async () => {
  const [first = '', second = ''] = upload(['x'.repeat(100)])
  expect(await send([first, second], 10)).toBe('')
})

test('an upload that takes longer than the limit but makes progress is read completely', async () => {
  const received = await send(upload(Array<string>(12).fill('x'.repeat(10))), 60)
  expect(received).toContain('"bytes":120')
})

test('a body that arrives in time is served', async () => {
  expect(await send([head('/json', 'application/json', 2), '{}'], 10)).toContain('"ok":true')
})

/** A client that has asked and takes nothing; fulfils when the server has closed the connection. */
function askAndSleep(path: string): Promise<void> {
  const closed = new Promise<void>((resolve) =>
    app.server.once('connection', (socket) => socket.once('close', () => resolve())),
  )
  const client = connect(port, '127.0.0.1').pause()
  client.on('error', () => {})
  client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  return closed
}

test('a client that reads nothing of a response is disconnected', async () => {
  await askAndSleep('/long')
})

test('a connection without requests is closed', async () => {
  const client = connect(port, '127.0.0.1')
  await new Promise((resolve) => client.once('close', resolve).resume())
})

test('a client that waits for a late response gets it', async () => {
  expect(await (await fetch(`http://127.0.0.1:${port}/late`)).text()).toBe('late')
})

test('a client that reads slowly gets all of a long response', async () => {
  const response = await fetch(`http://127.0.0.1:${port}/long`)
  let length = 0
  let pauses = 0
  for await (const piece of response.body ?? []) {
    length += piece.length
    // It pauses for less than the limit, in all for longer.
    if (length > (pauses + 1) * 8_000_000) {
      pauses += 1
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
  expect(length).toBe(LONG.length)
})
