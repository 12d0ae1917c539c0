// The environment variables that override keys of the file: NANOCLAW_… for every key, and HOST and PORT.
import { similarTo } from './faults.ts'
import { keysAt, schemaAt } from './keys.ts'
import type { Environment } from './variables.ts'

/** A key that an environment variable sets. */
export interface Override {
  variable: string
  path: readonly string[]
  text: string
}

const PREFIX = 'NANOCLAW_'

/** Variables of the same prefix that are no keys. */
const OURS: ReadonlySet<string> = new Set([
  'NANOCLAW_CONFIG',
  'NANOCLAW_DATA',
  'NANOCLAW_PORT',
  'NANOCLAW_SECRET_KEY',
  'NANOCLAW_SECRET_KEY_PREVIOUS',
])

/** The names that HOST and PORT, which platforms set, stand for. */
const PLAIN = [
  ['HOST', 'host'],
  ['PORT', 'backend_port'],
] as const

/**
 * The overrides in an environment. `NANOCLAW_` and the name of a key set this key; two underscores lead into a section:
 * NANOCLAW_LIMITS__PROJECT is `limits.project`. Names that are no key are somebody else's, such as NANOCLAW_CONFIG or those
 * that Kubernetes sets for a service called `nanoclaw`. An empty value means that the variable is not set.
 */
export function overridesIn(environment: Environment): Override[] {
  const named = Object.entries(environment).flatMap(([variable, text]) => {
    if (!variable.startsWith(PREFIX) || !text) return []
    const path = variable.slice(PREFIX.length).toLowerCase().split('__')
    return schemaAt(path) === undefined ? [] : [{ variable, path, text }]
  })
  const plain = PLAIN.flatMap(([variable, key]) => {
    const text = environment[variable]
    return !text || named.some(({ path: [first] }) => first === key)
      ? []
      : [{ variable, path: [key], text }]
  })
  return [...plain, ...named]
}

/**
 * Variables with our prefix that set no key although they resemble one, such as NANOCLAW_LOGLEVEL. They are no error: a name can
 * be somebody else's.
 */
export const unknownVariablesIn = (
  environment: Environment,
): { variable: string; similar: string[] }[] =>
  Object.entries(environment).flatMap(([variable, text]) => {
    if (!variable.startsWith(PREFIX) || !text || OURS.has(variable)) return []
    const path = variable.slice(PREFIX.length).toLowerCase().split('__')
    const section = path.slice(0, -1)
    const last = path.at(-1) ?? ''
    if (schemaAt(path) !== undefined || (section.length > 0 && schemaAt(section) === undefined))
      return []
    const similar = similarTo(last, keysAt(section)).map((key) =>
      `${PREFIX}${[...section, key].join('__')}`.toUpperCase(),
    )
    // A section has no names but those of its keys; at the top, platforms set names of their own.
    return similar.length > 0 || section.length > 0 ? [{ variable, similar }] : []
  })
