// Splits the body of a request into parts, each of which is stored once, however often it is sent.
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { toolsJson } from '../../llm/tokens.ts'
import type { RecordedField } from '../../protocol/runs/run-record.ts'

/** Shorter texts are stored with the request. */
const MIN_PART_CHARACTERS = 200
/** Longer texts in these fields are images, files or data that a provider encrypted for itself. */
const MAX_BINARY_CHARACTERS = 64
const BINARY_FIELDS: ReadonlySet<string> = new Set([
  'data',
  'encrypted_content',
  'signature',
  'thought_signature',
])
/** Characters at both ends of a binary text that are hashed to identify it. */
const SAMPLE_CHARACTERS = 32_768

/** Receives the JSON text of a part and returns its hash. */
export type TakePart = (json: string) => string

/** The fields of a body in order; `take` receives each part. */
export function splitRequest(
  body: Readonly<Record<string, unknown>>,
  take: TakePart,
): RecordedField[] {
  const fields: RecordedField[] = []
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue
    if (Array.isArray(value) && name !== 'tools') {
      const items: unknown[] = value
      fields.push({
        name,
        parts: items.map((item) => take(JSON.stringify(withoutBinary(item)) ?? 'null')),
      })
      continue
    }
    // Descriptions of tools contain no files and are long.
    const json = Array.isArray(value) ? toolsJson(value) : JSON.stringify(withoutBinary(value))
    if (json === undefined) continue
    fields.push(json.length < MIN_PART_CHARACTERS ? { name, json } : { name, part: take(json) })
  }
  return fields
}

/** Hashes of long texts, mostly the tools of many requests: a lookup takes a fraction of the time that hashing takes. */
const hashes = new LRUCache<string, string>({ max: 24 })
const MIN_REMEMBERED_CHARACTERS = 8_000

/** Returns a hash of the text's content. */
export function hashOf(text: string): string {
  const isLong = text.length >= MIN_REMEMBERED_CHARACTERS
  const known = isLong ? hashes.get(text) : undefined
  if (known !== undefined) return known
  const name = hash('sha256', text, 'base64url').slice(0, 22)
  if (isLong) hashes.set(text, name)
  return name
}

/** Replaces binary content. Returns the same value if there is none. */
function withoutBinary(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return shortened(value, name)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items: unknown[] = value
    const kept = items.map((item) => withoutBinary(item))
    return kept.some((item, at) => item !== items[at]) ? kept : value
  }
  let changed: Record<string, unknown> | undefined
  for (const [key, item] of Object.entries(value)) {
    const kept = withoutBinary(item, key)
    if (kept === item) continue
    changed ??= { ...value }
    changed[key] = kept
  }
  return changed ?? value
}

function shortened(text: string, name: string): string {
  if (text.length <= MAX_BINARY_CHARACTERS) return text
  if (BINARY_FIELDS.has(name)) return `[${text.length} characters, ${fingerprint(text)}]`
  if (!text.startsWith('data:')) return text
  const end = text.indexOf(';base64,')
  if (end < 0 || end > 100) return text
  const bytes = Math.floor(((text.length - end - 8) * 3) / 4)
  return `${text.slice(0, end)};[${bytes} bytes, ${fingerprint(text)}]`
}

const fingerprint = (text: string): string =>
  hashOf(text.length + text.slice(0, SAMPLE_CHARACTERS) + text.slice(-SAMPLE_CHARACTERS)).slice(
    0,
    12,
  )
