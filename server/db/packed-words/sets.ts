// Operations on lists of ascending numbers.

/** The numbers that are in all of the lists. */
export function inAll(lists: readonly (readonly number[])[]): number[] {
  const [first = [], ...others] = lists.toSorted((a, b) => a.length - b.length)
  let found: readonly number[] = first
  for (const other of others) {
    let index = 0
    found = found.filter((number) => {
      while ((other[index] ?? Number.POSITIVE_INFINITY) < number) index += 1
      return other[index] === number
    })
  }
  return [...found]
}

/** The numbers that are in any of the lists, which may be many. */
export function inAny(lists: readonly (readonly number[])[]): number[] {
  const sorted = Float64Array.from(lists.flat()).sort()
  return Array.from(sorted).filter((number, index) => number !== sorted[index - 1])
}

/** The numbers that are in at least `count` of the lists, which is at least 1. */
export function inAtLeast(lists: readonly (readonly number[])[], count: number): number[] {
  if (count > lists.length) return []
  if (count === lists.length) return inAll(lists)
  const offset = lists.map(() => 0)
  const found: number[] = []
  for (;;) {
    let next = Number.POSITIVE_INFINITY
    for (const [index, list] of lists.entries())
      next = Math.min(next, list[offset[index] ?? 0] ?? Number.POSITIVE_INFINITY)
    if (next === Number.POSITIVE_INFINITY) return found
    let containing = 0
    for (const [index, list] of lists.entries()) {
      const position = offset[index] ?? 0
      if (list[position] !== next) continue
      offset[index] = position + 1
      containing += 1
    }
    if (containing >= count) found.push(next)
  }
}

/** The numbers that are in the first list only. */
export function without(numbers: readonly number[], excluded: readonly number[]): number[] {
  let index = 0
  return numbers.filter((number) => {
    while ((excluded[index] ?? Number.POSITIVE_INFINITY) < number) index += 1
    return excluded[index] !== number
  })
}
