// Services that speak OpenAI's format (images, embeddings, speech), through the official package over the guarded fetch.
// Answers are not among them: their reader, on the hot path, is in `llm`.
import type OpenAI from 'openai'
import type { FetchOptions, GuardedFetch } from './guarded-fetch.ts'

/** A configured service. */
export interface OpenAiService {
  /** The base URL of its API, or the full URL of one of its `endpoints`. */
  apiUrl: string
  apiKey: string | undefined
}

/** What a request may take. */
export type ServiceLimits = Required<Pick<FetchOptions, 'signal' | 'timeoutMs' | 'maxBytes'>>

/** The base URL of a service whose configured URL may end with one of these paths, such as `/embeddings`. */
export function serviceBase(apiUrl: string, endpoints: readonly string[]): string {
  const base = apiUrl.replace(/\/+$/, '')
  const endpoint = endpoints.find((path) => base.endsWith(path))
  return endpoint === undefined ? base : base.slice(0, -endpoint.length)
}

/**
 * The client for one request, which is sent once: whoever wants a repetition decides so. Loaded when it is first needed.
 * @param baseUrl see `serviceBase`.
 */
export async function openAiClient(
  { apiUrl: baseURL, apiKey }: OpenAiService,
  fetch: GuardedFetch,
  limits: ServiceLimits,
): Promise<OpenAI> {
  const { default: Client } = await import('openai')
  return new Client({
    baseURL,
    apiKey: apiKey ?? 'none',
    // Otherwise the package reads them from the environment.
    organization: null,
    project: null,
    adminAPIKey: null,
    webhookSecret: null,
    logLevel: 'off',
    maxRetries: 0,
    timeout: limits.timeoutMs,
    fetch: guarded(fetch, apiKey, limits),
  })
}

/** What the package itself sends. Others come from `OPENAI_CUSTOM_HEADERS`, which may hold a key of another service. */
const OWN_HEADER = /^(?:accept|content-type|user-agent|x-stainless-[\w-]+)$/

/** The guarded fetch in the form that the package expects. A response beyond the limit is a failure, never cut. */
const guarded =
  (fetch: GuardedFetch, apiKey: string | undefined, limits: ServiceLimits) =>
  async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init)
    // Forms are written here: their length is then known, which some servers require.
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
    const outcome = await fetch(request.url, {
      ...limits,
      method: request.method === 'GET' ? 'GET' : 'POST',
      headers: {
        ...Object.fromEntries([...request.headers].filter(([name]) => OWN_HEADER.test(name))),
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      trusted: true,
      ...(body === undefined ? {} : { body }),
    })
    if (!outcome.ok) throw new ServiceUnreachable(outcome.error)
    if (outcome.truncated) throw new ServiceUnreachable('The response is too large.')
    const { 'content-encoding': _decoded, 'content-length': _length, ...headers } = outcome.headers
    return new Response(new Uint8Array(outcome.body), { status: outcome.status, headers })
  }

/** A service that gave no response. The message names neither an address nor a key. */
class ServiceUnreachable extends Error {}

/** Why a request failed. */
export type ServiceFault =
  | { kind: 'silent'; message: string }
  /** `body`: the parsed error body, as far as it has one. */
  | { kind: 'refused'; status: number; message: string; body: unknown; headers: Headers }

/** What an error of the package means; null for one that does not come from the service. */
export async function serviceFault(error: unknown): Promise<ServiceFault | null> {
  const { APIError } = await import('openai')
  if (!(error instanceof APIError)) return null
  const { status, message, error: body, cause } = error
  if (status === undefined || error.headers === undefined)
    return { kind: 'silent', message: cause instanceof Error ? cause.message : message }
  return { kind: 'refused', status, message, body: { error: body }, headers: error.headers }
}
