// The order in which branches are drawn: each below the one it forks from.
import type { Branch } from '../../../../../server/protocol/conversations/branch.ts'

/** A branch with its depth in the tree, 1 for a root. */
export type PlacedBranch = Branch & { depth: number }

/** Every branch followed by those that fork from it, siblings in the order in which they were created. */
export function inTreeOrder(branches: readonly Branch[]): PlacedBranch[] {
  const childrenOf = new Map<string | null, Branch[]>()
  for (const branch of branches) {
    const siblings = childrenOf.get(branch.parent_id)
    if (siblings === undefined) childrenOf.set(branch.parent_id, [branch])
    else siblings.push(branch)
  }
  const placed: PlacedBranch[] = []
  // A stack instead of a recursion: every edit of a long conversation may be one level deeper.
  const waiting: { id: string | null; depth: number }[] = [{ id: null, depth: 0 }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { id, depth } = next
    const branch = branches.find(({ message_id: messageId }) => messageId === id)
    if (branch !== undefined) placed.push({ ...branch, depth })
    for (const child of (childrenOf.get(id) ?? []).toReversed())
      waiting.push({ id: child.message_id, depth: depth + 1 })
  }
  return placed
}
