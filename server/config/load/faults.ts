// Describes configuration errors in one line each: path, found value, expected value.
import type { z } from 'zod'

const SECRET = /secret|password|key|token|headers|env|_url$|^url$/i

/** `models[0].api_url` */
export const formatPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number'
        ? `${text}[${part}]`
        : text === ''
          ? String(part)
          : `${text}.${String(part)}`,
    '',
  ) || 'the file'

/**
 * One line per problem in a zod issue about `tree`.
 * @param keysAt the known keys of the section at a path.
 */
export function describeIssue(
  issue: z.core.$ZodIssue,
  tree: unknown,
  keysAt: (path: readonly PropertyKey[]) => readonly string[],
): string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => {
      const similar = similarTo(key, keysAt(issue.path))
      const hint = similar.length === 0 ? '' : `; did you mean ${similar.join(' or ')}?`
      return `${formatPath([...issue.path, key])}: found an unknown key, expected only known keys${hint}`
    })
  if (issue.code === 'invalid_key')
    return [
      `${formatPath(issue.path)}: found an invalid name, expected ${firstMessage(issue.issues)}`,
    ]
  const found = valueAt(tree, issue.path)
  return [
    `${formatPath(issue.path)}: found ${formatValue(found, issue.path)}, expected ${expected(issue)}`,
  ]
}

const firstMessage = (issues: readonly z.core.$ZodIssue[]): string =>
  issues[0]?.message ?? 'another one'

/**
 * The known key with the fewest changed letters, at most a third of them; if there is none, those that end with the same word,
 * such as `backend_port` for `port`.
 */
export function similarTo(key: string, known: readonly string[]): string[] {
  const [best] = known
    .map((name) => ({ name, changes: changesBetween(key.toLowerCase(), name) }))
    .filter(({ name, changes }) => changes <= Math.max(1, Math.floor(name.length / 3)))
    .sort((one, other) => one.changes - other.changes)
  if (best !== undefined) return [best.name]
  return known.filter((name) => name.endsWith(`_${key.toLowerCase()}`))
}

/** The Levenshtein distance. */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let position = 1; position <= one.length; position += 1) {
    const next = [position]
    for (let to = 1; to <= other.length; to += 1)
      next.push(
        Math.min(
          (row[to] ?? 0) + 1,
          (next[to - 1] ?? 0) + 1,
          (row[to - 1] ?? 0) + (one[position - 1] === other[to - 1] ? 0 : 1),
        ),
      )
    row = next
  }
  return row[other.length] ?? 0
}

function expected(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_format':
      // The text of zod itself says only that it is invalid.
      return issue.format === 'url' && issue.message.startsWith('Invalid')
        ? 'a URL starting with http:// or https://'
        : issue.message
    case 'invalid_type':
      return TYPE_NAMES[issue.expected] ?? issue.expected
    case 'invalid_value':
      return issue.values.length === 1
        ? String(issue.values[0])
        : `one of ${issue.values.map(String).join(', ')}`
    case 'too_small':
      return bound(issue.origin, issue.minimum, 'at least')
    case 'too_big':
      return bound(issue.origin, issue.maximum, 'at most')
    case 'invalid_union':
      return 'one of the forms described in config.example.yml'
    default:
      return issue.message
  }
}

const TYPE_NAMES: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a section with keys',
  record: 'a section with keys',
}

const bound = (origin: string, limit: number | bigint, word: string): string =>
  origin === 'string'
    ? `${word} ${limit} characters`
    : origin === 'array'
      ? `${word} ${limit} entries`
      : `a number of ${word} ${limit}`

function valueAt(tree: unknown, path: readonly PropertyKey[]): unknown {
  let node = tree
  for (const part of path) {
    if (typeof node !== 'object' || node === null) return undefined
    node = Reflect.get(node, part)
  }
  return node
}

/** The value as text; one that may be secret is only described. */
function formatValue(value: unknown, path: readonly PropertyKey[]): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a section'
  if (path.some((part) => typeof part === 'string' && SECRET.test(part)))
    return typeof value === 'string'
      ? `a string of ${value.length} characters`
      : `a ${typeof value}`
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}
