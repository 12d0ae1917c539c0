// Streams a run to a client as server-sent events: from memory while it is active, from the store once it has ended.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply } from 'fastify'
import type { ChatService } from '../../chat/chat-service.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import { jsonPieces, longJsonPieces, shortJson } from '../../lib/json-pieces.ts'
import type { RunLog } from '../../runs/log/log.ts'
import { replayRun } from '../../runs/log/stored-replay.ts'
import { createRunView, type OutgoingEvent, type StreamMode } from '../../runs/log/view.ts'
import { beginEventStream, keepAlive, STALL_MS } from '../event-stream.ts'

/** Frames are joined up to about this length before they are written. */
const WRITE_CHARACTERS = 32_000

/** The frame format: https://html.spec.whatwg.org/multipage/server-sent-events.html. */
const frameHead = ({ id, event }: OutgoingEvent): string => `id: ${id}\nevent: ${event}\ndata: `
const FRAME_END = '\n\n'

/** The frame of an event; undefined if it should be sent in pieces. */
function shortFrame(event: OutgoingEvent): string | undefined {
  const json = shortJson(event.data)
  return json === undefined ? undefined : frameHead(event) + json + FRAME_END
}

function* framePieces(events: readonly OutgoingEvent[]): Generator<string> {
  for (const event of events) {
    const short = shortFrame(event)
    if (short === undefined) {
      yield frameHead(event)
      yield* jsonPieces(event.data)
      yield FRAME_END
    } else yield short
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
  const stream: LiveStream = {
    response,
    runLog,
    view: createRunView(runLog, options.mode, options.afterId),
    stallMs: options.stallMs ?? STALL_MS,
    pieces: null,
    isBegun: false,
    isBlocked: false,
    isBehind: false,
    isScheduled: false,
    hasEnded: false,
    heldTimer: undefined,
    stallTimer: undefined,
    leave: () => {},
  }
  const unsubscribe = runLog.subscribe({
    // An API key belongs to a program.
    isPage: reply.request.apiKey === null,
    onEntries: () => schedule(stream),
    // Progress is not buffered: a client that cannot keep up misses it.
    onProgress: (notice) => writeUnlessBlocked(stream, noticeFrame('tool_progress', notice)),
    onRetry: (notice) => writeUnlessBlocked(stream, noticeFrame('retry', notice)),
    onClose() {
      end(stream)
      // No field can be sent in the middle of a frame.
      if (stream.pieces === null) response.end('retry: 1000\n\n')
      else response.destroy()
    },
  })
  const endHeartbeat = keepAlive((comment) => writeUnlessBlocked(stream, comment))
  stream.leave = () => {
    endHeartbeat()
    unsubscribe()
  }

  response.on('drain', () => {
    stream.isBlocked = false
    stream.isBehind = true
    clearTimeout(stream.stallTimer)
    pump(stream)
  })
  response.on('close', () => end(stream))
  response.on('error', () => end(stream))
  // The client may have disconnected before the listeners were attached.
  if (response.destroyed) {
    end(stream)
    return
  }
  pump(stream)
  const retry = runLog.retry()
  if (retry !== null && !stream.hasEnded) writeUnlessBlocked(stream, noticeFrame('retry', retry))
  // If nothing was written yet, send at least the headers.
  if (!stream.isBegun && !stream.hasEnded) response.flushHeaders()
}

/** A run that is being sent to a client. */
interface LiveStream {
  readonly response: FastifyReply['raw']
  readonly runLog: RunLog
  readonly view: ReturnType<typeof createRunView>
  readonly stallMs: number
  /** The rest of a frame that is partially written. */
  pieces: Iterator<string> | null
  isBegun: boolean
  /** The client has yet to read what was written. */
  isBlocked: boolean
  /** The client was blocked since the last events were written. */
  isBehind: boolean
  isScheduled: boolean
  hasEnded: boolean
  heldTimer: NodeJS.Timeout | undefined
  stallTimer: NodeJS.Timeout | undefined
  /** Ends the subscription and the heartbeat. */
  leave(): void
}

const noticeFrame = (event: string, notice: object): string =>
  `event: ${event}\ndata: ${JSON.stringify(notice)}\n\n`

function end(stream: LiveStream): void {
  if (stream.hasEnded) return
  stream.hasEnded = true
  clearTimeout(stream.heldTimer)
  clearTimeout(stream.stallTimer)
  stream.leave()
}

function write(stream: LiveStream, text: string): void {
  stream.isBegun = true
  if (stream.response.write(text) || stream.isBlocked) return
  stream.isBlocked = true
  stream.stallTimer = setTimeout(() => stream.response.destroy(), stream.stallMs).unref()
}

function writeUnlessBlocked(stream: LiveStream, text: string): void {
  if (!stream.isBlocked) write(stream, text)
}

/** Streams that have new events. */
let scheduled: LiveStream[] = []

/** Events of one turn of the event loop are sent in one write. */
function schedule(stream: LiveStream): void {
  if (stream.isScheduled || stream.isBlocked) return
  stream.isScheduled = true
  // After the sockets that are ready have been read: a write wakes the process at the other end. One turn for all streams,
  // because Node looks after each for what is to be done next.
  if (scheduled.push(stream) === 1) setImmediate(pumpScheduled)
}

function pumpScheduled(): void {
  const streams = scheduled
  scheduled = []
  for (const stream of streams) pump(stream)
}

/** Writes what has come, until the client is blocked or there is no more. */
function pump(stream: LiveStream): void {
  const { view, runLog, response } = stream
  stream.isScheduled = false
  if (stream.hasEnded || stream.isBlocked) return
  let text = ''
  while (!stream.isBlocked) {
    if (stream.pieces === null) {
      const events = view.take(performance.now(), stream.isBehind)
      const [first] = events
      if (first === undefined) break
      // Nearly always it is one short event.
      const frame = events.length === 1 ? shortFrame(first) : undefined
      if (frame === undefined) stream.pieces = framePieces(events)
      else text += frame
    }
    const piece = stream.pieces?.next()
    if (piece?.done === true) stream.pieces = null
    else if (piece !== undefined) text += piece.value
    if (text.length < WRITE_CHARACTERS) continue
    write(stream, text)
    text = ''
  }
  if (stream.isBlocked) return
  const due = view.dueIn(performance.now())
  // The last events are sent together with the end of the response.
  if (runLog.terminal !== null && due === null) {
    end(stream)
    response.end(text)
    return
  }
  if (text !== '') write(stream, text)
  if (stream.isBlocked) return
  stream.isBehind = false
  if (due !== null && stream.heldTimer === undefined)
    stream.heldTimer = setTimeout(() => {
      stream.heldTimer = undefined
      pump(stream)
    }, due)
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

/** Returns a function that streams the events of a run after `afterId`; null starts with a snapshot. */
export function createRunStreamer({ chat, store }: { chat: ChatService; store: Store }) {
  return async (
    reply: FastifyReply,
    run: RunRow,
    options: { mode: StreamMode; afterId: number | null },
  ): Promise<void> => {
    const runLog = await chat.runs.runLog(run)
    if (runLog !== null) {
      streamRun(reply, runLog, options)
      return
    }
    // The run may have ended between the two lookups.
    const ended = (await store.runs.find(run.id)) ?? run
    const plan = await store.plans.read(ended.messageId)
    await streamStoredRun(reply, replayRun(ended, store.steps, { ...options, plan }))
  }
}
