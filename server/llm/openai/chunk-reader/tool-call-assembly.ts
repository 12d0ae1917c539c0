// Assembles tool calls from the pieces that providers stream, whatever they omit, repeat or misnumber.
import { newId } from '../../../lib/ids.ts'
import { isRecord } from '../../../lib/records.ts'
import type { CallId } from '../../../protocol/ids.ts'
import type { ToolCall } from '../../client.ts'
import { mergeCarried } from '../carried-fields.ts'

/** One entry of a chunk's `tool_calls`, where any field may be missing. */
export interface CallPiece {
  index?: unknown
  id?: unknown
  function?: { name?: unknown; arguments?: unknown } | null
}

/** Assembles the tool calls of one response from their pieces. */
export interface ToolCallAssembly {
  /** Adds the entries of one chunk, in order. */
  add(pieces: readonly unknown[]): void
  /**
   * Returns the calls that have a name, in the order of their first pieces. Each has an id, which may not be unique.
   * Missing arguments are an empty text.
   */
  finish(): ToolCall[]
  /** Returns what each of these calls carries beyond OpenAI's own fields; null for nothing. */
  carried(): (Record<string, unknown> | null)[]
  readonly started: boolean
  /** Characters so far. */
  readonly size: number
}

interface Draft {
  index: number | undefined
  id: string
  name: string
  arguments: string
  /** The index of the pieces of the arguments; undefined before the first one. */
  argumentIndex: number | undefined
  /** Whether the first piece of the arguments named no call. */
  isUnnamed: boolean
  /** The arguments by the index of their pieces, if those have several. */
  portions: Map<number, string> | undefined
  carried: Record<string, unknown>
}

const newDraft = (index: number | undefined): Draft => ({
  index,
  id: '',
  name: '',
  arguments: '',
  argumentIndex: undefined,
  isUnnamed: false,
  portions: undefined,
  carried: {},
})

const MAX_CALLS = 128
const MAX_ID_LENGTH = 200

/** Create one per model call. It holds the unfinished calls. */
export function createToolCallAssembly(): ToolCallAssembly {
  const drafts: Draft[] = []
  let size = 0

  const find = (piece: CallPiece, id: string, name: string, first: boolean): Draft | undefined => {
    const index = indexOf(piece)
    const sameIndex = drafts.findLast((draft) => draft.index === index)
    if (index !== undefined) {
      // A piece that begins nothing continues the current call, even if its index is that of no call.
      if (sameIndex === undefined) return id === '' && name === '' ? drafts.at(-1) : undefined
      // Bedrock sends an empty object before the real one.
      if (isEmptyObject(sameIndex.arguments) && continues(sameIndex, id, name)) return sameIndex
      // A new call may reuse an index. Then it has a name, and either another id, or the current call is complete.
      const another = id !== '' && sameIndex.id !== '' && id !== sameIndex.id
      const begins =
        name !== sameIndex.name || argumentText(piece.function?.arguments).startsWith('{')
      const complete = begins && isComplete(sameIndex.arguments) && !repeats(sameIndex, piece, id)
      return name !== '' && (another || complete) ? undefined : sameIndex
    }
    if (id !== '') {
      const sameId = drafts.findLast((draft) => draft.id === id)
      if (sameId !== undefined) return sameId
      if (name !== '') return undefined
    }
    const current = drafts.at(-1)
    if (current === undefined) return undefined
    // Without an index and an id, a new call starts with a further entry of the same chunk, or with a name after complete
    // arguments.
    return name !== '' && (!first || isComplete(current.arguments)) ? undefined : current
  }

  const addPiece = (piece: CallPiece, first: boolean) => {
    const id = typeof piece.id === 'string' ? piece.id : ''
    const name = typeof piece.function?.name === 'string' ? piece.function.name : ''
    let draft = find(piece, id, name, first)
    if (draft === undefined) {
      if (drafts.length >= MAX_CALLS) return
      draft = newDraft(indexOf(piece))
      drafts.push(draft)
    } else if (repeats(draft, piece, id)) return
    if (draft.id === '') draft.id = id
    draft.name = joinName(draft.name, name)
    mergeCarried(draft.carried, { ...piece })
    const inFunction = isRecord(draft.carried.function) ? { ...draft.carried.function } : {}
    // LiteLLM puts some of these fields into the function.
    if (isRecord(piece.function) && mergeCarried(inFunction, piece.function))
      draft.carried.function = inFunction
    const given = piece.function?.arguments
    const text = argumentText(given)
    if (text !== '' && draft.arguments === '')
      draft.isUnnamed = name === '' && (id === '' || id !== draft.id)
    if (text !== '') addPortion(draft, indexOf(piece), text)
    // An object is complete: a second one replaces the first.
    draft.arguments = typeof given === 'string' ? draft.arguments + text : text || draft.arguments
    size += name.length + text.length
  }

  const named = () => drafts.filter((draft) => draft.name !== '')

  return {
    add(pieces) {
      let first = true
      for (const piece of pieces) {
        if (typeof piece !== 'object' || piece === null) continue
        addPiece(piece, first)
        first = false
      }
    },
    finish() {
      separatePortions(drafts)
      refuseShared(drafts)
      return named().map((draft) => {
        const fits = draft.id !== '' && draft.id.length <= MAX_ID_LENGTH
        const id = fits ? draft.id : `call_${newId()}`
        return {
          // Non-empty and bounded, which is all that the brand requires.
          id: id as CallId,
          name: draft.name,
          arguments: draft.arguments,
        }
      })
    },
    carried: () =>
      named().map(({ carried }) => (Object.keys(carried).length === 0 ? null : carried)),
    get started() {
      return drafts.length > 0
    },
    get size() {
      return size
    },
  }
}

