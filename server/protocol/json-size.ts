// Bounds of JSON from outside whose depth or length could hold up or break what reads it.

/** What a value may have at most. Characters are those of its names and texts, and one for each other value. */
interface JsonBounds {
  levels: number
  characters: number
}

/** Whether the value of JSON is within the bounds. Ends as soon as it is not, so that no value takes long; needs no stack. */
export function isWithinBounds(value: unknown, { levels, characters }: JsonBounds): boolean {
  const open: { value: unknown; level: number }[] = [{ value, level: 1 }]
  let left = characters
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, level } = next
    if (level > levels || left < 0) return false
    if (typeof value === 'string') left -= value.length
    else if (Array.isArray(value)) {
      left -= value.length
      if (left < 0) return false
      for (const item of value) open.push({ value: item, level: level + 1 })
    } else if (typeof value === 'object' && value !== null)
      for (const [name, item] of Object.entries(value)) {
        left -= name.length + 1
        if (left < 0) return false
        open.push({ value: item, level: level + 1 })
      }
    else left -= 1
  }
  return left >= 0
}
