// Unread conversations: those with news since this browser last showed them. Stored per browser, because each device shows its own.
import { create } from 'zustand'
import { privateKey } from '../browser/private-storage.ts'
import { fieldsOf, parseJson, textIn } from '../read-json.ts'

/** Changes before `since` count as seen. `at` maps a conversation's id to its last seen `updated_at`. */
type Seen = { since: string; at: Readonly<Record<string, string>> }

const STORAGE_KEY = privateKey('seen')
/** The oldest entries beyond this are dropped; `since` advances so that they still count as seen. */
const MAX_ENTRIES = 500

const read = (stored: string | null): Seen => {
  const { since, at } = fieldsOf(parseJson(stored ?? ''))
  const entries = Object.entries(fieldsOf(at)).flatMap(([id, time]) =>
    typeof time === 'string' ? [[id, time] as const] : [],
  )
  return { since: textIn(since) ?? new Date().toISOString(), at: Object.fromEntries(entries) }
}

const load = (): Seen => {
  try {
    return read(localStorage.getItem(STORAGE_KEY))
  } catch {
    return read(null) // storage is blocked: remembered until the page closes
  }
}

const save = (seen: Seen): void => {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(seen))
  } catch {
    // Storage is blocked or full: remembered until the page closes.
  }
}

const withinLimit = ({ since, at }: Seen): Seen => {
  const newestFirst = Object.entries(at).toSorted(([, a], [, b]) => (a < b ? 1 : -1))
  const oldest = newestFirst[MAX_ENTRIES]?.[1]
  if (oldest === undefined) return { since, at }
  return {
    since: oldest > since ? oldest : since,
    at: Object.fromEntries(newestFirst.slice(0, MAX_ENTRIES)),
  }
}

/** What this browser has shown, in sync with its other tabs. */
export const useSeen = create<Seen>(load)
// Stores `since` at the first visit, not when the first conversation is opened.
save(useSeen.getState())

/** Marks a conversation as seen up to `updatedAt`. Times are ISO 8601 in UTC, so they compare as strings. */
export function markSeen(id: string, updatedAt: string): void {
  if ((useSeen.getState().at[id] ?? '') >= updatedAt) return
  // Another tab may have stored newer entries.
  const { since, at } = load()
  const next = withinLimit({ since, at: { ...at, [id]: updatedAt } })
  save(next)
  useSeen.setState(next)
}

/** Whether the conversation has news that this browser has not shown. False while a run is active. */
export const isUnread = (
  { since, at }: Seen,
  { id, updated_at: updatedAt, active_run_id: runId }: UnreadCandidate,
): boolean => runId === null && updatedAt > since && updatedAt > (at[id] ?? '')

type UnreadCandidate = { id: string; updated_at: string; active_run_id: string | null }

addEventListener('storage', ({ key, newValue }) => {
  if (key === STORAGE_KEY && newValue !== null) useSeen.setState(read(newValue))
})
