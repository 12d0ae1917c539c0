// Which answers are shown side by side: at most one pair in each conversation, kept until the person has chosen.
import { create } from 'zustand'
import { privateKey } from '../../../lib/browser/private-storage.ts'
import { fieldsOf, parseJson, textIn } from '../../../lib/read-json.ts'
import { randomId } from '../random-id.ts'

/** Two sibling answers that are shown side by side, by the ids of their messages. */
export type Comparison = {
  /** The `client_id` of the second answer's run, so that it is started once. */
  id: string
  /** The id of the message. */
  first: string
  /** Null while it is not there: the server writes one answer of a conversation at a time. */
  second: string | null
  /** What gives the second answer; null while nobody has chosen. */
  model: string | null
}

const STORAGE_KEY = privateKey('comparisons')
const MODEL_KEY = 'nanoclaw.second-model'
/** Conversations whose comparison is kept, the newest. */
const MAX_KEPT = 20

type Comparisons = Readonly<Record<string, Comparison>>

function readStored(): Comparisons {
  try {
    const stored = fieldsOf(parseJson(localStorage.getItem(STORAGE_KEY) ?? '{}'))
    return Object.fromEntries(
      Object.entries(stored).flatMap(([conversationId, value]) => {
        const { id, first, second, model } = fieldsOf(value)
        const one = textIn(first)
        if (one === undefined) return []
        const comparison: Comparison = {
          id: textIn(id) ?? '',
          first: one,
          second: textIn(second) ?? null,
          model: textIn(model) ?? null,
        }
        return [[conversationId, comparison]]
      }),
    )
  } catch {
    return {} // storage blocked
  }
}

export const useComparisons = create<{ byConversation: Comparisons }>(() => ({
  byConversation: readStored(),
}))

/** The pair of a conversation; null while its answers are shown one at a time. */
export const useComparison = (conversationId: string): Comparison | null =>
  useComparisons(({ byConversation }) => byConversation[conversationId] ?? null)

/** Shows a pair; null: the person has chosen, or wants to see one answer again. */
export function setComparison(conversationId: string, comparison: Comparison | null): void {
  const { [conversationId]: _before, ...others } = useComparisons.getState().byConversation
  const kept = Object.entries(others).slice(1 - MAX_KEPT)
  if (comparison !== null) kept.push([conversationId, comparison])
  const byConversation = Object.fromEntries(kept)
  useComparisons.setState({ byConversation })
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(byConversation))
    if (comparison?.model != null) localStorage.setItem(MODEL_KEY, comparison.model)
  } catch {
    // storage blocked or full: it lasts until the page is closed
  }
}

/** The conversation in which somebody has just asked for a second answer and is now to choose who gives it. */
let choosingIn: string | null = null

/** Opens the choice of a second answer beside `first`. */
export function beginComparison(conversationId: string, first: string): void {
  choosingIn = conversationId
  setComparison(conversationId, { id: randomId(), first, second: null, model: null })
}

/** Whether the choice was opened just now, so that it gets the focus; true once. */
export function takeBegun(conversationId: string): boolean {
  const isBegun = choosingIn === conversationId
  if (isBegun) choosingIn = null
  return isBegun
}

/** The model that the last comparison added. */
export function readSecondModel(): string | null {
  try {
    return localStorage.getItem(MODEL_KEY)
  } catch {
    return null // storage blocked
  }
}

/** The second answer is still to be written: nothing else may be sent before. */
export const isPendingComparison = (comparison: Comparison | null): boolean =>
  comparison !== null && comparison.second === null && comparison.model !== null

/** The model that each conversation's messages also go to; it lasts until the page closes. */
export const secondModels = new Map<string, string>()
