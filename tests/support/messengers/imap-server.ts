// A scripted IMAP mailbox: the commands that a client needs to read new mail, with notices while it idles.

import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'

/** Starts one without TLS. */
export async function startMailbox() {
  const mails: Buffer[] = []
  const sockets = new Map<Socket, { idles: string | null }>()
  const commands: string[] = []
  const login = { refused: false }
  /** The command that is once answered with the beginning of more than a client takes. */
  const breaks: { current: RegExp | null } = { current: null }

  const server = createServer((socket) => {
    sockets.set(socket, { idles: null })
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    socket.write('* OK ready\r\n')
    let waiting = ''
    socket.on('data', (chunk) => {
      waiting += chunk.toString('latin1')
      for (let end = waiting.indexOf('\r\n'); end !== -1; end = waiting.indexOf('\r\n')) {
        const line = waiting.slice(0, end)
        waiting = waiting.slice(end + 2)
        answer(socket, line)
      }
    })
  })

  function answer(socket: Socket, line: string): void {
    const state = sockets.get(socket)
    if (state !== undefined && state.idles !== null) {
      socket.write(`${state.idles} OK done\r\n`)
      state.idles = null
      return
    }
    const [tag = '', ...words] = line.split(' ')
    const command = words.join(' ')
    commands.push(command.replace(/^(LOGIN|AUTHENTICATE).*/i, '$1'))
    if (breaks.current?.test(command) === true) {
      breaks.current = null
      socket.write(`* 1 FETCH (BODY[] {${Number.MAX_SAFE_INTEGER}}\r\n`)
      return
    }
    const say = (...lines: string[]): void => {
      socket.write([...lines, `${tag} OK done`].map((one) => `${one}\r\n`).join(''))
    }
    if (/^CAPABILITY/i.test(command)) say('* CAPABILITY IMAP4rev1 IDLE')
    else if (/^(LOGIN|AUTHENTICATE)/i.test(command) && login.refused)
      socket.write(`${tag} NO [AUTHENTICATIONFAILED] wrong\r\n`)
    else if (/^LIST/i.test(command)) say('* LIST () "/" "INBOX"')
    else if (/^LSUB/i.test(command)) say()
    else if (/^(SELECT|EXAMINE)/i.test(command))
      say(
        '* FLAGS ()',
        `* ${mails.length} EXISTS`,
        '* 0 RECENT',
        '* OK [UIDVALIDITY 7] same',
        `* OK [UIDNEXT ${mails.length + 1}] next`,
      )
    else if (/^UID SEARCH/i.test(command)) {
      const from = Number(/UID (\d+):\*/i.exec(command)?.[1] ?? 1)
      const uids = mails.map((_, at) => at + 1).filter((uid) => uid >= Math.min(from, mails.length))
      say(`* SEARCH${uids.map((uid) => ` ${uid}`).join('')}`)
    } else if (/^UID FETCH/i.test(command)) {
      const uid = Number(/^UID FETCH (\d+)/i.exec(command)?.[1])
      const mail = mails[uid - 1]
      if (mail !== undefined) {
        socket.write(
          `* ${uid} FETCH (UID ${uid} RFC822.SIZE ${mail.length} BODY[]<0> {${mail.length}}\r\n`,
        )
        socket.write(mail)
        socket.write(')\r\n')
      }
      say()
    } else if (/^IDLE/i.test(command)) {
      if (state !== undefined) state.idles = tag
      socket.write('+ idling\r\n')
    } else if (/^LOGOUT/i.test(command)) socket.end(`* BYE\r\n${tag} OK done\r\n`)
    else say()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // never null or a path: the server listens on TCP
  return {
    imap: { host: '127.0.0.1', port, user: 'agent', password: 'box-secret', tls: 'none' },
    commands,
    login,
    breaks,
    /** A mail arrives. */
    deliver(lines: readonly string[]) {
      mails.push(Buffer.from(lines.join('\r\n')))
      for (const socket of sockets.keys()) socket.write(`* ${mails.length} EXISTS\r\n`)
    },
    /** Breaks all connections. */
    drop() {
      for (const socket of sockets.keys()) socket.destroy()
    },
    async close() {
      for (const socket of sockets.keys()) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
