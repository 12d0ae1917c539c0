// Stops reading from the sockets of responses for a moment, so that everything that arrives meanwhile is read at once.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import { isRecord } from '../../lib/records.ts'

/** Controls whether a socket is read. */
export interface SocketGate {
  /** Stops reading until the gate is opened. What arrives waits in the operating system. */
  close(): void
  /** Reads on. Does nothing if the gate is open. */
  open(): void
}

/** Published right before a request is written: https://undici.nodejs.org/#/docs/api/DiagnosticsChannel.md. */
const SENDING = 'undici:client:sendHeaders'

/** Finds the socket of each request. A dispatcher does not report it to its handlers. */
export function followSockets(): {
  /** Call it in `onRequestStart`: the socket of the request is published next, in the same turn. */
  ofNextRequest(receive: (socket: Socket) => void): void
  close(): void
} {
  let waiting: ((socket: Socket) => void) | null = null
  const listen = (message: unknown): void => {
    const receive = waiting
    waiting = null
    if (isRecord(message) && message.socket instanceof Socket) receive?.(message.socket)
  }
  subscribe(SENDING, listen)
  return {
    ofNextRequest(receive) {
      waiting = receive
    },
    close: () => void unsubscribe(SENDING, listen),
  }
}

/**
 * Creates the gate of one response. Node has no public way to stop reading: `pause` of a stream reads on until its buffer
 * is full, one piece at a time. So the gate does what `pause` does for sockets with a buffer of their own (`onread`), if
 * the socket has such a handle; otherwise it stays open.
 */
export function createSocketGate(socket: Socket | undefined): SocketGate {
  let isClosed = false
  return {
    close() {
      const handle: unknown = socket === undefined ? undefined : Reflect.get(socket, '_handle')
      if (isClosed || !isReading(handle)) return
      isClosed = true
      handle.reading = false
      handle.readStop()
    },
    open() {
      if (!isClosed) return
      isClosed = false
      // Resume reading here, because the handle does not do so on its own.
      if (socket?.destroyed === false) socket._read(0)
    },
  }
}

interface Handle {
  reading: boolean
  readStop(): unknown
}

const isReading = (handle: unknown): handle is Handle =>
  typeof handle === 'object' &&
  handle !== null &&
  'reading' in handle &&
  handle.reading === true &&
  'readStop' in handle &&
  typeof handle.readStop === 'function'
