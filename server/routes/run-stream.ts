// A run's log as server-sent events: the one place that writes frames.
import type { FastifyReply } from 'fastify'
import type { RunChannel } from '../runs/run-channel.ts'
import { createRunView, type OutgoingEvent, type StreamMode } from '../runs/run-view.ts'

const HEARTBEAT_MS = 10_000
const STALL_MS = 30_000

/** Server-sent events as https://html.spec.whatwg.org/multipage/server-sent-events.html frames them. */
const frame = ({ id, event, data }: OutgoingEvent): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/**
 * Answers the request with the run's events until the run ends or the client leaves. Returns at once.
 * Leaving only ends the subscription: what that means for the run is decided by whoever watches the channel.
 */
export function streamRun(
  reply: FastifyReply,
  channel: RunChannel,
  options: {
    mode: StreamMode
    afterId: number | null
    /** Milliseconds. A reader that takes nothing for this long is dropped; it can come back with the last id it has. */
    stallMs?: number
  },
): void {
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

  const view = createRunView(channel, options.mode, options.afterId)
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
    for (;;) {
      const events = view.take(performance.now(), behind)
      if (events.length === 0) break
      if (text !== '') write(text)
      text = events.map(frame).join('')
      if (blocked) break
    }
    const due = view.dueIn(performance.now())
    // The last events go out together with the end of the answer.
    if (channel.terminal !== null && due === null && !blocked) {
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

  const unsubscribe = channel.subscribe({
    onEntries: schedule,
    onProgress(progress) {
      // For show only: a reader that can't follow misses it rather than have it wait in memory.
      if (!blocked) write(`event: tool_progress\ndata: ${JSON.stringify(progress)}\n\n`)
    },
    onClose() {
      end()
      response.end('retry: 1000\n\n')
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
  pump()
  // Otherwise the head goes out with the first events.
  if (!isBegun && !ended) response.flushHeaders()
}
