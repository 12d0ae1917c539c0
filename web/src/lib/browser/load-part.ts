// Loads lazy code, with more retries while the connection is down.

import { waitToReconnect } from '../http/reconnect.ts'
import { useOffline } from '../offline/connection.ts'

/** The pause before each retry. */
const PAUSES_MS = [500, 1_500, 4_000, 10_000, 30_000]
/** With a connection, more attempts do not help: a new build has replaced the file. */
const ATTEMPTS_CONNECTED = 3

/** Thrown when the code of a part of the page cannot be loaded. `cause` is the error of the last attempt. */
export class PartNotLoaded extends Error {
  constructor(cause: unknown) {
    super('a part of the page could not be loaded', { cause })
    this.name = 'PartNotLoaded'
  }
}

const isDisconnected = (): boolean => useOffline.getState().isOffline || !navigator.onLine

/** Calls `load`, an `import()`, until it succeeds or the attempts run out. @throws PartNotLoaded */
export async function loadPart<Part>(
  load: () => Promise<Part>,
  pause: (ms: number) => Promise<void> = waitToReconnect,
): Promise<Part> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await load()
    } catch (error) {
      const ms = PAUSES_MS[attempts - 1]
      if (ms === undefined || (attempts >= ATTEMPTS_CONNECTED && !isDisconnected()))
        throw new PartNotLoaded(error)
      await pause(ms)
    }
  }
}
