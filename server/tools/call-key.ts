// The identity of a tool call: two calls are equal if the tool and the argument values are equal.
import { createHash } from 'node:crypto'

/** Returns equal keys for equal values, whatever the order of the object's keys. */
export const callKey = (tool: string, value: Record<string, unknown>): string =>
  createHash('sha256')
    .update(tool)
    .update('\0')
    .update(JSON.stringify(value, sortKeys))
    .digest('base64url')

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)),
  )
}
