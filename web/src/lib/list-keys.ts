// Keys for list items that have no id of their own.

/** Items with a key each: a name, numbered where names repeat. The key stays the same when other items come or go. */
export function keyed<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
): { key: string; item: Item }[] {
  const seen = new Map<string, number>()
  return items.map((item) => {
    const name = nameOf(item)
    const number = (seen.get(name) ?? 0) + 1
    seen.set(name, number)
    return { key: number === 1 ? name : `${name} ${number}`, item }
  })
}

/** Items with their place as the key: for lists that never change, or grow only at their end. */
export const atPlaces = <Item>(items: readonly Item[]): { place: number; item: Item }[] =>
  items.map((item, place) => ({ place, item }))
