// Follows a run to its end: reads its events, applies them in batches, and reconnects after a lost connection.
import type { QueryClient } from '@tanstack/react-query'
import type { RunEvent } from '../../../../../server/protocol/runs/run-event.ts'
import { refreshConversations, updateCached } from '../../../lib/api/conversations.ts'
import { messageKeys } from '../../../lib/api/messages.ts'
import { followRun } from '../../../lib/api/runs.ts'
import { ApiError } from '../../../lib/http/api-client.ts'
import { type EventStream, type NumberedEvent, readEvents } from '../../../lib/http/event-stream.ts'
import { waitToReconnect } from '../../../lib/http/reconnect.ts'
import { errorText } from '../../../ui/states/error-text.ts'
import { createBatcher } from './event-batches.ts'
import { foldEvent, newLiveRun } from './fold-event.ts'
import { useLiveRuns } from './live-runs.ts'

/** Ids of the runs that this page is following. */
const attached = new Set<string>()

const FIRST_WAIT_MS = 400
const MAX_WAIT_MS = 10_000

type Following = { conversationId: string; runId: string; client: QueryClient }

const deliverTo =
  ({ conversationId, runId, client }: Following) =>
  (events: readonly RunEvent[]): void => {
    const now = Date.now()
    useLiveRuns
      .getState()
      .change(runId, (run) => events.reduce((before, event) => foldEvent(before, event, now), run))
    for (const event of events) {
      if (event.event === 'title')
        updateCached(client, conversationId, (old) => ({ ...old, title: event.title }))
      if (event.event === 'approval_required') void refreshConversations(client, [conversationId])
    }
  }

/**
 * Refetches everything that a finished run changed. The live copy stays until the stored message has replaced it; the
 * message component removes it, because only it knows when the fetched data is rendered.
 */
async function refetchChanged({ conversationId, runId, client }: Following): Promise<void> {
  await Promise.all([
    client.invalidateQueries({ queryKey: messageKeys.list(conversationId) }),
    refreshConversations(client, [conversationId]),
  ]).catch(() => undefined)
  void client.invalidateQueries({ queryKey: ['stats'] })
  void client.invalidateQueries({ queryKey: ['project-files'] })
  void client.invalidateQueries({ queryKey: ['checkpoints'] })
  // Without a terminal event there is nothing to wait for: the run no longer exists or belongs to another user.
  if (useLiveRuns.getState().byId[runId]?.state === 'running') useLiveRuns.getState().drop(runId)
}

/**
 * Follows a run, once per page. `first` contains the events of the response to a send, if there was one; after a lost
 * connection, events continue from the last id. Never throws: the store holds the end of the run.
 */
export async function follow(
  following: Following,
  first?: { stream: EventStream; read: readonly NumberedEvent[] },
): Promise<void> {
  const { conversationId, runId } = following
  if (attached.has(runId)) return
  attached.add(runId)
  const store = useLiveRuns.getState()
  store.put(newLiveRun(runId, conversationId))
  const batcher = createBatcher(deliverTo(following))
  let lastId: string | null = null
  let ended = false
  let waitMs = FIRST_WAIT_MS
  const handleEvent = ({ id, event }: NumberedEvent): void => {
    if (id !== null) lastId = id
    waitMs = FIRST_WAIT_MS
    if (event.event === 'done' || event.event === 'error') ended = true
    batcher.add(event)
  }
  const setConnection = (connection: 'open' | 'reconnecting', trouble: string | null): void =>
    store.change(runId, (run) =>
      run.connection === connection && run.trouble === trouble
        ? run
        : { ...run, connection, trouble },
    )

  let source = first?.stream
  // Without a network, an open connection would hang for minutes. Close it at once; it reopens when the network is back.
  const onOffline = (): void => source?.close()
  addEventListener('offline', onOffline)
  for (const event of first?.read ?? []) handleEvent(event)
  while (!ended) {
    let trouble: string | null = null
    try {
      if (source === undefined) {
        const response = await followRun(runId, lastId, new AbortController().signal)
        setConnection('open', null)
        source = readEvents(response)
      }
      for await (const event of source.events) handleEvent(event)
    } catch (error) {
      // The run does not exist, belongs to another user, or the session has ended: retrying is useless.
      if (
        error instanceof ApiError &&
        error.status >= 400 &&
        error.status < 500 &&
        error.status !== 429
      )
        break
      // The disk is full or the database is unavailable: keep trying, so that an administrator can fix it.
      if (error instanceof ApiError && error.status >= 500) trouble = errorText(error)
    }
    source = undefined
    if (ended) break
    batcher.flush()
    setConnection('reconnecting', trouble)
    await waitToReconnect(waitMs)
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)
  }
  removeEventListener('offline', onOffline)
  batcher.flush()
  await refetchChanged(following)
  attached.delete(runId)
}
