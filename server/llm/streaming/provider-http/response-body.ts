// The body of a provider's response: gathers what arrives, so that it is read in larger pieces.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import { isRecord } from '../../../lib/records.ts'

/** The socket is paused while more than this is unread. */
const MAX_UNREAD_BYTES = 1024 * 1024
const RELEASE_MS = 1000
/** A read resolves early when this much is available. */
const GATHERED_BYTES = 64 * 1024

/** The body of a response, read from the socket. */
export interface ByteSource {
  /**
   * Resolves with everything that arrived since the last call, never empty; null at the end. Rejects if the connection
   * breaks or is aborted. Only one call at a time is allowed.
   * @param gatherMs waits until this much time has passed since the last call resolved, so that tiny pieces are not read
   * one by one. Resolves earlier at the end or with large amounts.
   */
  read(gatherMs?: number): Promise<readonly Buffer[] | null>
  /** Closes the socket at once. The pending and all later reads reject with the reason. */
  abort(reason: Error): void
  /** Stops reading. The connection is reused if the body ends within a second. */
  release(): void
}

/** Both sides of a body: the connection fills it, and the client reads its source. */
export interface Body {
  source: ByteSource
  push(chunk: Buffer): void
  /** Ends the body, with the error if it is incomplete. */
  end(error: Error | null): void
}

/** The dependencies of a body. */
export interface BodyContext {
  controller: Pick<Dispatcher.DispatchController, 'pause' | 'resume' | 'paused' | 'abort'>
  gate: SocketGate
  ticks: SharedTicks
  /**
   * Whether many bodies are being received. Then reads that gather share ticks, and nothing is read from the socket between
   * them.
   */
  isCrowded(): boolean
}

interface WaitingReader {
  resolve(value: readonly Buffer[] | null): void
  reject(error: Error): void
  /** Before this time (`performance.now`), only large amounts resolve the read. */
  notBefore: number
}

/** What has arrived of a body and is not read yet, and who waits for it. */
interface OpenBody extends BodyContext {
  pending: Buffer[]
  pendingBytes: number
  ended: boolean
  released: boolean
  failure: Error | null
  waiting: WaitingReader | null
  lastRead: number
  readonly slot: number
  /** Whether a read has gathered before. Then the answer is long, and its end may be noticed a tick later. */
  hasGathered: boolean
  cancelTick: (() => void) | null
  isSettleScheduled: boolean
}

/** Creates the gathering half of a response. The connection calls `push` and `end`. */
export function createBody(context: BodyContext): Body {
  const body: OpenBody = {
    ...context,
    pending: [],
    pendingBytes: 0,
    ended: false,
    released: false,
    failure: null,
    waiting: null,
    lastRead: Number.NEGATIVE_INFINITY,
    slot: context.ticks.assignSlot(),
    hasGathered: false,
    cancelTick: null,
    isSettleScheduled: false,
  }
  return {
    push(chunk) {
      if (body.released) return
      body.pending.push(chunk)
      body.pendingBytes += chunk.length
      if (body.pendingBytes > MAX_UNREAD_BYTES) body.controller.pause()
      if (body.waiting === null || body.isSettleScheduled) return
      // One socket read carries several chunks. Settling on the first would leave the others to the next read and keep the
      // socket open until then.
      body.isSettleScheduled = true
      queueMicrotask(() => {
        body.isSettleScheduled = false
        settle(body)
      })
    },
    end(error) {
      if (body.ended) return
      body.ended = true
      body.failure = error
      body.gate.open()
      settle(body)
    },
    source: {
      read(gatherMs = 0) {
        return new Promise((resolve, reject) => {
          const isShared = gatherMs > 0 && body.isCrowded()
          const due = body.lastRead + gatherMs
          // A late read must not delay the next one: bodies that were late together would be read together from then on.
          // Timers are not exact: after a tick that came early, the next read must not be due at the same tick again.
          const notBefore = isShared
            ? body.ticks.before(due + TICK_MS / 2, body.slot, gatherMs)
            : due
          body.waiting = { resolve, reject, notBefore }
          settle(body)
          if (isShared && body.hasGathered) restUntil(body, notBefore)
          body.hasGathered ||= gatherMs > 0
        })
      },
      abort(reason) {
        stopGathering(body)
        body.controller.abort(reason)
      },
      release() {
        if (body.ended) return
        body.released = true
        stopGathering(body)
        take(body)
        setTimeout(() => {
          if (!body.ended) body.controller.abort(new Error('released'))
        }, RELEASE_MS).unref()
      },
    },
  }
}

