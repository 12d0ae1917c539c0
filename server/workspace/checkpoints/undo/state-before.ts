// Computes the state before several changes from the steps that undo them, without touching the project.
import type { PathContent } from '../../../db/tables/projects/checkpoints.ts'
import { type FolderMove, inverse, movedPath } from '../record/parts.ts'
import type { UndoStep } from './undo-steps.ts'

/** What the changed paths of a project contained before some changes. */
export interface StateBefore {
  /**
   * By path before the changes: what it contained, and the current path of that entry, or null if it no longer exists. An
   * entry that was only added since has a key that no path can have.
   */
  targets: ReadonlyMap<string, { content: PathContent | null; place: string | null }>
  /** Renamed folders: from the name before the changes to the current one. */
  moves: FolderMove[]
}

/** `steps` lead from the current state to that state. */
export function stateBefore(steps: readonly UndoStep[]): StateBefore {
  /** The renames undone so far, newest first. */
  const undone: FolderMove[] = []
  let contents = new Map<string, PathContent | null>()
  const added = new Set<string>()
  const renamed = new Map<string, string>()

  /** The current path of an entry, given its path in the state reached so far. */
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
      for (const [path, content] of step.targets) contents.set(path, content)
      continue
    }
    const move = inverse(step)
    const next = new Map<string, PathContent | null>()
    for (const [path, content] of contents) {
      // The rename left nothing at the old name, so an entry there was added after it.
      if (movedPath(path, move) === null) next.set(movedPath(path, step) ?? path, content)
      else addPlace(added, placeOf(path))
    }
    contents = next
    for (const [now, before] of renamed) renamed.set(now, movedPath(before, step) ?? before)
    const place = placeOf(move.to)
    if (place !== null && !renamed.has(place)) renamed.set(place, move.from)
    undone.push(move)
  }

  const targets = new Map<string, { content: PathContent | null; place: string | null }>()
  for (const [path, content] of contents) targets.set(path, { content, place: placeOf(path) })
  for (const place of added) targets.set(`/${place}`, { content: null, place })
  const moves = [...renamed]
    .filter(([now, before]) => now !== before)
    .map(([to, from]) => ({ from, to }))
  return { targets, moves }
}

const addPlace = (places: Set<string>, place: string | null): void => {
  if (place !== null) places.add(place)
}
