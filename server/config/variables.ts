// Expands `${VAR}` and `${VAR:-default}` in string values after the YAML is parsed, so that a value cannot inject YAML.

/** A variable that a value refers to but that is not set. */
export interface MissingVariable {
  path: readonly (string | number)[]
  variable: string
}

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/**
 * Replaces every reference in the tree. `$${` is a literal `${`. Drops `null`s and values that expand to an empty string:
 * both mean "not set". `expanded`: the paths (joined by NUL) of the values that contained a reference.
 */
export function expandVariables(
  tree: unknown,
  environment: Record<string, string | undefined>,
): { value: unknown; expanded: ReadonlySet<string>; missing: readonly MissingVariable[] } {
  const expanded = new Set<string>()
  const missing: MissingVariable[] = []

  const expandText = (text: string, path: readonly (string | number)[]): string | undefined => {
    let absent = false
    const result = text.replace(REFERENCE, (whole, variable?: string, fallback?: string) => {
      if (variable === undefined) return whole.slice(1)
      expanded.add(pathKey(path))
      const value = environment[variable]
      // As in a shell, `:-` also replaces a variable that is set but empty.
      if (fallback !== undefined) return value === undefined || value === '' ? fallback : value
      if (value === undefined) {
        absent = true
        missing.push({ path, variable })
      }
      return value ?? ''
    })
    return absent || (result === '' && expanded.has(pathKey(path))) ? undefined : result
  }

  const walk = (node: unknown, path: readonly (string | number)[]): unknown => {
    if (typeof node === 'string') return expandText(node, path)
    if (Array.isArray(node)) return node.map((item, index) => walk(item, [...path, index]))
    if (typeof node !== 'object' || node === null) return node ?? undefined
    const entries = Object.entries(node)
      .map(([key, child]) => [key, walk(child, [...path, key])] as const)
      .filter(([, child]) => child !== undefined)
    return Object.fromEntries(entries)
  }

  return { value: walk(tree, []), expanded, missing }
}

/** A path as one string, for lookups. */
export const pathKey = (path: readonly PropertyKey[]): string => path.map(String).join('\0')
