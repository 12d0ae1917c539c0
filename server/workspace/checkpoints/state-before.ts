// The state before several changes, told from the one after them, without touching the project.
import type { PathContent } from '../../db/tables/projects.ts'
import { type FolderMove, inverse, movedPath } from './parts.ts'
import type { UndoStep } from './undo-steps.ts'

export interface StateBefore {
  /**
   * By path before the changes: what it held, and where in the project of now that file is, null when it is nowhere. What
   * only came since has its own key, below no path.
   */
  targets: ReadonlyMap<string, { content: PathContent | null; place: string | null }>
  /** Folders that have another name now: from the one before the changes to the one of now. */
  moves: FolderMove[]
}

/** `steps` are the way back to it. */
export function stateBefore(steps: readonly UndoStep[]): StateBefore {
  /** Renames that are undone so far, the newest first. */
  const undone: FolderMove[] = []
  let held = new Map<string, PathContent | null>()
  const came = new Set<string>()
  const renamed = new Map<string, string>()

  /** Where a path of the moment reached so far is now. */
  const placeOf = (path: string): string | null => {
    let place = path
    for (const move of undone.toReversed()) {
      const later = movedPath(place, move)
      if (later === null && movedPath(place, inverse(move)) !== null) return null
      place = later ?? place
    }
    return place
  }

  for (const step of steps) {
    if (step.kind === 'restore') {
      for (const [path, content] of step.targets) held.set(path, content)
      continue
    }
    const move = inverse(step)
    const next = new Map<string, PathContent | null>()
    for (const [path, content] of held) {
      // Nothing was left at the old name: what is there came after the rename.
      if (movedPath(path, move) === null) next.set(movedPath(path, step) ?? path, content)
      else addPlace(came, placeOf(path))
    }
    held = next
    for (const [now, before] of renamed) renamed.set(now, movedPath(before, step) ?? before)
    const place = placeOf(move.to)
    if (place !== null && !renamed.has(place)) renamed.set(place, move.from)
    undone.push(move)
  }

  const targets = new Map<string, { content: PathContent | null; place: string | null }>()
  for (const [path, content] of held) targets.set(path, { content, place: placeOf(path) })
  for (const place of came) targets.set(`/${place}`, { content: null, place })
  const moves = [...renamed]
    .filter(([now, before]) => now !== before)
    .map(([to, from]) => ({ from, to }))
  return { targets, moves }
}

const addPlace = (places: Set<string>, place: string | null): void => {
  if (place !== null) places.add(place)
}
