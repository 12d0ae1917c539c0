// Follows the user's changes on the server, so that this tab shows what another tab or device did.
import type { QueryClient } from '@tanstack/react-query'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Change } from '../../../server/protocol/change.ts'
import { isChangingHere } from '../lib/api/bulk-changes.ts'
import { refreshPins, refreshTrash } from '../lib/api/conversation-lists.ts'
import { dropConversations, refreshConversations } from '../lib/api/conversations.ts'
import { messageKeys } from '../lib/api/messages.ts'
import { ApiError, send } from '../lib/http/api-client.ts'
import { readFrames } from '../lib/http/event-stream.ts'
import { waitToReconnect } from '../lib/http/reconnect.ts'
import { parseJson } from '../lib/read-json.ts'

type News = { id: string | null; change: Change | 'ready' | 'reset' }

const FIRST_WAIT_MS = 400
const LONGEST_WAIT_MS = 10_000
/** Changes that arrive within this time are refetched together. */
const GATHER_MS = 60

const CHANGE_TYPES: Record<Change['type'], true> = {
  conversation: true,
  message: true,
  run: true,
  project: true,
  file: true,
  settings: true,
}

const toNews = (id: string | null, name: string, data: string): News | null => {
  if (name === 'ready' || name === 'reset') return { id, change: name }
  const fields = parseJson(data)
  if (!Object.hasOwn(CHANGE_TYPES, name) || typeof fields !== 'object') return null
  return { id, change: { ...fields, type: name } as Change } // the server builds every frame from the same type
}

/** The queries that the change may have made stale. */
const touched = (change: Change): (readonly unknown[])[] => {
  switch (change.type) {
    case 'conversation':
      return [messageKeys.list(change.id)]
    case 'message':
    case 'run':
      return [
        messageKeys.list(change.conversation_id),
        ['background', change.conversation_id],
        ['runs'],
      ]
    case 'project':
      return [['projects'], ['project', change.id], ['documents', change.id]]
    case 'file':
      return [['project-files'], ['checkpoints'], ['project', change.project_id]]
    case 'settings':
      return [
        ['models'],
        ['admin-models'],
        ['memory'],
        ['preferences'],
        ['profile'],
        ['channels'],
        ['webhooks'],
        ['api-keys'],
        ['shares'],
      ]
  }
}

/** The conversation that the change is about, if it is about one. */
const conversationOf = (change: Change): string | null => {
  if (change.type === 'conversation') return change.id
  return change.type === 'message' || change.type === 'run' ? change.conversation_id : null
}

/** Collects stale queries and refetches them together. */
function createRefresher(client: QueryClient) {
  let everything = false
  let keys = new Map<string, readonly unknown[]>()
  let conversations = new Set<string>()
  let deleted = new Set<string>()
  let trash = false
  let pins = false
  let scheduled = false
  const refresh = (): void => {
    scheduled = false
    if (everything) void client.invalidateQueries()
    else {
      for (const queryKey of keys.values()) void client.invalidateQueries({ queryKey })
      void refreshConversations(client, [...conversations])
      void dropConversations(client, [...deleted])
      if (trash) void refreshTrash(client)
      if (pins) void refreshPins(client)
    }
    everything = false
    trash = false
    pins = false
    keys = new Map()
    conversations = new Set()
    deleted = new Set()
  }
  return (change: Change | 'reset'): void => {
    if (change === 'reset') everything = true
    else if (change.type === 'conversation' && isChangingHere(change.id)) return
    else {
      pins ||= change.type === 'settings' && change.id === 'pins'
      for (const key of touched(change)) keys.set(JSON.stringify(key), key)
      const id = conversationOf(change)
      if (id !== null) {
        const isGone = change.type === 'conversation' && change.change === 'deleted'
        conversations.delete(id)
        deleted.delete(id)
        if (isGone) deleted.add(id)
        else conversations.add(id)
      }
      trash ||= change.type === 'conversation' && change.change !== 'updated'
    }
    if (!scheduled) setTimeout(refresh, GATHER_MS)
    scheduled = true
  }
}

const SHOWN_LIVE: ReadonlySet<unknown> = new Set(['conversations', 'conversation', 'messages'])

/** Reads again what was loaded before the stream began: no event says what changed in between. */
const refreshEarlier = (client: QueryClient): Promise<void> =>
  client.invalidateQueries({
    predicate: ({ queryKey, state }) => state.dataUpdatedAt > 0 && SHOWN_LIVE.has(queryKey[0]),
  })

/** Follows until the signal aborts or the server refuses for good. */
async function followChanges(client: QueryClient, signal: AbortSignal): Promise<void> {
  const refresh = createRefresher(client)
  let lastId: string | null = null
  let waitMs = FIRST_WAIT_MS
  while (!signal.aborted) {
    // A browser opens few connections to one server, so a hidden tab leaves them to the others.
    await untilSeen(signal)
    const line = new AbortController()
    const close = (): void => line.abort()
    const onHidden = (): void => {
      if (document.visibilityState === 'hidden') close()
    }
    signal.addEventListener('abort', close)
    addEventListener('offline', close)
    document.addEventListener('visibilitychange', onHidden)
    try {
      const response = await send('/api/events', {
        headers: {
          accept: 'text/event-stream',
          ...(lastId === null ? {} : { 'last-event-id': lastId }),
        },
        signal: line.signal,
      })
      const news = readFrames(response, ({ id, name, data }) => toNews(id, name, data))
      for await (const { id, change } of news.events) {
        waitMs = FIRST_WAIT_MS
        if (change !== 'ready') refresh(change)
        else if (lastId === null) void refreshEarlier(client)
        lastId = id ?? lastId
      }
    } catch (error) {
      // Signed out, or a server without this endpoint: nothing will come.
      if (
        error instanceof ApiError &&
        error.status >= 400 &&
        error.status < 500 &&
        error.status !== 429
      )
        return
    } finally {
      signal.removeEventListener('abort', close)
      removeEventListener('offline', close)
      document.removeEventListener('visibilitychange', onHidden)
    }
    if (signal.aborted) return
    await waitToReconnect(waitMs)
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
  }
}

function untilSeen(signal: AbortSignal): Promise<void> {
  if (document.visibilityState === 'visible' || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const look = (): void => {
      if (document.visibilityState === 'hidden' && !signal.aborted) return
      document.removeEventListener('visibilitychange', look)
      signal.removeEventListener('abort', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
    signal.addEventListener('abort', look)
  })
}

/** Draws nothing; keeps the cached server state up to date while it is mounted. */
export function FollowChanges(): null {
  const client = useQueryClient()
  useEffect(() => {
    const controller = new AbortController()
    void followChanges(client, controller.signal)
    return () => controller.abort()
  }, [client])
  return null
}
