// Limits the connections per address, so that no single client can exhaust the server's file descriptors.
import type { Server } from 'node:http'

/** Closes connections beyond `max` from one address immediately. Addresses for which `isProxy` is true are not counted. */
export function limitConnections(
  server: Pick<Server, 'on'>,
  max: number,
  isProxy: (address: string) => boolean,
): void {
  const open = new Map<string, number>()
  server.on('connection', (socket) => {
    const address = socket.remoteAddress
    // A connection that has already closed has no address.
    if (address === undefined || isProxy(address)) return
    const count = open.get(address) ?? 0
    if (count >= max) {
      socket.destroy()
      return
    }
    open.set(address, count + 1)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left === 0) open.delete(address)
      else open.set(address, left)
    })
  })
}
