// The Redis of the tests: an available one, and never one with other data under the same keys.
import { Redis } from 'ioredis'

/** `REDIS_URL` selects a different one. */
export const REDIS_URL = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'

async function isAvailable(): Promise<boolean> {
  const client = new Redis(REDIS_URL, {
    lazyConnect: true,
    connectTimeout: 1_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.ping()) === 'PONG'
  } catch {
    return false
  } finally {
    client.disconnect()
  }
}

/** Whether the tests that need Redis can run; says so if not. */
export const hasRedis = await isAvailable()
if (!hasRedis)
  console.warn(`Skipping the tests of several instances: there is no Redis at ${REDIS_URL}.`)

/** Removes what the instances of one store left in Redis. @param store the id that the store has there. */
export async function removeKeysOf(store: string): Promise<void> {
  const client = new Redis(REDIS_URL)
  try {
    for await (const keys of client.scanStream({ match: `nanoclaw:${store}:*`, count: 500 }))
      if (keys.length > 0) await client.del(...keys)
  } finally {
    client.disconnect()
  }
}
