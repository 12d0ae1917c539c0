// Keys for list items without an id.

/** Gives each item a key: its name, with a number if the name repeats. It stays the same when items with other names change. */
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

/** Items with their index as the key, for lists that never change or grow only at the end. */
export const atPlaces = <Item>(items: readonly Item[]): { place: number; item: Item }[] =>
  items.map((item, place) => ({ place, item }))
