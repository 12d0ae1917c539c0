// A run's log as server-sent events: the one place that writes frames.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply } from 'fastify'
import { jsonPieces, longJsonPieces } from '../lib/json-pieces.ts'
import type { RunLog } from '../runs/log.ts'
import { createRunView, type OutgoingEvent, type StreamMode } from '../runs/log-view.ts'

const HEARTBEAT_MS = 10_000
const STALL_MS = 30_000
/** Pieces of frames are gathered up to about this length before they are written. */
const WRITE_CHARACTERS = 32_000

/** Server-sent events as https://html.spec.whatwg.org/multipage/server-sent-events.html frames them. */
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

/** Takes the response out of Fastify's hands, with the headers that were set so far. */
function beginStream(reply: FastifyReply): FastifyReply['raw'] {
  const response = reply.raw
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) response.setHeader(name, value)
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-cache, no-store, must-revalidate',
    'X-Accel-Buffering': 'no',
    Connection: 'keep-alive',
  })
  return response
}

/**
 * Answers the request with the run's events until the run ends or the client leaves. Returns at once.
 * Leaving only ends the subscription: what that means for the run is decided by whoever watches the run log.
 * What a reader has not taken waits in the log, not in its connection: a few pieces at most are written ahead.
 */
export function streamRun(
  reply: FastifyReply,
  runLog: RunLog,
  options: {
    mode: StreamMode
    afterId: number | null
    /** Milliseconds. A reader that takes nothing for this long is dropped; it can come back with the last id it has. */
    stallMs?: number
  },
): void {
  const response = beginStream(reply)
  const view = createRunView(runLog, options.mode, options.afterId)
  /** What is left of the frames that were begun. */
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
    clearInterval(heartbeat)
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
    // The last events go out together with the end of the response.
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

  /** Entries appended in one turn of the event loop go out in one write. */
  const schedule = (): void => {
    if (scheduled || blocked) return
    scheduled = true
    queueMicrotask(pump)
  }

  const unsubscribe = runLog.subscribe({
    onEntries: schedule,
    onProgress(notice) {
      // For show only: a reader that can't follow misses it rather than have it wait in memory.
      if (!blocked) write(`event: tool_progress\ndata: ${JSON.stringify(notice)}\n\n`)
    },
    onRetry(notice) {
      if (!blocked) write(`event: retry\ndata: ${JSON.stringify(notice)}\n\n`)
    },
    onClose() {
      end()
      // In the middle of a frame nothing can be said any more.
      if (pieces === null) response.end('retry: 1000\n\n')
      else response.destroy()
    },
  })
  const heartbeat = setInterval(() => {
    if (!blocked) write(': ping\n\n')
  }, HEARTBEAT_MS)
  heartbeat.unref()

  response.on('drain', () => {
    blocked = false
    behind = true
    clearTimeout(stallTimer)
    pump()
  })
  response.on('close', end)
  response.on('error', end)
  // The client may have left before anybody listened for that.
  if (response.destroyed) {
    end()
    return
  }
  pump()
  const retry = runLog.retry()
  if (retry !== null && !blocked && !ended)
    write(`event: retry\ndata: ${JSON.stringify(retry)}\n\n`)
  // Otherwise the head goes out with the first events.
  if (!isBegun && !ended) response.flushHeaders()
}

/**
 * Answers the request with events that are all there already, read as fast as the client takes them. Fulfils when the
 * last one is written or the client has gone. A client that takes nothing is dropped by the guard of all responses.
 */
export async function streamStoredRun(
  reply: FastifyReply,
  events: AsyncIterable<OutgoingEvent>,
): Promise<void> {
  const { log } = reply.request
  const response = beginStream(reply)
  try {
    await pipeline(Readable.from(longFramePieces(events), { highWaterMark: 2 }), response)
  } catch (error) {
    // The client went away, or the store did: the client comes back with the last id it has.
    log.info({ err: error }, 'the replay of a run was broken off')
    response.destroy()
  }
}
