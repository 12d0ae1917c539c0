// Values that are derived from objects, once for each object.

/**
 * The same function, which is called once for each object that lives.
 * @param derive from an object that does not change.
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
