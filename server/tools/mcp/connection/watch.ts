// Watches an open MCP connection: whether the server is alive, and whether its lists have changed.
import { onAbort } from '../../../lib/abort.ts'
import type { RemoteClient } from '../sdk.ts'
import { LASTING_MS, PING_EVERY_MS, PING_TIMEOUT_MS, pauseAfter } from '../timing.ts'

interface Watched {
  client: RemoteClient
  /** Aborted when the connection is given up. */
  signal: AbortSignal
  firstPauseMs: number
  /** Called when the list of tools may have changed. Resolves when it was read again; not called in the meantime. */
  onListChange(): Promise<void>
  onLost(cause: unknown): void
}

/** Servers of earlier revisions are pinged and send notifications; later ones are asked for a stream of changes. */
export function watchConnection(watched: Watched): void {
  const { client, signal } = watched
  const onListChange = oneAtATime(watched.onListChange, signal)
  client.setNotificationHandler('notifications/tools/list_changed', onListChange)
  if (client.getProtocolEra() !== 'modern') keepPinging(watched)
  else if (Object.keys(watchedLists(client)).length > 0)
    void keepListening({ ...watched, onListChange })
}

/** However often a server reports a changed list, the list is read at most once per second. */
const READ_AGAIN_MS = 1_000

/** Returns a function that performs the work. Calls during the work, or shortly after it, are merged into one. */
function oneAtATime(work: () => Promise<void>, signal: AbortSignal): () => void {
  let isWanted = false
  let isBusy = false
  const run = async (): Promise<void> => {
    isWanted = true
    if (isBusy) return
    isBusy = true
    while (isWanted && !signal.aborted) {
      isWanted = false
      await work()
      await pause(READ_AGAIN_MS, signal)
    }
    isBusy = false
  }
  return () => void run()
}

/** The lists whose changes the server reports. On a change, the SDK drops its copies of prompts and resources. */
function watchedLists(client: RemoteClient) {
  const { tools, prompts, resources } = client.getServerCapabilities() ?? {}
  return {
    ...(tools?.listChanged === true ? { toolsListChanged: true } : {}),
    ...(prompts?.listChanged === true ? { promptsListChanged: true } : {}),
    ...(resources?.listChanged === true ? { resourcesListChanged: true } : {}),
  }
}

function keepPinging({ client, signal, onLost }: Watched): void {
  const timer = setInterval(() => {
    client.ping({ timeout: PING_TIMEOUT_MS, signal }).catch((fault: unknown) => {
      if (!signal.aborted) onLost(fault)
    })
  }, PING_EVERY_MS).unref()
  onAbort(signal, () => clearInterval(timer))
}

/** Reopens the stream when it breaks, with growing pauses. Changes may have been missed, so the list is read again. */
async function keepListening({
  client,
  signal,
  firstPauseMs,
  onListChange,
}: Omit<Watched, 'onListChange'> & { onListChange(): void }): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    try {
      if (failures > 0) onListChange()
      const subscription = await client.listen(watchedLists(client), { signal })
      const beganAt = performance.now()
      const reason = await subscription.closed
      if (reason !== 'remote') return
      // A stream that lasted did not cause its own end.
      failures = performance.now() - beganAt > LASTING_MS ? 1 : failures + 1
    } catch {
      // The next call shows whether the server is alive. Without the stream, changes are noticed later.
      failures += 1
    }
    await pause(pauseAfter(failures, firstPauseMs), signal)
  }
}

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds).unref()
    onAbort(signal, () => {
      clearTimeout(timer)
      resolve()
    })
  })
