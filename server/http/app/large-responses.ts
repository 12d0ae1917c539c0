// Bounds the memory of responses of several megabytes: few are prepared at a time, and they are sent from disk.
import { randomUUID } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { errorText } from '../../errors.ts'
import { createFairQueue } from '../../lib/fair-queue.ts'

/** Larger responses are written to disk before they are sent, so that a slow client costs no memory. */
const LARGE_CHARACTERS = 512 * 1024
/** Responses of `config.large` routes that are in memory at the same time, for all users and for one. */
const MAX_PREPARED = 2
const MAX_OF_ONE_USER = 1

/**
 * A route marked `config.large` waits for a slot before its handler runs, and releases it when its response has left
 * memory, however slowly the client reads. Users take turns.
 * @param folder where responses are spooled; without it, as in tests of single routes, they are sent from memory.
 */
export function boundLargeResponses(
  app: Pick<FastifyInstance, 'addHook'>,
  folder: string | undefined,
): void {
  const slots = createFairQueue({ size: MAX_PREPARED, perOwner: MAX_OF_ONE_USER })
  const releases = new WeakMap<FastifyReply, () => void>()

  app.addHook('preHandler', (request, reply, next) => {
    if (request.routeOptions.config.large !== true) return next()
    void slots.run(
      request.user.id,
      () =>
        new Promise<void>((release) => {
          // If the client disconnected while waiting, no further `close` is emitted.
          if (reply.raw.destroyed) return release()
          releases.set(reply, release)
          reply.raw.once('close', release)
          next()
        }),
    )
  })

  app.addHook('onSend', async (request, reply, payload) => {
    try {
      if (folder === undefined || typeof payload !== 'string') return payload
      if (payload.length < LARGE_CHARACTERS) return payload
      const { size, stream } = await spool(folder, payload)
      void reply.header('content-length', size)
      return stream
    } catch (error) {
      // For example, if the disk is full.
      request.log.warn({ cause: errorText(error) }, 'a large response is sent from memory')
      return payload
    } finally {
      releases.get(reply)?.()
    }
  })
}

/** Writes the text to a file that is removed when the stream closes or the process ends. */
async function spool(folder: string, text: string): Promise<{ size: number; stream: Readable }> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `response-${randomUUID()}`)
  const handle = await open(path, 'wx+', 0o600)
  try {
    await rm(path)
    await handle.writeFile(text)
    const { size } = await handle.stat()
    return { size, stream: handle.createReadStream({ start: 0 }) }
  } catch (error) {
    await handle.close()
    throw error
  }
}
