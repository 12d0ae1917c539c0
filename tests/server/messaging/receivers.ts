// Receivers of messages on loopback, HTTP and SMTP, and channels that send to them.
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { onTestFinished } from 'vitest'
import { createSecretBox } from '../../../server/auth/secret-box.ts'
import type { Database } from '../../../server/db/database.ts'
import { createChannelRepository } from '../../../server/db/repositories/deliveries/channels.ts'
import { createLocalLimits } from '../../../server/lib/local-limits.ts'
import { type Channels, createChannels } from '../../../server/messaging/channels.ts'
import { createChannelKinds } from '../../../server/messaging/kinds.ts'
import { createAddressRules } from '../../../server/net/addresses.ts'
import { createGuardedFetch } from '../../../server/net/guarded-fetch.ts'
import { SELF_SIGNED } from '../../fixtures/self-signed.ts'
import { addUser } from '../../support/store/rows.ts'

/** An HTTP receiver that responds with the given statuses in turn, then with 200. */
export async function startReceiver(...statuses: number[]) {
  const received: { url: string; headers: IncomingHttpHeaders; body: string; bytes: Buffer }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        bytes: Buffer.concat(chunks),
      })
      response.writeHead(statuses.shift() ?? 200).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo // never null or a path: the server listens on TCP
  return { url: `http://127.0.0.1:${port}`, received }
}

/**
 * A mail server with the SMTP commands that a sender needs. With `refuse`, it rejects the recipient with 550; with
 * `refusesLogin`, every user. With `isEncrypted`, it demands TLS and has a self-signed certificate.
 */
export async function startMailServer(
  refuse = false,
  { refusesLogin = false, isEncrypted = false } = {},
) {
  const mails: string[] = []
  const listen = isEncrypted
    ? (serve: (socket: Socket) => void) => createTlsServer(SELF_SIGNED, serve)
    : createTcpServer
  const server = listen((socket) => {
    let inData = false
    let text = ''
    socket.write('220 test ESMTP\r\n')
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8')
      for (;;) {
        const mark = inData ? '\r\n.\r\n' : '\r\n'
        const end = text.indexOf(mark)
        if (end === -1) return
        const line = text.slice(0, end)
        text = text.slice(end + mark.length)
        if (inData) {
          mails.push(line)
          inData = false
          socket.write('250 stored\r\n')
        } else if (/^DATA/i.test(line)) {
          inData = true
          socket.write('354 go on\r\n')
        } else if (/^RCPT/i.test(line) && refuse) socket.write('550 no such box\r\n')
        else if (/^EHLO/i.test(line) && refusesLogin) socket.write('250-test\r\n250 AUTH PLAIN\r\n')
        else if (/^AUTH/i.test(line)) socket.write('535 wrong password\r\n')
        else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n')
        else socket.write('250 ok\r\n')
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())))
  const { port } = server.address() as AddressInfo // never null or a path: the server listens on TCP
  return {
    smtp: { host: '127.0.0.1', port, from: 'claw@example.org' },
    mails,
    /** Serves a connection that another server has accepted, as after STARTTLS. */
    accept: (socket: Socket) => void server.emit('connection', socket),
  }
}

/** A mail server that accepts a connection and never sends anything. `connected` resolves with the first connection. */
export async function startSilentServer() {
  let onConnection: () => void = () => undefined
  const connected = new Promise<void>((resolve) => {
    onConnection = resolve
  })
  const sockets: Socket[] = []
  const server = createTcpServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    onConnection()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo // never null or a path: the server listens on TCP
  return {
    smtp: { host: '127.0.0.1', port, from: 'claw@example.org' },
    connected,
  }
}

export const fetch = createGuardedFetch({
  rules: createAddressRules({ allowPrivate: ['127.0.0.1'], allowPorts: [80, 443] }),
})
export const strictFetch = createGuardedFetch({
  rules: createAddressRules({ allowPrivate: [], allowPorts: [80, 443] }),
})
const secrets = createSecretBox(Buffer.alloc(32, 7))

export const message = (text = 'hello') => ({
  text,
  conversationId: null,
  signal: new AbortController().signal,
})

/** Creates a user whose channels retry at once; `start` starts another sender on the same database. */
export async function prepareChannels(
  database: Database,
  options: Partial<Parameters<typeof createChannels>[0]> = {},
) {
  const userId = await addUser(database)
  const start = (): Channels => {
    const channels = createChannels({
      repository: createChannelRepository(database),
      kinds: createChannelKinds({ fetch, smtp: undefined }),
      secrets,
      isUniqueViolation: (error) => database.isUniqueViolation(error),
      now: () => new Date(),
      log: { warn: () => undefined },
      messagesPerHour: 60,
      limits: createLocalLimits(),
      pauseMs: 20,
      ...options,
    })
    channels.start()
    onTestFinished(() => channels.stop())
    return channels
  }
  return { userId, channels: start(), start }
}
