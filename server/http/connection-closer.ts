// Closing the HTTP server without waiting for connections on which nothing happens.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** How often such connections are closed while the server closes. */
const CHECK_MS = 50

/**
 * Returns a function to call when the server begins to close. Until it has closed, this closes connections without a request.
 * Node does so only once, and only if a connection has had a request: one whose response ends a moment later would delay the
 * end until its keep-alive time is over, and one that a browser opened in advance until the time for its headers is over.
 */
export function createConnectionCloser(server: Server): () => void {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return () => {
    const timer = setInterval(() => {
      server.closeIdleConnections()
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    }, CHECK_MS)
    server.once('close', () => clearInterval(timer))
  }
}
