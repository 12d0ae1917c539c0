// Stops reading from the sockets of responses for a moment, so that what arrives meanwhile is read at once.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import { isRecord } from '../../lib/records.ts'

/** Decides whether a socket is read. */
export interface SocketGate {
  /** Nothing is read from the socket until it is opened; what arrives waits in the system. */
  close(): void
  /** Reads on. Does nothing while it is open. */
  open(): void
}

/** Published right before a request is written: https://undici.nodejs.org/#/docs/api/DiagnosticsChannel.md. */
const SENDING = 'undici:client:sendHeaders'

/** Finds the sockets that requests are written to, which a dispatcher does not tell its handlers. */
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
 * A gate of one response. Node has no public way to stop reading: `pause` of a stream reads on until its buffer is full, a
 * piece at a time. So this does what `pause` does for sockets with a buffer of their own (`onread`), where the socket has
 * such a handle; elsewhere the gate stays open.
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
      // Begins to read again, because the handle does not.
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
