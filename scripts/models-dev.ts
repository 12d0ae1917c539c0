// Turns the catalog of models.dev into the text of the model table.
import { z } from 'zod'
import type { TableRow } from '../server/llm/model-table.ts'

/** The providers of the table by their id at models.dev, with the start of their API's URL if models.dev has none. */
const PROVIDERS: Readonly<Record<string, string | undefined>> = {
  openai: 'api.openai.com',
  anthropic: 'api.anthropic.com',
  google: 'generativelanguage.googleapis.com',
  deepseek: undefined,
  zhipuai: undefined,
  zai: undefined,
  moonshotai: undefined,
  'moonshotai-cn': undefined,
  openrouter: undefined,
  mistral: 'api.mistral.ai',
  xai: 'api.x.ai',
  groq: 'api.groq.com',
  cerebras: 'api.cerebras.ai',
  togetherai: 'api.together.xyz',
  deepinfra: 'api.deepinfra.com',
  cohere: 'api.cohere.ai',
  perplexity: 'api.perplexity.ai',
  'fireworks-ai': undefined,
  alibaba: undefined,
  'alibaba-cn': undefined,
  siliconflow: undefined,
  'siliconflow-cn': undefined,
  minimax: 'api.minimax.io',
  'minimax-cn': 'api.minimaxi.com',
  stepfun: undefined,
  xiaomi: undefined,
}

const Prices = z.object({
  input: z.number(),
  output: z.number(),
  cache_read: z.number().optional(),
  cache_write: z.number().optional(),
  reasoning: z.number().optional(),
})
const Model = z.object({
  family: z.string().default(''),
  reasoning: z.boolean().default(false),
  tool_call: z.boolean().default(false),
  temperature: z.boolean().default(true),
  interleaved: z.union([z.boolean(), z.object({ field: z.string() })]).optional(),
  modalities: z.object({ input: z.array(z.string()), output: z.array(z.string()) }),
  limit: z.object({ context: z.number(), input: z.number().optional(), output: z.number() }),
  cost: Prices.extend({
    tiers: z.array(Prices.extend({ tier: z.object({ size: z.number() }) })).optional(),
  }).optional(),
})
const Catalog = z.record(
  z.string(),
  z.object({ api: z.string().optional(), models: z.record(z.string(), z.unknown()) }),
)

const pricesOf = ({ input, output, ...more }: z.infer<typeof Prices>) => ({
  input,
  output,
  ...(more.cache_read === undefined ? {} : { cached_input: more.cache_read }),
  ...(more.cache_write === undefined ? {} : { cache_write: more.cache_write }),
  ...(more.reasoning === undefined ? {} : { reasoning: more.reasoning }),
})

/** Embedding models have the modalities of a chat model; most can be recognized by their name or family. */
const isEmbedding = (id: string, { family, cost }: z.infer<typeof Model>): boolean =>
  /embed/i.test(`${id} ${family}`) ||
  // Models that charge only for input produce no text.
  (cost !== undefined && cost.input > 0 && cost.output === 0)

/** Null if it is not a chat model or cannot be read. */
function rowOf(
  provider: string,
  id: string,
  value: unknown,
  leftOut: (model: string) => void,
): TableRow | null {
  const parsed = Model.safeParse(value)
  if (!parsed.success) {
    leftOut(`${provider} ${id}`)
    return null
  }
  const { limit, modalities, cost, ...model } = parsed.data
  const isChat = modalities.input.includes('text') && modalities.output.includes('text')
  if (!isChat || limit.output === 0 || isEmbedding(id, parsed.data)) return null
  const reads = typeof model.interleaved === 'object' ? model.interleaved.field : ''
  return {
    provider,
    id,
    // A separate limit on the input takes precedence: the conversation must fit into it.
    window: limit.input ?? limit.context,
    output: limit.output,
    can: [
      ...(modalities.input.includes('image') ? (['image'] as const) : []),
      ...(modalities.input.includes('pdf') ? (['pdf'] as const) : []),
      ...(model.reasoning ? (['reason'] as const) : []),
      ...(model.tool_call ? (['call'] as const) : []),
      ...(model.temperature ? (['temperature'] as const) : []),
    ],
    ...(reads === 'reasoning_content' ? { reasoning_back: true } : {}),
    ...(cost === undefined
      ? {}
      : {
          price: {
            ...pricesOf(cost),
            ...(cost.tiers === undefined
              ? {}
              : {
                  tiers: cost.tiers.map(({ tier, ...tierCost }) => ({
                    above: tier.size,
                    ...pricesOf(tierCost),
                  })),
                }),
          },
        }),
  }
}

/**
 * The JSON text of the table: one model per line, sorted, so that a refresh shows up as changed lines.
 * @param leftOut called with each model that cannot be read.
 * @throws if the catalog has an unknown format, or a provider of the table has no URL.
 */
export function modelTableText(
  source: unknown,
  leftOut: (model: string) => void,
): { text: string; models: number } {
  const catalog = Catalog.parse(source)
  const addresses = Object.entries(PROVIDERS).map(([id, address]) => {
    const found = address ?? catalog[id]?.api
    if (found === undefined) throw new Error(`No address for ${id}.`)
    return [id, found.replace(/^https:\/\//, '').replace(/\/+$/, '')] as const
  })
  const rows = Object.keys(PROVIDERS).flatMap((provider) =>
    Object.entries(catalog[provider]?.models ?? {})
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .flatMap(([id, model]) => rowOf(provider, id, model, leftOut) ?? []),
  )
  const lines = rows.map((row) => `    ${JSON.stringify(row)}`)
  const text = `{
  "source": "https://models.dev (https://github.com/anomalyco/models.dev), MIT License, Copyright (c) 2025 models.dev",
  "addresses": ${JSON.stringify(Object.fromEntries(addresses))},
  "models": [
${lines.join(',\n')}
  ]
}
`
  return { text, models: rows.length }
}
