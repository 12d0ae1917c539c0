// Removes deleted messages for good once they can no longer be restored.
import type { FastifyBaseLogger } from 'fastify'
import type { Store } from '../db/store.ts'

/** How long deleted messages can be restored. */
const UNDO_MS = 24 * 60 * 60 * 1000
const PURGE_EVERY_MS = 60 * 60 * 1000

/** Purges now and every hour. @returns what ends it. */
export function purgeDeletedMessages({
  messages,
  log,
  now,
}: {
  messages: Store['messages']
  log: FastifyBaseLogger
  now(): Date
}): () => void {
  const purge = (): void => {
    messages
      .purge(new Date(now().getTime() - UNDO_MS))
      .catch((error: unknown) => log.warn({ err: error }, 'deleted messages were not purged'))
  }
  const timer = setInterval(purge, PURGE_EVERY_MS).unref()
  purge()
  return () => clearInterval(timer)
}