/** Remembers which index a piece of the arguments had, from the first one that differs on. */
function addPortion(draft: Draft, index: number | undefined, text: string): void {
  if (index === undefined) return
  draft.argumentIndex ??= index
  if (index === draft.argumentIndex && draft.portions === undefined) return
  draft.portions ??= new Map([[draft.argumentIndex, draft.arguments]])
  draft.portions.set(index, (draft.portions.get(index) ?? '') + text)
}

/**
 * Gives arguments back to calls that began under the index of another one: their pieces have the positions of the calls.
 * If that does not add up, nobody can tell whose arguments they are, and no call may run without its own.
 */
function separatePortions(drafts: readonly Draft[]): void {
  for (const draft of drafts) {
    const { portions } = draft
    if (portions === undefined) continue
    draft.portions = undefined
    const others = drafts.filter((other) => other !== draft && other.arguments === '')
    const isClear = [...portions.keys()].every((index) => {
      const owner = drafts[index]
      return owner === draft || (owner !== undefined && others.includes(owner))
    })
    if (isClear && portions.size === others.length + 1)
      for (const [index, text] of portions) {
        const owner = drafts[index]
        if (owner !== undefined) owner.arguments = text
      }
    else for (const other of others) other.arguments = UNCLEAR_ARGUMENTS
  }
}

/**
 * Refuses calls without arguments if a later call with the same index got arguments in pieces that name neither: they may
 * belong to either, and a call must not run as if it had none.
 */
function refuseShared(drafts: readonly Draft[]): void {
  for (const [at, draft] of drafts.entries()) {
    if (draft.arguments !== '' || draft.index === undefined) continue
    const isShared = drafts
      .slice(at + 1)
      .some((other) => other.index === draft.index && other.arguments !== '' && other.isUnnamed)
    if (isShared) draft.arguments = UNCLEAR_ARGUMENTS
  }
}

/** Not JSON, so that the call is refused. */
const UNCLEAR_ARGUMENTS = '{'

const isEmptyObject = (text: string): boolean => text.trim() === '{}'

/** Whether a piece with this id and name may belong to the call: neither says that it is another one. */
const continues = (draft: Draft, id: string, name: string): boolean =>
  (id === '' || draft.id === '' || id === draft.id) && (name === '' || name === draft.name)

/** Whether a piece is a complete call that was already received with the same id. */
const repeats = (draft: Draft, piece: CallPiece, id: string): boolean =>
  id !== '' &&
  id === draft.id &&
  argumentText(piece.function?.arguments) === draft.arguments &&
  isComplete(draft.arguments)

function indexOf(piece: CallPiece): number | undefined {
  if (typeof piece.index === 'number') return piece.index
  if (typeof piece.index === 'string' && piece.index.trim() !== '') {
    const index = Number(piece.index)
    return Number.isNaN(index) ? undefined : index
  }
  return undefined
}

/** Providers send a name at once, in pieces, repeated in every chunk, or growing with each chunk. */
function joinName(known: string, piece: string): string {
  if (piece === known) return known
  return known !== '' && piece.startsWith(known) ? piece : known + piece
}

function argumentText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  return JSON.stringify(value) ?? ''
}

/** Called only when a new call may have started, to avoid parsing for every piece. */
function isComplete(text: string): boolean {
  if (!text.trimEnd().endsWith('}')) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
