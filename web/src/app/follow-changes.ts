// Follows the server's change events, so that this tab shows what another tab or device has changed.
import type { QueryClient } from '@tanstack/react-query'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Change } from '../../../server/protocol/change.ts'
import { isChangingHere } from '../lib/api/bulk-changes.ts'
import { refreshPins, refreshTrash } from '../lib/api/conversation-lists.ts'
import { dropConversations, refreshConversations } from '../lib/api/conversations.ts'
import { copyChangedLists } from '../lib/api/list-copies.ts'
import { messageKeys } from '../lib/api/messages.ts'
import { skillKeys } from '../lib/api/skills.ts'
import { ApiError, send } from '../lib/http/api-client.ts'
import { readFrames } from '../lib/http/event-stream.ts'
import { waitToReconnect } from '../lib/http/reconnect.ts'
import { parseJson } from '../lib/read-json.ts'

type ChangeFrame = { id: string | null; change: Change | 'ready' | 'reset' }

const FIRST_WAIT_MS = 400
const MAX_WAIT_MS = 10_000
/** Changes that arrive within this time are refetched together. */
const BATCH_MS = 60
/** The same for a change after which nothing was refetched for a while: it is probably the only one. */
const FIRST_BATCH_MS = 10
const QUIET_MS = 150

const CHANGE_TYPES: Record<Change['type'], true> = {
  conversation: true,
  message: true,
  run: true,
  approval: true,
  grant: true,
  schedule: true,
  channel: true,
  occurrence: true,
  project: true,
  file: true,
  settings: true,
}

const toChangeFrame = (id: string | null, name: string, data: string): ChangeFrame | null => {
  if (name === 'ready' || name === 'reset') return { id, change: name }
  const fields = parseJson(data)
  if (!Object.hasOwn(CHANGE_TYPES, name) || typeof fields !== 'object') return null
  return { id, change: { ...fields, type: name } as Change } // the server creates every frame from the same type
}

/** Whether a changed file may be one of the skills of its project, or its AGENTS.md. An empty path stands for several files. */
const isForModels = (path: string): boolean =>
  path === '' || /^(?:(?:AGENTS|CLAUDE)\.md|\.(?:agents|claude)(?:\/.*)?)$/s.test(path)

/** The keys of the queries that the change may have made stale. */
const staleKeys = (change: Change): (readonly unknown[])[] => {
  switch (change.type) {
    case 'conversation':
      return [messageKeys.list(change.id)]
    case 'message':
    case 'run':
      return [
        messageKeys.list(change.conversation_id),
        ['background', change.conversation_id],
        ['runs'],
        ['app-calls'],
      ]
    case 'approval':
      return [['approvals'], ['app-calls']]
    case 'grant':
      return [['grants']]
    case 'channel':
      return [['channels'], ['channel-senders', change.id]]
    case 'schedule':
      return [['schedules']]
    case 'occurrence':
      return [['schedules'], ['occurrences', change.schedule_id]]
    case 'project':
      return [
        ['projects'],
        ['project', change.id],
        ['documents', change.id],
        ['project-files', change.id, 'folder'],
      ]
    case 'file':
      return [
        ['project-files'],
        ['checkpoints'],
        ['project', change.project_id],
        ...(isForModels(change.id) ? skillKeys(change.project_id) : []),
      ]
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

/** The id of the conversation that the change is about; null if there is none. */
const conversationOf = (change: Change): string | null => {
  if (change.type === 'conversation') return change.id
  return change.type === 'message' || change.type === 'run' ? change.conversation_id : null
}

/** Returns a function that collects changes and refetches the stale queries in batches. */
function createRefresher(client: QueryClient) {
  let everything = false
  let keys = new Map<string, readonly unknown[]>()
  let conversations = new Set<string>()
  let deleted = new Set<string>()
  let trash = false
  let pins = false
  let scheduled = false
  let refreshedAt = Number.NEGATIVE_INFINITY
  const refresh = (): void => {
    scheduled = false
    refreshedAt = performance.now()
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
      for (const key of staleKeys(change)) keys.set(JSON.stringify(key), key)
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
    const isFirst = performance.now() - refreshedAt > QUIET_MS
    if (!scheduled) setTimeout(refresh, isFirst ? FIRST_BATCH_MS : BATCH_MS)
    scheduled = true
  }
}

const SHOWN_LIVE: ReadonlySet<unknown> = new Set([
  'conversations',
  'conversation',
  'messages',
  'approvals',
])

/** Refetches conversations and messages that loaded before the stream began: no event reports changes in between. */
const refreshEarlier = (client: QueryClient): Promise<void> =>
  client.invalidateQueries({
    predicate: ({ queryKey, state }) => state.dataUpdatedAt > 0 && SHOWN_LIVE.has(queryKey[0]),
  })

/** Follows changes and reconnects, until the signal aborts or the server refuses permanently. */
async function followChanges(client: QueryClient, signal: AbortSignal): Promise<void> {
  const refresh = createRefresher(client)
  let lastId: string | null = null
  let waitMs = FIRST_WAIT_MS
  while (!signal.aborted) {
    // Browsers limit the connections per server, so a hidden tab leaves them to the others.
    await untilVisible(signal)
    const connection = new AbortController()
    const close = (): void => connection.abort()
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
        signal: connection.signal,
      })
      const frames = readFrames(response, ({ id, name, data }) => toChangeFrame(id, name, data))
      for await (const { id, change } of frames.events) {
        waitMs = FIRST_WAIT_MS
        if (change !== 'ready') refresh(change)
        else if (lastId === null) void refreshEarlier(client)
        lastId = id ?? lastId
      }
    } catch (error) {
      // Signed out, or a server without this endpoint: reconnecting is useless.
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
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)
  }
}

function untilVisible(signal: AbortSignal): Promise<void> {
  if (document.visibilityState === 'visible' || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const check = (): void => {
      if (document.visibilityState === 'hidden' && !signal.aborted) return
      document.removeEventListener('visibilitychange', check)
      signal.removeEventListener('abort', check)
      resolve()
    }
    document.addEventListener('visibilitychange', check)
    signal.addEventListener('abort', check)
  })
}

/** Keeps the query cache up to date while mounted. Renders nothing. */
export function FollowChanges(): null {
  const client = useQueryClient()
  useEffect(() => {
    const controller = new AbortController()
    void followChanges(client, controller.signal)
    const stopCopying = copyChangedLists(client)
    return () => {
      controller.abort()
      stopCopying()
    }
  }, [client])
  return null
}
