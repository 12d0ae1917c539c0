// Expands `${VAR}` and `${VAR:-default}` in values after the YAML is parsed, so that a value cannot inject YAML.

/** The environment of a process. */
export type Environment = Record<string, string | undefined>

/** A variable that a value refers to but that is not set. */
export interface MissingVariable {
  path: readonly (string | number)[]
  variable: string
}

/** Values with their references replaced. */
export interface Expanded {
  value: unknown
  /** The variables that a value refers to, by the key of its path (`pathKey`). */
  references: ReadonlyMap<string, readonly string[]>
  missing: readonly MissingVariable[]
}

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/** A path as one string, for lookups. */
export const pathKey = (path: readonly PropertyKey[]): string => path.map(String).join('\0')

/**
 * Replaces every reference in the tree. `$${` is a literal `${`. Drops `null`s and values that expand to an empty string:
 * both mean "not set".
 */
export function expandVariables(tree: unknown, environment: Environment): Expanded {
  const references = new Map<string, string[]>()
  const missing: MissingVariable[] = []

  const expandText = (text: string, path: readonly (string | number)[]): string | undefined => {
    const key = pathKey(path)
    let absent = false
    const result = text.replace(REFERENCE, (whole, variable?: string, fallback?: string) => {
      if (variable === undefined) return whole.slice(1)
      references.set(key, [...(references.get(key) ?? []), variable])
      const value = environment[variable]
      // As in a shell, `:-` also replaces a variable that is set but empty.
      if (fallback !== undefined) return value === undefined || value === '' ? fallback : value
      if (value === undefined) {
        absent = true
        missing.push({ path, variable })
      }
      return value ?? ''
    })
    return absent || (result === '' && references.has(key)) ? undefined : result
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

  return { value: walk(tree, []), references, missing }
}
