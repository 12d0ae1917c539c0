// Compares the prompt of a model call with the previous one: where a provider's cache ends, and what it must read again.
import { z } from 'zod'
import type { Price } from '../../../protocol/models/catalog.ts'
import { estimateTokens } from '../../../protocol/models/token-estimate.ts'
import type { PromptChange, RecordedExchange } from '../../../protocol/runs/run-record.ts'
import { ratesOf } from '../../usage/call-cost.ts'

/** The order in which providers read a prompt. Other fields are options. */
const PROMPT_ORDER: readonly (readonly string[])[] = [
  ['tools'],
  ['system', 'instructions'],
  ['messages', 'input'],
]
/** Options that do not influence the answer. */
const UNIMPORTANT: ReadonlySet<string> = new Set(['model', 'stream', 'stream_options'])

/** One part of a prompt. */
interface Item {
  field: string
  index: number | null
  hash: string | null
  json: string
  /** Equal for parts that a cache treats as the same. */
  key: string
}

/** A call to compare. */
export interface ComparedCall {
  exchange: RecordedExchange
  /** The JSON text of a part; undefined if it is no longer stored. */
  jsonOf(hash: string): string | undefined
}

/** The change, without the number of the call that it is compared with. */
export type Difference = Omit<PromptChange, 'previous'>

/** @param price the price of the requested model; null if it has none. */
export function comparePrompts(
  before: ComparedCall,
  after: ComparedCall,
  price: Price | null,
): Difference {
  const [old, current] = [itemsOf(before), itemsOf(after)]
  const isOther =
    before.exchange.model !== after.exchange.model || before.exchange.url !== after.exchange.url
  const end = Math.min(old.length, current.length)
  let at = 0
  while (at < end && old[at]?.key === current[at]?.key) at += 1
  const estimated = tokensOf(current)
  // The provider's count is exact for the whole prompt. Estimates of parts are scaled to it.
  const counted = after.exchange.response.usage?.prompt_tokens ?? estimated
  const scaled = (items: readonly Item[]): number =>
    estimated === 0 ? 0 : Math.round((tokensOf(items) / estimated) * counted)
  const resent = scaled(repeated(old, current, isOther ? 0 : at))
  return {
    other_model: isOther,
    prompt_tokens: counted,
    same_tokens: scaled(current.slice(0, at)),
    first: at === old.length ? null : firstChange(old, current, at),
    options: changedOptions(before, after),
    resent_tokens: resent,
    extra_cost: extraCost(price, counted, resent),
  }
}

const tokensOf = (items: readonly Item[]): number =>
  items.reduce((sum, { json }) => sum + estimateTokens(json), 0)

function itemsOf({ exchange, jsonOf }: ComparedCall): Item[] {
  return PROMPT_ORDER.flatMap((names) =>
    exchange.body
      .filter(({ name }) => names.includes(name))
      .flatMap((field): Item[] => {
        const item = (hash: string, index: number | null): Item => {
          const json = jsonOf(hash)
          const key = json === undefined ? hash : keyOf(json)
          return { field: field.name, index, hash, json: json ?? '', key: `${field.name} ${key}` }
        }
        if ('json' in field) {
          const { name, json } = field
          return [{ field: name, index: null, hash: null, json, key: `${name} ${json}` }]
        }
        return 'part' in field
          ? [item(field.part, null)]
          : field.parts.map((hash, index) => item(hash, index))
      }),
  )
}

/** Cache marks move with each call, but do not change the cached content. */
const CACHE_MARK = /,?"cache_control":\{[^{}]*\}/g
const keyOf = (json: string): string =>
  json.includes('"cache_control"') ? json.replace(CACHE_MARK, '') : json

/** The parts from an index on that were sent before. */
function repeated(old: readonly Item[], current: readonly Item[], from: number): Item[] {
  const left = new Map<string, number>()
  for (const { key } of old.slice(from)) left.set(key, (left.get(key) ?? 0) + 1)
  return current.slice(from).filter(({ key }) => {
    const count = left.get(key) ?? 0
    left.set(key, count - 1)
    return count > 0
  })
}

function firstChange(
  old: readonly Item[],
  current: readonly Item[],
  at: number,
): Difference['first'] {
  const [was, is] = [old[at], current[at]]
  const holds = (items: readonly Item[], one: Item | undefined): boolean =>
    one !== undefined && items.slice(at).some(({ key }) => key === one.key)
  const isAdded = is !== undefined && holds(current, was)
  const isRemoved = !isAdded && (is === undefined || holds(old, is) || was?.field !== is.field)
  const place = (isRemoved ? was : is) ?? was
  return {
    field: place?.field ?? '',
    index: place?.index ?? null,
    kind: isAdded ? 'added' : isRemoved ? 'removed' : 'changed',
    before: isAdded ? null : (was?.hash ?? null),
    after: isRemoved ? null : (is?.hash ?? null),
    tools:
      place?.field === 'tools'
        ? compareTools(isAdded ? '[]' : (was?.json ?? '[]'), isRemoved ? '[]' : (is?.json ?? '[]'))
        : null,
  }
}

const Named = z.looseObject({
  name: z.string().optional(),
  function: z.looseObject({ name: z.string() }).optional(),
})

/** The tools of a request by name; tools without a name are left out. */
function toolsByName(json: string): Map<string, string> {
  const { data = [] } = z.array(z.unknown()).safeParse(parsed(json))
  return new Map(
    data.flatMap((tool) => {
      const { data: named } = Named.safeParse(tool)
      const name = named?.function?.name ?? named?.name
      return name === undefined ? [] : [[name, keyOf(JSON.stringify(tool))]]
    }),
  )
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    // The stored text is cut, so it is not valid JSON.
    return []
  }
}

function compareTools(before: string, after: string): NonNullable<Difference['first']>['tools'] {
  const [old, current] = [toolsByName(before), toolsByName(after)]
  return {
    added: [...current.keys()].filter((name) => !old.has(name)),
    removed: [...old.keys()].filter((name) => !current.has(name)),
    changed: [...current].flatMap(([name, json]) =>
      old.has(name) && old.get(name) !== json ? [name] : [],
    ),
  }
}

function changedOptions(before: ComparedCall, after: ComparedCall): string[] {
  const prompt = new Set(PROMPT_ORDER.flat())
  const optionsOf = ({ exchange }: ComparedCall): Map<string, string> =>
    new Map(
      exchange.body
        .filter(({ name }) => !prompt.has(name) && !UNIMPORTANT.has(name))
        .map((field) => [field.name, JSON.stringify(field)]),
    )
  const [old, current] = [optionsOf(before), optionsOf(after)]
  return [...new Set([...old.keys(), ...current.keys()])].filter(
    (name) => old.get(name) !== current.get(name),
  )
}

function extraCost(
  price: Price | null,
  promptTokens: number,
  resent: number,
): Record<string, number> {
  if (price === null) return {}
  const { input, cached_input: cached } = ratesOf(price, promptTokens)
  if (cached === undefined || resent === 0) return {}
  return { [price.currency]: (Math.max(0, input - cached) * resent) / 1e6 }
}