function take(body: OpenBody): readonly Buffer[] {
  const taken = body.pending
  body.pending = []
  body.pendingBytes = 0
  if (body.controller.paused) body.controller.resume()
  return taken
}

function stopGathering(body: OpenBody): void {
  body.cancelTick?.()
  body.cancelTick = null
  body.gate.open()
}

/** Resolves the waiting read at `time`, or with the first bytes after it. */
function gatherUntil(body: OpenBody, time: number): void {
  body.cancelTick ??= body.ticks.at(time, () => {
    stopGathering(body)
    if (body.waiting !== null) body.waiting.notBefore = Number.NEGATIVE_INFINITY
    settle(body)
  })
}

/** Resolves the waiting read if it is due. */
function settle(body: OpenBody): void {
  if (body.waiting === null) return
  if (body.pending.length === 0 && !body.ended) return
  const isEarly = !body.ended && body.pendingBytes < GATHERED_BYTES
  if (isEarly && body.waiting.notBefore > performance.now()) {
    gatherUntil(body, body.waiting.notBefore)
    return
  }
  stopGathering(body)
  const reader = body.waiting
  body.waiting = null
  body.lastRead = performance.now()
  if (body.pending.length > 0) reader.resolve(take(body))
  else if (body.failure === null) reader.resolve(null)
  else reader.reject(body.failure)
}

/** Pauses the socket until the read is due, so that all that arrives meanwhile is one socket read (decision 0018). */
function restUntil(body: OpenBody, time: number): void {
  if (body.ended || body.pending.length > 0 || time <= performance.now()) return
  body.gate.close()
  gatherUntil(body, time)
}

/** Controls whether a socket is read. */
interface SocketGate {
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

/** Milliseconds between two ticks. */
export const TICK_MS = 5
/** How much a tick counts for the lateness of the recent ones. */
const LATENESS_SHARE = 0.1

/** Timers that callers share. */
interface SharedTicks {
  /** Returns the slot of a caller: its place among the ticks of every interval. Consecutive callers get different ones. */
  assignSlot(): number
  /** The last tick of the slot that is not after `time` (`performance.now`). The slot has one tick per interval. */
  before(time: number, slot: number, intervalMs: number): number
  /** Calls `callback` at `time`, together with all others that wait for that time. Returns a function that cancels it. */
  at(time: number, callback: () => void): () => void
  /** By how many milliseconds recent ticks were late: how busy the process is. */
  readonly lateMs: number
}

/** Callers that wait for the same time share a timer; use times of `before` to make them the same. */
export function createSharedTicks(): SharedTicks {
  const callbacksByTime = new Map<number, Set<() => void>>()
  let slots = 0
  let lateMs = 0

  function begin(time: number): Set<() => void> {
    const callbacks = new Set<() => void>()
    callbacksByTime.set(time, callbacks)
    setTimeout(
      () => {
        callbacksByTime.delete(time)
        lateMs += (Math.max(0, performance.now() - time) - lateMs) * LATENESS_SHARE
        for (const callback of callbacks) callback()
      },
      Math.max(0, time - performance.now()),
    )
    return callbacks
  }

  return {
    get lateMs() {
      return lateMs
    },
    assignSlot() {
      slots += 1
      return slots
    },
    before(time, slot, intervalMs) {
      const offset = (slot * TICK_MS) % intervalMs
      return Math.floor((time - offset) / intervalMs) * intervalMs + offset
    },
    at(time, callback) {
      const callbacks = callbacksByTime.get(time) ?? begin(time)
      callbacks.add(callback)
      return () => void callbacks.delete(callback)
    },
  }
}
