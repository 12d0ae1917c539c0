// Finds a TCP port that nothing listens on.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below the ephemeral range: an outgoing connection could otherwise take the port between two starts of a server. Only even
 * ones: a server also opens the next port, which must not be another one's.
 */
const PORTS = { from: 10_000, to: 32_000 }

export async function freePort(): Promise<number> {
  for (;;) {
    const port = 2 * randomInt(PORTS.from / 2, PORTS.to / 2)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}
