// Which conversations have news since this browser last showed them. Stored here, because what one device has shown says nothing about another.
import { create } from 'zustand'
import { privateKey } from '../browser/private-storage.ts'
import { fieldsOf, parseJson, textIn } from '../read-json.ts'

/** `since`: what is older counts as seen. `at`: the `updated_at` that was shown last, by conversation. */
type Seen = { since: string; at: Readonly<Record<string, string>> }

const STORAGE_KEY = privateKey('seen')
/** Beyond that, the oldest are forgotten, and all that is older than they are counts as seen. */
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
    return read(null) // storage blocked: known until the page closes
  }
}

const save = (seen: Seen): void => {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(seen))
  } catch {
    // storage blocked or full: known until the page closes
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

export const useSeen = create<Seen>(load)
// From the first visit on, not from the first conversation that is opened.
save(useSeen.getState())

/** Times are ISO 8601 in UTC, as the server sends them, so that their texts compare. */
export function markSeen(id: string, updatedAt: string): void {
  if ((useSeen.getState().at[id] ?? '') >= updatedAt) return
  // Another tab may have stored more since.
  const { since, at } = load()
  const next = withinLimit({ since, at: { ...at, [id]: updatedAt } })
  save(next)
  useSeen.setState(next)
}

/** Whether something has happened in the conversation that this browser has not shown. */
export const isUnread = (
  { since, at }: Seen,
  { id, updated_at: updatedAt, active_run_id: runId }: UnreadCandidate,
): boolean => runId === null && updatedAt > since && updatedAt > (at[id] ?? '')

type UnreadCandidate = { id: string; updated_at: string; active_run_id: string | null }

addEventListener('storage', ({ key, newValue }) => {
  if (key === STORAGE_KEY && newValue !== null) useSeen.setState(read(newValue))
})
