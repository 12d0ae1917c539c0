// The names that the OpenTelemetry conventions give to providers of models.

/** Part of a host name, and the `gen_ai.provider.name` of whoever serves there. */
const PROVIDER_NAMES: readonly (readonly [string, string])[] = [
  ['openai.azure.com', 'azure.ai.openai'],
  ['api.openai.com', 'openai'],
  ['anthropic.com', 'anthropic'],
  ['aiplatform.googleapis.com', 'gcp.vertex_ai'],
  ['generativelanguage.googleapis.com', 'gcp.gemini'],
  ['deepseek.com', 'deepseek'],
  ['mistral.ai', 'mistral_ai'],
  ['x.ai', 'x_ai'],
  ['groq.com', 'groq'],
  ['moonshot', 'moonshot_ai'],
  ['cohere', 'cohere'],
  ['perplexity.ai', 'perplexity'],
  ['amazonaws.com', 'aws.bedrock'],
]

/** A provider without a name of its own is named by its host. @param url the address of the API; undefined: unknown. */
export function providerName(url: string | undefined): string {
  if (url === undefined || !URL.canParse(url)) return 'unknown'
  const { hostname } = new URL(url)
  const known = PROVIDER_NAMES.find(
    ([host]) => hostname === host || hostname.endsWith(`.${host}`) || hostname.includes(`${host}.`),
  )
  return known?.[1] ?? hostname
}
