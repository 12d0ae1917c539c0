// The names of model providers in the OpenTelemetry conventions.

/** Part of a host name, and the `gen_ai.provider.name` of the provider there. */
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

/**
 * The name of a provider; its host name if the conventions have none. @param url the address of the API; undefined:
 * unknown.
 */
export function providerName(url: string | undefined): string {
  if (url === undefined || !URL.canParse(url)) return 'unknown'
  const { hostname } = new URL(url)
  const known = PROVIDER_NAMES.find(
    ([host]) => hostname === host || hostname.endsWith(`.${host}`) || hostname.includes(`${host}.`),
  )
  return known?.[1] ?? hostname
}
