// Data that a provider requires back, unchanged, with its own message. Only the client that received it can read it.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { oncePer } from '../lib/once-per.ts'
import type { ModelSettings } from '../protocol/models/catalog.ts'

/**
 * Signatures, encrypted reasoning and the like, as JSON text. Stored with the tool calls that it arrived with, and sent
 * back only to the model and endpoint that created it. Never shown, exported, shared or logged.
 */
export type Carry = string

const Sealed = z.object({ source: z.string(), value: z.unknown() })

/** Larger data is dropped. Providers send a few kilobytes. */
const MAX_CARRY_CHARACTERS = 2_000_000

type NamedModel = Pick<ModelSettings, 'id' | 'api_url' | 'upstream_model'>

/** Cached by wire format, because every request needs it. */
const sourcesOf = oncePer((_settings: NamedModel) => new Map<string, string>())

/** Identifies a model at an endpoint without revealing either. `api` is the wire format. */
export function carrySource(api: string, settings: NamedModel): string {
  const sources = sourcesOf(settings)
  const known = sources.get(api)
  if (known !== undefined) return known
  const source = hashOf(api, settings)
  sources.set(api, source)
  return source
}

function hashOf(api: string, settings: NamedModel): string {
  const { origin, pathname } = new URL(settings.api_url)
  const parts = [api, origin, pathname.replace(/\/+$/, ''), settings.upstream_model ?? settings.id]
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 32)
}

/** Undefined if there is nothing to carry, or too much. */
export function sealCarry(source: string, value: unknown): Carry | undefined {
  if (value === undefined) return undefined
  const sealed = JSON.stringify({ source, value })
  return sealed.length > MAX_CARRY_CHARACTERS ? undefined : sealed
}

/** Returns the value if `source` sealed it; undefined if another model or endpoint did. */
export function openCarry(carry: Carry | undefined, source: string): unknown {
  if (carry === undefined) return undefined
  try {
    const sealed = Sealed.parse(JSON.parse(carry))
    return sealed.source === source ? sealed.value : undefined
  } catch {
    return undefined
  }
}
