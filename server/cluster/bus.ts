// Messages between instances over Redis. They are hints that may get lost; anything that must not get lost is stored first.
import { z } from 'zod'
import type { RedisConnections } from './redis.ts'

/** Maximum characters of one message; longer ones are not sent. */
const MAX_MESSAGE_CHARACTERS = 64_000
/** How often messages may have been lost: while Redis is away, and otherwise, when only the sender may be cut off from it. */
const DOUBT_MS = { away: 5_000, otherwise: 60_000 }

const Envelope = z.object({ from: z.string(), topic: z.string(), data: z.unknown() })

/** Sends messages between instances. Delivery is not guaranteed, so receivers also read the store. */
export interface Bus {
  /** Sends to every other instance. Never waits and never fails. */
  send(topic: string, data: unknown): void
  /** Sends to one instance. */
  sendTo(instance: string, topic: string, data: unknown): void
  /** Receives what other instances send. */
  on(topic: string, receive: (data: unknown, from: string) => void): void
  /** Calls `listener` at every message of a channel, until the returned function is called. */
  watch(channel: string, listener: () => void): () => void
  /**
   * Calls `look` whenever messages may have been lost: every 5 s while Redis is away, as soon as it is back, and every
   * minute. For work that must not depend on the arrival of a message.
   */
  onDoubt(look: () => void): void
  close(): void
}

/** Create one per instance. Receivers get what other instances sent, never its own messages. */
export function createBus({
  redis,
  namespace,
  instance,
  log,
}: {
  redis: Pick<RedisConnections, 'commands' | 'subscriber' | 'isReady' | 'onChange'>
  namespace: string
  instance: string
  log: { warn(details: object, message: string): void }
}): Bus {
  const all = `${namespace}:all`
  const own = `${namespace}:instance:${instance}`
  const receivers = new Map<string, (data: unknown, from: string) => void>()
  const watchers = new Map<string, Set<() => void>>()

  const looks: (() => void)[] = []
  let lookedAt = performance.now()
  const lookAll = (): void => {
    lookedAt = performance.now()
    for (const look of looks) look()
  }
  const doubts = setInterval(() => {
    if (!redis.isReady || performance.now() - lookedAt >= DOUBT_MS.otherwise) lookAll()
  }, DOUBT_MS.away)
  doubts.unref()

  // A command fails only with its connection, whose loss `redis` reports; subscriptions are repeated when it is back.
  const subscribe = (channel: string): void => {
    if (redis.subscriber.status === 'ready')
      redis.subscriber.subscribe(channel).catch(() => undefined)
  }
  // ioredis repeats subscriptions that succeeded; those that were asked for while Redis was away are made up for here.
  redis.onChange((isReady) => {
    if (!isReady) return
    for (const channel of [all, own, ...watchers.keys()]) subscribe(channel)
    lookAll()
  })
  redis.subscriber.on('message', (channel: string, text: string) => {
    for (const listener of watchers.get(channel) ?? []) listener()
    if (channel !== all && channel !== own) return
    try {
      const { from, topic, data } = Envelope.parse(JSON.parse(text))
      if (from !== instance) receivers.get(topic)?.(data, from)
    } catch (error) {
      log.warn({ err: error }, 'a message from another instance could not be parsed')
    }
  })
  const publish = (channel: string, topic: string, data: unknown): void => {
    if (redis.commands.status !== 'ready') return
    const text = JSON.stringify({ from: instance, topic, data })
    if (text.length > MAX_MESSAGE_CHARACTERS) {
      log.warn({ topic, characters: text.length }, 'a message to other instances is too long')
      return
    }
    // A lost message is made up for by reading the database: when Redis is back, or at the next check.
    redis.commands.publish(channel, text).catch(() => undefined)
  }

  return {
    send: (topic, data) => publish(all, topic, data),
    sendTo: (to, topic, data) => publish(`${namespace}:instance:${to}`, topic, data),
    on(topic, receive) {
      receivers.set(topic, receive)
    },
    watch(channel, listener) {
      const listeners = watchers.get(channel) ?? new Set()
      watchers.set(channel, listeners.add(listener))
      if (listeners.size === 1) subscribe(channel)
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        watchers.delete(channel)
        if (redis.subscriber.status === 'ready')
          redis.subscriber.unsubscribe(channel).catch(() => undefined)
      }
    },
    onDoubt(look) {
      looks.push(look)
    },
    close: () => clearInterval(doubts),
  }
}
