// A WebSocket of texts that ends when the other side is gone, also if nobody says so.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ping as sendPing, WebSocket } from 'undici'
import { abortError, onAbort } from '../lib/abort.ts'

/** How often the other side is asked whether it is still there. */
const PING_MS = 30_000
const OPEN_TIMEOUT_MS = 15_000
/** Where undici says that a ping was answered: sockets have no event for it. */
const PONG = 'undici:websocket:pong'

/** An open WebSocket of texts. */
export interface TextSocket {
  send(text: string): void
  /** Ends it; more than once does no harm. */
  close(): void
  /** Resolves when it has ended, for whatever reason. */
  closed: Promise<void>
}

/** A WebSocket of a service that the operator trusts. */
export interface SocketOptions {
  signal: AbortSignal
  onText(text: string): void
}

/**
 * Resolves when the socket is open.
 * @throws Error why it could not be opened.
 */
export async function openTextSocket(
  socket: WebSocket,
  ping: typeof sendPing,
  { signal, onText }: SocketOptions,
): Promise<TextSocket> {
  let hasEnded = (): void => undefined
  const closed = new Promise<void>((resolve) => {
    hasEnded = resolve
  })
  socket.addEventListener('close', hasEnded, { once: true })
  socket.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') onText(data)
  })
  try {
    await opening(socket, signal)
  } catch (error) {
    socket.close()
    throw error
  }
  const close = (): void => {
    socket.close()
    // Without waiting for the other side to agree: it may be gone.
    hasEnded()
  }
  const release = onAbort(signal, close)
  const endPings = keepAlive(socket, ping, close)
  void closed.then(() => {
    release()
    endPings()
  })
  return {
    send: (text) => socket.send(text),
    close,
    closed,
  }
}

const opening = (socket: WebSocket, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error('The WebSocket did not open in time.')),
      OPEN_TIMEOUT_MS,
    )
    const release = onAbort(signal, () => reject(abortError(signal)))
    const settle = (act: () => void) => () => {
      clearTimeout(timer)
      release()
      act()
    }
    socket.addEventListener('open', settle(resolve), { once: true })
    socket.addEventListener(
      'error',
      settle(() => reject(new Error('The WebSocket could not be opened.'))),
    )
    socket.addEventListener(
      'close',
      settle(() => reject(new Error('The WebSocket was closed.'))),
    )
  })

/** Closes the socket when a ping was not answered before the next. Returns a function that ends the pings. */
function keepAlive(socket: WebSocket, ping: typeof sendPing, close: () => void): () => void {
  let isAnswered = true
  const onPong = (message: unknown): void => {
    if (typeof message === 'object' && message !== null && 'websocket' in message)
      isAnswered ||= message.websocket === socket
  }
  subscribe(PONG, onPong)
  const timer = setInterval(() => {
    if (!isAnswered) {
      close()
      return
    }
    isAnswered = false
    ping(socket)
  }, PING_MS)
  timer.unref()
  return () => {
    clearInterval(timer)
    unsubscribe(PONG, onPong)
  }
}
