// Facts about models of well-known providers: a snapshot of models.dev, refreshed by `npm run refresh-models`.
import { z } from 'zod'
import { oncePer } from '../lib/once-per.ts'
import { type ModelSettings, Price } from '../protocol/models/catalog.ts'
import table from './model-table.json' with { type: 'json' }
import { apiOf, compatOf, providerOf } from './provider-quirks.ts'

const TablePrice = Price.omit({ currency: true })

/** Facts about a model, from models.dev; see `scripts/refresh-models.ts`. */
const TableRow = z.object({
  /** The provider's id at models.dev. */
  provider: z.string(),
  id: z.string(),
  /** Context window in tokens. */
  window: z.number(),
  /** Maximum length of an answer in tokens. */
  output: z.number(),
  can: z.array(z.enum(['image', 'pdf', 'reason', 'call', 'temperature'])),
  /** Whether the provider requires the `reasoning_content` of calls back. */
  reasoning_back: z.boolean().optional(),
  /** US dollars per million tokens. */
  price: TablePrice.optional(),
})
/** Facts about one model of a known provider. Absent fields are unknown; `window` and `output` are in tokens. */
export type TableRow = z.infer<typeof TableRow>

/** Names of providers in settings that differ from those at models.dev. */
const ALIASES: Readonly<Record<string, string>> = {
  glm: 'zhipuai',
  moonshot: 'moonshotai',
  gemini: 'google',
  qwen: 'alibaba',
}

const keyOf = (provider: string, id: string): string => `${provider} ${id.toLowerCase()}`

/** The beginning of each provider's address, without the scheme. */
const addresses = Object.entries(table.addresses)
/** Rows are parsed on demand: parsing all of them would block the event loop for too long. */
const rows = new Map<string, unknown>(table.models.map((row) => [keyOf(row.provider, row.id), row]))
const found = new Map<string, TableRow>()

function rowAt(key: string): TableRow | undefined {
  const value = rows.get(key)
  if (value === undefined) return undefined
  const row = found.get(key) ?? TableRow.parse(value)
  found.set(key, row)
  return row
}

type NamedModel = Readonly<Pick<ModelSettings, 'id' | 'api_url' | 'provider' | 'upstream_model'>>

/**
 * The row of a model, by the address of its API or else by the provider that the settings name. Undefined for models that
 * are not in the table: another server may serve a model of the same name with other limits and prices. Cached, because every
 * request to a model needs its row.
 */
export const findModelRow = oncePer((settings: NamedModel): TableRow | undefined => {
  const provider = providerAt(settings.api_url) ?? namedProvider(settings.provider)
  if (provider === undefined) return undefined
  // Gemini's ids may have a prefix, and an id with a date usually is the table's model.
  const id = (settings.upstream_model ?? settings.id).replace(/^models\//, '')
  const withoutDay = id.replace(/-(\d{8}|\d{4}-\d\d-\d\d)$/, '')
  return rowAt(keyOf(provider, id)) ?? rowAt(keyOf(provider, withoutDay))
})

/**
 * The row of a model at the provider that its URL names: behind a gateway, limits and prices may be others, but the longest
 * answer is at least that of the provider.
 */
export const rowOfProvider = oncePer((settings: NamedModel): TableRow | undefined =>
  findModelRow({ ...settings, provider: providerOf(settings) }),
)

/** How gateways name providers of the table. */
const GATEWAY_NAMES: Readonly<Record<string, string>> = ALIASES

/** Providers whose models run nowhere else: a gateway that offers one under its plain name forwards to them. */
const SOLE_PROVIDERS: readonly [RegExp, string][] = [
  [/^(gpt-\d|o\d)/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'google'],
  [/^grok-/, 'xai'],
]

/**
 * The row that a gateway's name for a model refers to: `anthropic/claude-sonnet-5`, `claude-sonnet-5`. Suggest this guess,
 * but do not rely on it. Files of open models have such names, too, but most of those contain capitals, so the case must
 * match.
 */
export function guessModelRow(name: string): TableRow | undefined {
  const slash = name.indexOf('/')
  const prefix = name.slice(0, Math.max(0, slash))
  const id = name.slice(slash + 1)
  const provider =
    slash === -1
      ? SOLE_PROVIDERS.find(([named]) => named.test(name))?.[1]
      : (GATEWAY_NAMES[prefix] ?? prefix)
  const row = provider === undefined ? undefined : rowAt(keyOf(provider, id))
  return row?.id === id ? row : undefined
}

function providerAt(apiUrl: string): string | undefined {
  const { host, pathname } = new URL(apiUrl)
  const address = `${host}${pathname}/`
  return addresses.find(([, beginning]) => address.startsWith(`${beginning}/`))?.[0]
}

/** `openai` means every compatible API, so it identifies no provider. */
const namedProvider = (provider: string | undefined): string | undefined =>
  provider === undefined || provider === 'openai' ? undefined : (ALIASES[provider] ?? provider)

/** Models that reason often refuse a temperature. */
export const takesTemperature = (row: TableRow | undefined): boolean =>
  row === undefined || row.can.includes('temperature')

/** Chat completions of most providers cannot contain files. */
const takesPdf = (settings: ModelSettings): boolean =>
  apiOf(settings) !== 'chat' || compatOf(settings).files === true

/** The settings, completed with facts from the table. */
export function withTableFacts(settings: ModelSettings): ModelSettings {
  const row = findModelRow(settings)
  if (row === undefined) return settings
  const can = (what: TableRow['can'][number]) => row.can.includes(what)
  return {
    ...settings,
    vision: settings.vision ?? can('image'),
    pdf: settings.pdf ?? (can('pdf') && takesPdf(settings)),
    thinking: settings.thinking ?? can('reason'),
    context_window: settings.context_window ?? row.window,
    ...(settings.price === undefined ? priceOf(row) : {}),
  }
}

/** The price of a model, as a part of its settings. */
export const priceOf = ({ price }: TableRow): Pick<ModelSettings, 'price'> =>
  price === undefined ? {} : { price: { ...price, currency: 'USD' } }
