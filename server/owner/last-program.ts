// Which version of the program last used a database: what an upgrade can go back to.
import { z } from 'zod'
import type { StoreLog } from '../db/database.ts'
import type { Store } from '../db/store.ts'

/** The key among the server's settings. */
export const LAST_PROGRAM = 'last_program'
export const LastProgram = z.object({ version: z.string() })

/** Remembers that this version of the program uses the database. */
export async function rememberProgram(
  version: string,
  settings: Pick<Store['settings'], 'get' | 'store'>,
  log: Pick<StoreLog, 'warn'>,
): Promise<void> {
  try {
    const last = await settings.get(LAST_PROGRAM, LastProgram)
    if (last?.version !== version) await settings.store(LAST_PROGRAM, { version })
  } catch (error) {
    // On a full disk, the server starts for deletions.
    log.warn({ err: error }, 'the version of the program could not be stored')
  }
}
