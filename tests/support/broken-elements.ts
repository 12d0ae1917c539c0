// Elements of lists from outside of which one field is broken, in the ways in which servers and files break them.

/** What stands in the place of a field. */
const ODD: readonly (readonly [string, unknown])[] = [
  ['missing', undefined],
  ['null', null],
  ['true', true],
  ['a number', 7],
  ['a negative number', -1.5],
  ['an empty text', ''],
  ['another text', 'odd'],
  ['NUL and half a character', '\u0000\ud800'],
  ['a long text', 'x'.repeat(20_000)],
  ['an empty list', []],
  ['a list of null', [null]],
  ['an empty object', {}],
  ['an object with the names of a prototype', JSON.parse('{"__proto__":{"a":1},"constructor":5}')],
  ['a list that is nested deeply', JSON.parse(`${'['.repeat(6_000)}${']'.repeat(6_000)}`)],
]

/** An element with one broken field. */
export interface BrokenElement {
  /** Which field is broken, and how. */
  what: string
  element: unknown
}

/** The paths of all values below a value, that of the value itself first. */
function* pathsIn(value: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  yield path
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) yield* pathsIn(inner, [...path, key])
}

/** A copy in which another value stands at a path; undefined removes it. */
function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by
  const inner: unknown = Reflect.get(Object(value), key)
  const next = replaced(inner, rest, by)
  if (Array.isArray(value)) return value.with(Number(key), next)
  const { [key]: _gone, ...others } = Object(value)
  return next === undefined ? others : { ...others, [key]: next }
}

/**
 * Each copy of an element in which one field, or the element itself, is missing or something else.
 * @param except paths that may not be broken, as `a.b`.
 */
export function* brokenCopies(
  element: unknown,
  except: readonly string[] = [],
): Generator<BrokenElement> {
  for (const path of pathsIn(element))
    for (const [how, odd] of ODD) {
      const name = path.join('.')
      // A list cannot hold nothing in JSON.
      if ((path.length === 0 && odd === undefined) || except.includes(name)) continue
      yield { what: `${name || 'the element'}: ${how}`, element: replaced(element, path, odd) }
    }
}
