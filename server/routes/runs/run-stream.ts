// Sends a run's events as server-sent events.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply } from 'fastify'
import { jsonPieces, longJsonPieces } from '../../lib/json-pieces.ts'
import type { RunLog } from '../../runs/log/log.ts'
import { createRunView, type OutgoingEvent, type StreamMode } from '../../runs/log/view.ts'
import { beginEventStream, keepAlive, STALL_MS } from '../event-stream.ts'
import { createWriteBatch } from './write-batch.ts'

/** Frames are joined up to about this length before they are written. */
const WRITE_CHARACTERS = 32_000

const afterReads = createWriteBatch()

/** The frame format: https://html.spec.whatwg.org/multipage/server-sent-events.html. */
const frameHead = ({ id, event }: OutgoingEvent): string => `id: ${id}\nevent: ${event}\ndata: `
const FRAME_END = '\n\n'

function* framePieces(events: readonly OutgoingEvent[]): Generator<string> {
  for (const event of events) {
    yield frameHead(event)
    yield* jsonPieces(event.data)
    yield FRAME_END
  }
}

async function* longFramePieces(events: AsyncIterable<OutgoingEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    yield frameHead(event)
    yield* longJsonPieces(event.data)
    yield FRAME_END
  }
}

/**
 * Sends the run's events until the run ends or the client disconnects. Returns at once. A disconnect only ends the
 * subscription; whether it also stops the run depends on the run's limits. Unread events stay in the log and are not
 * buffered for the connection, except for a few pieces.
 */
export function streamRun(
  reply: FastifyReply,
  runLog: RunLog,
  options: {
    mode: StreamMode
    afterId: number | null
    /** Milliseconds after which a client that reads nothing is disconnected; it can reconnect with its last event id. */
    stallMs?: number
  },
): void {
  const response = beginEventStream(reply)
  const view = createRunView(runLog, options.mode, options.afterId)
  /** The rest of a frame that is partially written. */
  let pieces: Iterator<string> | null = null
  let blocked = false
  let behind = false
  let ended = false
  let scheduled = false
  let heldTimer: NodeJS.Timeout | undefined
  let stallTimer: NodeJS.Timeout | undefined

  const end = (): void => {
    if (ended) return
    ended = true
    clearTimeout(heldTimer)
    clearTimeout(stallTimer)
    endHeartbeat()
    unsubscribe()
  }

  let isBegun = false
  const write = (text: string): void => {
    isBegun = true
    if (response.write(text) || blocked) return
    blocked = true
    stallTimer = setTimeout(() => response.destroy(), options.stallMs ?? STALL_MS)
    stallTimer.unref()
  }

  const pump = (): void => {
    scheduled = false
    if (ended || blocked) return
    let text = ''
    while (!blocked) {
      if (pieces === null) {
        const events = view.take(performance.now(), behind)
        if (events.length === 0) break
        pieces = framePieces(events)
      }
      const piece = pieces.next()
      if (piece.done === true) pieces = null
      else text += piece.value
      if (text.length < WRITE_CHARACTERS) continue
      write(text)
      text = ''
    }
    if (blocked) return
    const due = view.dueIn(performance.now())
    // The last events are sent together with the end of the response.
    if (runLog.terminal !== null && due === null) {
      end()
      response.end(text)
      return
    }
    if (text !== '') write(text)
    if (blocked) return
    behind = false
    if (due !== null && heldTimer === undefined)
      heldTimer = setTimeout(() => {
        heldTimer = undefined
        pump()
      }, due)
  }

  /** Events of one turn of the event loop are sent in one write. */
  const schedule = (): void => {
    if (scheduled || blocked) return
    scheduled = true
    afterReads(pump)
  }

  const unsubscribe = runLog.subscribe({
    onEntries: schedule,
    onProgress(notice) {
      // Progress is not buffered: a client that cannot keep up misses it.
      if (!blocked) write(`event: tool_progress\ndata: ${JSON.stringify(notice)}\n\n`)
    },
    onRetry(notice) {
      if (!blocked) write(`event: retry\ndata: ${JSON.stringify(notice)}\n\n`)
    },
    onClose() {
      end()
      // No field can be sent in the middle of a frame.
      if (pieces === null) response.end('retry: 1000\n\n')
      else response.destroy()
    },
  })
  const endHeartbeat = keepAlive((comment) => {
    if (!blocked) write(comment)
  })

  response.on('drain', () => {
    blocked = false
    behind = true
    clearTimeout(stallTimer)
    pump()
  })
  response.on('close', end)
  response.on('error', end)
  // The client may have disconnected before the listeners were attached.
  if (response.destroyed) {
    end()
    return
  }
  pump()
  const retry = runLog.retry()
  if (retry !== null && !blocked && !ended)
    write(`event: retry\ndata: ${JSON.stringify(retry)}\n\n`)
  // If nothing was written yet, send at least the headers.
  if (!isBegun && !ended) response.flushHeaders()
}

/**
 * Sends stored events as fast as the client reads them. Resolves when the last one is written or the client has
 * disconnected. Stalled clients are disconnected by the guard for all responses.
 */
export async function streamStoredRun(
  reply: FastifyReply,
  events: AsyncIterable<OutgoingEvent>,
): Promise<void> {
  const { log } = reply.request
  const response = beginEventStream(reply)
  if (response.writableEnded) return
  try {
    await pipeline(Readable.from(longFramePieces(events), { highWaterMark: 2 }), response)
  } catch (error) {
    // The client disconnected or the store failed; the client can reconnect with its last event id.
    log.info({ err: error }, 'the replay of a run was interrupted')
    response.destroy()
  }
}
