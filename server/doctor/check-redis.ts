// Checks that the configured Redis answers.
import { Redis } from 'ioredis'
import { errorText } from '../errors.ts'
import { type Finding, fine } from './finding.ts'

const TIMEOUT_MS = 3_000

/** Returns no findings without `redis_url`: a single process needs no Redis. */
export async function checkRedis(url: string | null): Promise<Finding[]> {
  if (url === null) return []
  const subject = 'Redis'
  const { host } = new URL(url)
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  let fault: unknown
  // Says more than the rejected promise; without a listener, the error would be printed.
  redis.on('error', (error: unknown) => {
    fault = error
  })
  try {
    await redis.connect()
    await redis.ping()
    return [fine('redis_ok', subject, `${host} responds`, { host })]
  } catch (error) {
    const reason = errorText(fault ?? error)
    return [
      {
        state: 'fail',
        code: 'redis_broken',
        params: { host, reason },
        subject,
        detail: `${host} does not respond (${reason})`,
        advice:
          'Start Redis, or correct redis_url. Until then, each instance counts limits alone, and streams of runs on other instances are read from the database.',
      },
    ]
  } finally {
    redis.disconnect()
  }
}
