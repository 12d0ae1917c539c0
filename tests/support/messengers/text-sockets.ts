// A server of WebSockets for tests: short text frames both ways, which is all that scripted messengers send.
import { createHash } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** The server's end of a WebSocket. */
export interface ServerSocket {
  send(text: string): void
  /** Breaks the connection without a word. */
  destroy(): void
}

const frame = (opcode: number, payload: Buffer): Buffer => {
  const { length } = payload
  const header =
    length < 126
      ? Buffer.from([0x80 | opcode, length])
      : Buffer.from([0x80 | opcode, 126, length >> 8, length & 255])
  return Buffer.concat([header, payload])
}

/** The first frame of `data` and its length; null while it is not complete. */
function readFrame(data: Buffer): { opcode: number; payload: Buffer; size: number } | null {
  const [first = 0, second = 0] = data
  const short = second & 127
  const head = short === 126 ? 4 : 2
  if (data.length < head + 4) return null
  const length = short === 126 ? data.readUInt16BE(2) : short
  const size = head + 4 + length
  if (data.length < size) return null
  const mask = data.subarray(head, head + 4)
  const payload = Buffer.from(
    data.subarray(head + 4, size).map((byte, at) => byte ^ (mask[at % 4] ?? 0)),
  )
  return { opcode: first & 15, payload, size }
}

/** Calls `onSocket` for each WebSocket; what that returns gets its texts, and `onEnd` is called when it has ended. */
export function serveSockets(
  server: Server,
  onSocket: (socket: ServerSocket) => { onText(text: string): void; onEnd(): void },
): void {
  server.on('upgrade', (request: IncomingMessage, stream: Duplex) => {
    const key = String(request.headers['sec-websocket-key'])
    const accept = createHash('sha1').update(`${key}${MAGIC}`).digest('base64')
    stream.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    )
    const handlers = onSocket({
      send: (text) => stream.write(frame(1, Buffer.from(text))),
      destroy: () => stream.destroy(),
    })
    let waiting = Buffer.alloc(0)
    stream.on('data', (chunk: Buffer) => {
      waiting = Buffer.concat([waiting, chunk])
      for (let next = readFrame(waiting); next !== null; next = readFrame(waiting)) {
        waiting = waiting.subarray(next.size)
        if (next.opcode === 1) handlers.onText(next.payload.toString('utf8'))
        if (next.opcode === 9) stream.write(frame(10, next.payload))
        if (next.opcode === 8) stream.end(frame(8, next.payload))
      }
    })
    stream.on('error', () => stream.destroy())
    stream.on('close', () => handlers.onEnd())
  })
}
