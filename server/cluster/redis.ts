// The connections to Redis. Nothing waits for Redis longer than two seconds, and lost connections are restored.
import { Redis } from 'ioredis'
import { errorText } from '../errors.ts'

/** Every command either succeeds or fails within this time: a request may wait for a limit as well, two seconds in all. */
export const COMMAND_MS = 1_200
/** An unresponsive connection is replaced; the system would notice a cut only after minutes. */
const PING_EVERY_MS = 2_000
/** A start that has not reached Redis by then says so. */
const FIRST_CONTACT_MS = 2_000
const RECONNECT_MS = { first: 50, longest: 1_000 }

/** The methods of the server's log that this file uses. */
export interface RedisLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
}

/** The connections of this instance to Redis. */
export interface RedisConnections {
  /** For commands that respond at once. */
  readonly commands: Redis
  /** For subscriptions only. */
  readonly subscriber: Redis
  /** Whether commands and subscriptions work at the moment. */
  readonly isReady: boolean
  /** Called whenever `isReady` changes. */
  onChange(listener: (isReady: boolean) => void): void
  /** Opens another connection. `waits`: its commands wait as long as necessary, even for the server. */
  connect(options?: { waits: boolean }): Redis
  close(): Promise<void>
}

/** Resolves like `work`, or rejects after `ms`. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('Redis does not answer.')), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Connects in the background, so that an unreachable server does not delay the start. */
export function connectRedis(url: string, log: RedisLog): RedisConnections {
  const connect = ({ waits } = { waits: false }): Redis =>
    new Redis(url, {
      connectTimeout: COMMAND_MS,
      enableOfflineQueue: false,
      maxRetriesPerRequest: waits ? null : 0,
      ...(waits ? {} : { commandTimeout: COMMAND_MS }),
      keepAlive: 5_000,
      retryStrategy: (times) =>
        Math.min(RECONNECT_MS.first * 2 ** Math.min(times, 10), RECONNECT_MS.longest),
    })
  const commands = connect()
  const subscriber = connect()
  const listeners: ((isReady: boolean) => void)[] = []
  let isReady = false
  /** Why the last attempt failed. */
  let lastFault = 'no response'
  const firstContact = setTimeout(() => {
    if (isReady) return
    log.warn(
      { reason: lastFault },
      'Redis is not reachable since the start: check redis_url. This instance works without it, but does not share limits and streams, and keeps trying.',
    )
  }, FIRST_CONTACT_MS).unref()

  const update = (): void => {
    const now = commands.status === 'ready' && subscriber.status === 'ready'
    if (now === isReady) return
    isReady = now
    if (now) log.info({}, 'Redis is available.')
    else
      log.warn({}, 'Redis is unavailable: runs continue, and streams are read from the database.')
    for (const listener of listeners) listener(now)
  }
  for (const connection of [commands, subscriber]) {
    // Lost connections are reported by `update`; without a listener, the error would end the process.
    connection.on('error', (error: unknown) => {
      lastFault = errorText(error)
      if (isReady) log.warn({ reason: errorText(error) }, 'a connection to Redis failed')
    })
    for (const event of ['ready', 'close', 'end']) connection.on(event, update)
  }
  const pings = setInterval(() => {
    for (const connection of [commands, subscriber])
      if (connection.status === 'ready')
        within(COMMAND_MS, connection.ping()).catch(() => connection.disconnect(true))
  }, PING_EVERY_MS)
  pings.unref()

  return {
    commands,
    subscriber,
    get isReady() {
      return isReady
    },
    onChange(listener) {
      listeners.push(listener)
    },
    connect,
    async close() {
      clearInterval(pings)
      clearTimeout(firstContact)
      commands.disconnect()
      subscriber.disconnect()
    },
  }
}
