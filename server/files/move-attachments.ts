// Moves the contents of attachments from an earlier version into files: in the background, one at a time.
import { setTimeout } from 'node:timers/promises'
import type { Database } from '../db/database.ts'
import type { Store } from '../db/store.ts'
import type { FileService } from './files.ts'

/** Milliseconds after each one, so that other writers come first. */
const PAUSE_MS = 20
/** Milliseconds after a failure, such as an unreachable database. */
const RETRY_MS = 60_000

/** Moves attachments of earlier versions out of the database, in the background. */
export interface AttachmentMover {
  /** Moves what is left. Resolves when nothing is left or `stop` was called. Call it again when there may be more. */
  run(): Promise<void>
  stop(): Promise<void>
}

/**
 * An attachment and its file change in one transaction. After a crash in between, the blob is stored again and its row is
 * still missing, so that the next start continues where this one ended.
 */
export function createAttachmentMover({
  store,
  database,
  files,
  log,
}: {
  store: Pick<Store, 'attachments'>
  database: Pick<Database, 'write'>
  files: Pick<FileService, 'prepareInline'>
  log: {
    info(details: object, message: string): void
    warn(details: object, message: string): void
  }
}): AttachmentMover {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  let again = false

  /** @returns false when there was none. */
  async function moveOne(): Promise<boolean> {
    const found = await store.attachments.findInline()
    if (found === undefined) return false
    const { userId, messageId, position, content } = found
    const { row, insert } = await files.prepareInline(userId, content)
    await database.write(async (tx) => {
      await insert(tx)
      // If the message was deleted in the meantime, no message uses the file, and it is garbage-collected.
      await store.attachments.moveToFile(tx, messageId, position, row)
    })
    return true
  }

  async function work(): Promise<void> {
    let moved = 0
    while (!stopping.signal.aborted) {
      try {
        again = false
        while (!stopping.signal.aborted && (await moveOne())) {
          moved += 1
          await pause(PAUSE_MS)
        }
        if (!again) break
      } catch (error) {
        log.warn({ err: error }, 'an attachment could not be moved to a file; retrying')
        await pause(RETRY_MS)
      }
    }
    if (moved > 0) log.info({ attachments: moved }, 'moved attachments to files')
  }

  /** Ends early, without an error, when the work is stopped. */
  const pause = (ms: number): Promise<void> =>
    setTimeout(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)

  return {
    run() {
      again = true
      running ??= work().finally(() => {
        running = undefined
      })
      return running
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}
