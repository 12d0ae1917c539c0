// Which answers are compared side by side: at most one pair per conversation, stored until the user has chosen.

import { create } from 'zustand'
import { storageName } from '../../../lib/base-path.ts'
import { privateKey } from '../../../lib/browser/private-storage.ts'
import { fieldsOf, parseJson, textIn } from '../../../lib/read-json.ts'
import { randomId } from '../random-id.ts'

/** Two sibling answers that are shown side by side. */
export type Comparison = {
  /** The `client_id` of the second answer's run, so that the run starts only once. */
  id: string
  /** The id of the first answer's message. */
  first: string
  /** The id of the second answer's message; null until it exists. */
  second: string | null
  /** The model of the second answer; null until one is chosen. */
  model: string | null
}

const STORAGE_KEY = privateKey('comparisons')
const MODEL_KEY = storageName('second-model')
/** How many comparisons are stored, newest first. */
const MAX_COMPARISONS = 20

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

/** The comparisons of all conversations, by conversation id. */
export const useComparisons = create<{ byConversation: Comparisons }>(() => ({
  byConversation: readStored(),
}))

/** The comparison of a conversation; null if there is none. */
export const useComparison = (conversationId: string): Comparison | null =>
  useComparisons(({ byConversation }) => byConversation[conversationId] ?? null)

/** The comparison of a conversation, if this answer is one of the two; else null. */
export function comparisonWith(conversationId: string, answer: string): Comparison | null {
  const comparison = useComparisons.getState().byConversation[conversationId]
  return comparison !== undefined && [comparison.first, comparison.second].includes(answer)
    ? comparison
    : null
}

/** Stores a comparison; null ends it, because the user has chosen or wants to see one answer again. */
export function setComparison(conversationId: string, comparison: Comparison | null): void {
  const { [conversationId]: _before, ...others } = useComparisons.getState().byConversation
  const remaining = Object.entries(others).slice(1 - MAX_COMPARISONS)
  if (comparison !== null) remaining.push([conversationId, comparison])
  const byConversation = Object.fromEntries(remaining)
  useComparisons.setState({ byConversation })
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(byConversation))
    if (comparison?.model != null) localStorage.setItem(MODEL_KEY, comparison.model)
  } catch {
    // Storage is blocked or full: the comparison lasts until the page closes.
  }
}

/** The conversation in which the user just requested a second answer and has to choose its model. */
let choosingIn: string | null = null

/** Starts a comparison with the answer `first`; the choice of the second model opens. */
export function beginComparison(conversationId: string, first: string): void {
  choosingIn = conversationId
  setComparison(conversationId, { id: randomId(), first, second: null, model: null })
}

/** Whether the choice has just opened and should get the focus; true once. */
export function consumeChoiceFocus(conversationId: string): boolean {
  const isBegun = choosingIn === conversationId
  if (isBegun) choosingIn = null
  return isBegun
}

/** The model that was last used for a second answer. */
export function readSecondModel(): string | null {
  try {
    return localStorage.getItem(MODEL_KEY)
  } catch {
    return null // storage blocked
  }
}

/** Whether the second answer is not written yet, so that no other message may be sent. */
export const isPendingComparison = (comparison: Comparison | null): boolean =>
  comparison !== null && comparison.second === null && comparison.model !== null

/** For each conversation, the second model that its messages also go to. Lasts until the page closes. */
export const secondModels = new Map<string, string>()
