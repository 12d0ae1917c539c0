// A TCP connection through the test process, which can be cut and frozen.
import { connect, createServer, type Socket } from 'node:net'
import { z } from 'zod'

export interface Link {
  readonly port: number
  /** Closes all connections, and refuses new ones until `restore`. */
  cut(): void
  /** Keeps all connections open, but passes nothing on until `restore`. */
  freeze(): void
  restore(): void
  close(): void
}

export async function startLink(target: { host: string; port: number }): Promise<Link> {
  const sockets = new Set<Socket>()
  let state: 'open' | 'cut' | 'frozen' = 'open'
  const server = createServer((client) => {
    if (state === 'cut') {
      client.destroy()
      return
    }
    const upstream = connect(target)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => {
        if (state !== 'frozen') to.write(bytes)
      })
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.on('error', () => to.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = z.object({ port: z.int() }).parse(server.address())
  const closeAll = (): void => {
    for (const socket of [...sockets]) socket.destroy()
  }
  return {
    port,
    cut() {
      state = 'cut'
      closeAll()
    },
    freeze() {
      state = 'frozen'
    },
    restore() {
      // What was lost in a frozen connection cannot be made up for.
      if (state === 'frozen') closeAll()
      state = 'open'
    },
    close() {
      closeAll()
      server.close()
    },
  }
}
