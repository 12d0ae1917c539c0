// Orders branches as a tree: each below the one that it forks from.
import type { Branch } from '../../../../../server/protocol/conversations/branch.ts'

/** A branch with its depth in the tree, 1 for a root. */
export type PlacedBranch = Branch & { depth: number }

/** Puts after each branch those that fork from it; siblings are in the order of their creation. */
export function inTreeOrder(branches: readonly Branch[]): PlacedBranch[] {
  const childrenOf = new Map<string | null, Branch[]>()
  for (const branch of branches) {
    const siblings = childrenOf.get(branch.parent_id)
    if (siblings === undefined) childrenOf.set(branch.parent_id, [branch])
    else siblings.push(branch)
  }
  const placed: PlacedBranch[] = []
  // A stack instead of recursion, because every edit in a long conversation may be one level deeper.
  const stack: { id: string | null; depth: number }[] = [{ id: null, depth: 0 }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { id, depth } = next
    const branch = branches.find(({ message_id: messageId }) => messageId === id)
    if (branch !== undefined) placed.push({ ...branch, depth })
    for (const child of (childrenOf.get(id) ?? []).toReversed())
      stack.push({ id: child.message_id, depth: depth + 1 })
  }
  return placed
}
