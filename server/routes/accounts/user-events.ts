// Streams a user's changes as server-sent events: changes by other tabs and devices, live and since the last event id.

import type { FastifyReply } from 'fastify'
import type { ChangeLog } from '../../changes/change-log.ts'
import type { App } from '../../http/app.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { Services } from '../../services.ts'
import { beginEventStream, keepAlive, STALL_MS } from '../event-stream.ts'

/** Open streams per user. A new stream beyond that closes the oldest, which reconnects when its tab becomes visible. */
const MAX_STREAMS = 50

/** `/api/events`. */
export function registerUserEventRoutes(app: App, { changes }: Pick<Services, 'changes'>): void {
  const open = new Map<UserId, Set<() => void>>()
  app.addHook('preClose', async () => {
    for (const streams of open.values()) for (const end of [...streams]) end()
  })
  app.get(
    '/api/events',
    {
      schema: {
        summary: 'Stream changes to your data, live and since `Last-Event-ID`',
        description:
          'Server-sent events `conversation`, `message`, `run`, `project`, `file` and `settings`, each `{id, change, …}`. With `Last-Event-ID`, the missed changes or `reset` come first, then `ready`; without it, `ready` comes first. The id of `ready` is the one to reconnect with. `reset` means that the missed changes are no longer available: reload everything.',
        tags: ['events'],
        produces: ['text/event-stream'],
      },
    },
    async ({ user, headers }, reply) => {
      const own = open.get(user.id) ?? new Set()
      open.set(user.id, own)
      const [oldest] = own
      if (own.size >= MAX_STREAMS) oldest?.()
      const lastId = headers['last-event-id']
      const end = streamChanges(reply, changes, user.id, {
        lastId: typeof lastId === 'string' ? lastId : null,
        onEnd: () => {
          own.delete(end)
          if (own.size === 0) open.delete(user.id)
        },
      })
      own.add(end)
      return reply
    },
  )
}

/** Returns a function that ends the stream from the server's side. */
function streamChanges(
  reply: FastifyReply,
  changes: ChangeLog,
  userId: UserId,
  { lastId, onEnd }: { lastId: string | null; onEnd: () => void },
): () => void {
  const response = beginEventStream(reply)
  let sentId = lastId ?? changes.lastId()
  let blocked = false
  let ended = false
  let scheduled = false
  let stallTimer: NodeJS.Timeout | undefined

  const write = (text: string): void => {
    if (text === '' || response.write(text)) return
    blocked = true
    stallTimer = setTimeout(() => response.destroy(), STALL_MS)
    stallTimer.unref()
  }
  /**
   * Nothing is buffered here. A slow client receives what it missed from the change log, or `reset` if it missed too much.
   */
  const pump = (): void => {
    scheduled = false
    if (ended || blocked) return
    const missed = changes.since(userId, sentId)
    sentId = changes.lastId()
    write(
      missed === null
        ? frame(sentId, 'reset', {})
        : missed.map(({ id, change: { type, ...data } }) => frame(id, type, data)).join(''),
    )
  }
  const unsubscribe = changes.subscribe(userId, () => {
    if (scheduled) return
    scheduled = true
    queueMicrotask(pump)
  })
  const endHeartbeat = keepAlive((comment) => {
    if (!blocked) write(comment)
  })
  const end = (): void => {
    if (ended) return
    ended = true
    endHeartbeat()
    clearTimeout(stallTimer)
    unsubscribe()
    onEnd()
    response.end()
  }
  response.on('drain', () => {
    blocked = false
    clearTimeout(stallTimer)
    pump()
  })
  response.on('close', end)
  response.on('error', end)
  pump()
  write(frame(sentId, 'ready', {}))
  return end
}

const frame = (id: string, event: string, data: object): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
