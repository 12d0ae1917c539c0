// Clients that stop in the middle of a body are disconnected; slow clients that make progress are not.
import { connect } from 'node:net'
import multipart from '@fastify/multipart'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  closeUnfinishedBodies,
  dropStalledReaders,
  guardSlowBodies,
} from '../../../server/http/app/slow-clients.ts'

/** Far more than the system buffers between the two ends of a connection. */
const LONG = 'x'.repeat(40_000_000)

let app: FastifyInstance
let port = 0
/** With limits that a busy machine does not exceed by itself, for clients that must not be disconnected. */
let patient: FastifyInstance
let patientPort = 0

beforeAll(async () => {
  app = await createApp({ bodyMs: 300, readMs: 600 })
  port = await listen(app)
  patient = await createApp({ bodyMs: 1_500, readMs: 3_000 })
  patientPort = await listen(patient)
})
afterAll(() => Promise.all([app.close(), patient.close()]))

async function createApp(limits: { bodyMs: number; readMs: number }): Promise<FastifyInstance> {
  const app = Fastify()
  guardSlowBodies(app, limits.bodyMs)
  dropStalledReaders(app, limits.readMs)
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
  return app
}

async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Sends the pieces with pauses; resolves with everything received once the connection is closed. */
const send = (pieces: readonly string[], pauseMs: number, to = port): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(to, '127.0.0.1')
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
  const received = await send(upload(Array<string>(12).fill('x'.repeat(10))), 150, patientPort)
  expect(received).toContain('"bytes":120')
})

describe('a client that is refused before the end of its body', () => {
  /** Without any other limit that would close a connection within the time of a test. */
  async function refusing(limits: { silentMs: number; limitMs: number }): Promise<number> {
    const refusal = Fastify()
    onTestFinished(() => refusal.close())
    closeUnfinishedBodies(refusal, limits)
    refusal.addHook('onRequest', async (request, reply) => {
      if (request.url === '/refused') await reply.code(401).send('refused')
    })
    refusal.post('/refused', async () => 'accepted')
    refusal.get('/next', async () => 'next')
    return await listen(refusal)
  }
  const post =
    'POST /refused HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{'

  test('gets the answer, and its connection is closed if it sends no more', async () => {
    const to = await refusing({ silentMs: 100, limitMs: 60_000 })
    expect(await send([post], 10, to)).toContain('401')
  })

  test('is disconnected if it goes on and on', async () => {
    const to = await refusing({ silentMs: 600, limitMs: 1_000 })
    expect(await send([post, ...Array<string>(90_000).fill(' ')], 50, to)).toContain('401')
  })

  test('may end its body, and then goes on with the connection', async () => {
    const to = await refusing({ silentMs: 5_000, limitMs: 60_000 })
    const next = 'GET /next HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    const received = await send([post, ' '.repeat(99_999), next], 50, to)
    expect(received).toContain('401')
    expect(received).toMatch(/\bnext$/)
  })

  test('leaves nothing on its connection, however many of its requests are refused', async () => {
    const warnings: string[] = []
    const onWarning = ({ message }: Error): void => void warnings.push(message)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))
    const to = await refusing({ silentMs: 5_000, limitMs: 60_000 })
    const requests = Array.from({ length: 15 }, () => [post, ' '.repeat(99_999)]).flat()
    const next = 'GET /next HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    const received = await send([...requests, next], 20, to)
    expect(received.match(/refused/g)).toHaveLength(15)
    expect(received).toMatch(/\bnext$/)
    expect(warnings).toEqual([])
  })
})

test('a body that arrives in time is served', async () => {
  expect(await send([head('/json', 'application/json', 2), '{}'], 10, patientPort)).toContain(
    '"ok":true',
  )
})

/** A client that sends a request and reads nothing; resolves when the server has closed the connection. */
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
  const response = await fetch(`http://127.0.0.1:${patientPort}/long`)
  let length = 0
  let pauses = 0
  for await (const piece of response.body ?? []) {
    length += piece.length
    // Each pause is shorter than the limit; together they are longer.
    if (length > (pauses + 1) * 2_000_000) {
      pauses += 1
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
  expect(length).toBe(LONG.length)
  expect(pauses * 200).toBeGreaterThan(3_000)
})
