// Caches values that are derived from objects, once per object.

/**
 * Caches the result of `derive` for each object, for the object's lifetime.
 * @param derive derives a value from an object that does not change.
 */
export function oncePer<Source extends WeakKey, Derived>(
  derive: (source: Source) => Derived,
): (source: Source) => Derived {
  const known = new WeakMap<Source, { derived: Derived }>()
  return (source) => {
    const found = known.get(source)
    if (found !== undefined) return found.derived
    const derived = derive(source)
    known.set(source, { derived })
    return derived
  }
}
