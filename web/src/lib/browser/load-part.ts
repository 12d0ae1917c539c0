// Loads code that the page needs late, with more attempts while the connection is away.

import { waitToReconnect } from '../http/reconnect.ts'
import { useOffline } from '../offline/connection.ts'

/** Before each further attempt. */
const PAUSES_MS = [500, 1_500, 4_000, 10_000, 30_000]
/** With a connection, more are of no use: a new build has replaced the file. */
const ATTEMPTS_CONNECTED = 3

/** A part of the page whose code could not be loaded. `cause` is what the last attempt met. */
export class PartNotLoaded extends Error {
  constructor(cause: unknown) {
    super('a part of the page could not be loaded', { cause })
    this.name = 'PartNotLoaded'
  }
}

const isAway = (): boolean => useOffline.getState().isOffline || !navigator.onLine

/** Resolves with what `load` does, perhaps only after some attempts. @throws PartNotLoaded */
export async function loadPart<Part>(
  load: () => Promise<Part>,
  pause: (ms: number) => Promise<void> = waitToReconnect,
): Promise<Part> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await load()
    } catch (error) {
      const ms = PAUSES_MS[attempts - 1]
      if (ms === undefined || (attempts >= ATTEMPTS_CONNECTED && !isAway()))
        throw new PartNotLoaded(error)
      await pause(ms)
    }
  }
}
