// Follows a run to its end: reads its events, folds them once a frame, and connects again by itself when the line drops.
import type { QueryClient } from '@tanstack/react-query'
import type { RunEvent } from '../../../../../server/protocol/run-event.ts'
import { conversationKeys, updateCached } from '../../../lib/api/conversations.ts'
import { messageKeys } from '../../../lib/api/messages.ts'
import { followRun } from '../../../lib/api/runs.ts'
import { ApiError } from '../../../lib/api-client.ts'
import { type EventStream, type NumberedEvent, readEvents } from '../../../lib/event-stream.ts'
import { waitToReconnect } from '../../../lib/reconnect.ts'
import { errorText } from '../../../ui/error-text.ts'
import { foldEvent, newLiveRun, useLiveRuns } from './live-runs.ts'

/** Runs that a reader of this page is already attached to. */
const attached = new Set<string>()

const firstWaitMs = 400
const longestWaitMs = 10_000

/** Gathers events and hands them over once a frame; a hidden page has no frames, so a timer stands in. */
function createBatcher(deliver: (events: readonly RunEvent[]) => void) {
  let gathered: RunEvent[] = []
  let scheduled = false
  const flush = (): void => {
    scheduled = false
    const events = gathered
    gathered = []
    if (events.length > 0) deliver(events)
  }
  return {
    flush,
    add(event: RunEvent): void {
      gathered.push(event)
      if (scheduled) return
      scheduled = true
      if (document.visibilityState === 'hidden') setTimeout(flush, 100)
      else requestAnimationFrame(flush)
    },
  }
}

type Following = { conversationId: string; runId: string; client: QueryClient }

const deliverTo =
  ({ conversationId, runId, client }: Following) =>
  (events: readonly RunEvent[]): void => {
    const now = Date.now()
    useLiveRuns
      .getState()
      .change(conversationId, runId, (run) =>
        events.reduce((before, event) => foldEvent(before, event, now), run),
      )
    for (const event of events) {
      if (event.event === 'title')
        updateCached(client, conversationId, (old) => ({ ...old, title: event.title }))
      if (event.event === 'approval_required')
        void client.invalidateQueries({ queryKey: conversationKeys.lists })
    }
  }

/**
 * Brings everything that a finished run changed up to date. Its live copy stays on the page until the stored message has
 * taken its place there, which the message itself sees to: here nobody knows when what was fetched is drawn.
 */
async function settle({ conversationId, runId, client }: Following): Promise<void> {
  await Promise.all([
    client.invalidateQueries({ queryKey: messageKeys.list(conversationId) }),
    client.invalidateQueries({ queryKey: conversationKeys.one(conversationId) }),
    client.invalidateQueries({ queryKey: conversationKeys.lists }),
  ]).catch(() => undefined)
  void client.invalidateQueries({ queryKey: ['stats'] })
  void client.invalidateQueries({ queryKey: ['project-files'] })
  void client.invalidateQueries({ queryKey: ['checkpoints'] })
  // Without an end there is nothing to wait for: the run is gone, or not this user's.
  const live = useLiveRuns.getState().byConversation[conversationId]
  if (live?.state === 'running') useLiveRuns.getState().drop(conversationId, runId)
}

/**
 * Attaches to a run, once. `first` holds the events of the answer to a send, when there is one; everything after
 * a drop comes from the run's own events by the last id seen. Never throws: what ends a run is in the store.
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
  let waitMs = firstWaitMs
  const take = ({ id, event }: NumberedEvent): void => {
    if (id !== null) lastId = id
    waitMs = firstWaitMs
    if (event.event === 'done' || event.event === 'error') ended = true
    batcher.add(event)
  }
  const setConnection = (connection: 'open' | 'reconnecting', trouble: string | null): void =>
    store.change(conversationId, runId, (run) =>
      run.connection === connection && run.trouble === trouble
        ? run
        : { ...run, connection, trouble },
    )

  let source = first?.stream
  // Without a network the open line would hang for minutes; closed at once, it is made anew as soon as there is one.
  const onOffline = (): void => source?.close()
  addEventListener('offline', onOffline)
  for (const event of first?.read ?? []) take(event)
  while (!ended) {
    let trouble: string | null = null
    try {
      if (source === undefined) {
        const response = await followRun(runId, lastId, new AbortController().signal)
        setConnection('open', null)
        source = readEvents(response)
      }
      for await (const event of source.events) take(event)
    } catch (error) {
      // Gone (deleted, or another user's) or signed out: nothing more will come.
      if (
        error instanceof ApiError &&
        error.status >= 400 &&
        error.status < 500 &&
        error.status !== 429
      )
        break
      // A full disk, a database that is away: it tries again, and the person can see to it.
      if (error instanceof ApiError && error.status >= 500) trouble = errorText(error)
    }
    source = undefined
    if (ended) break
    batcher.flush()
    setConnection('reconnecting', trouble)
    await waitToReconnect(waitMs)
    waitMs = Math.min(waitMs * 2, longestWaitMs)
  }
  removeEventListener('offline', onOffline)
  batcher.flush()
  await settle(following)
  attached.delete(runId)
}
