// A client for the OpenAI images API and compatible servers: creates an image from a text, or edits images.
import { z } from 'zod'
import { cutImages } from '../../../media/cut-images.ts'
import type { GuardedFetch } from '../../../net/guarded-fetch.ts'
import { openAiClient, serviceBase, serviceFault } from '../../../net/openai-service.ts'

/** A service with OpenAI's images API. */
export interface ImagesApiSettings {
  /** The base URL of the API, or the full `…/images/generations` URL. */
  apiUrl: string
  apiKey: string | undefined
  model: string
  timeoutMs: number
}

/** The requested image. Undefined fields are left to the service. */
export interface ImageRequest {
  prompt: string
  size?: string | undefined
  quality?: string | undefined
  background?: string | undefined
  /** Images to edit or to start from. */
  images: readonly { name: string; mime: string; bytes: Uint8Array }[]
}

/** Tokens that the service charges for an image, as reported by it. */
export interface ImageTokens {
  input: number
  output: number
}

/** `refusal`: the service refuses to create this image. `error` is a text for the model and the person, without keys. */
export type ImageOutcome =
  | { ok: true; bytes: Buffer; revisedPrompt: string | null; tokens: ImageTokens | null }
  | { ok: false; refusal: boolean; error: string }

/** Generates one image. */
export type ImagesApi = (request: ImageRequest, signal: AbortSignal) => Promise<ImageOutcome>

/** Maximum bytes of a response with an image as base64, and of an image behind a URL. */
const MAX_RESPONSE_BYTES = 32_000_000
const MAX_IMAGE_BYTES = 24_000_000
const DOWNLOAD_TIMEOUT_MS = 60_000
const MAX_ERROR_CHARACTERS = 500
const DECODED_AT_ONCE = 1_000_000

const count = z.number().min(0).catch(0)
const Answer = z.object({
  data: z
    .array(
      z.object({
        url: z.string().nullish().catch(null),
        revised_prompt: z.string().nullish().catch(null),
      }),
    )
    .min(1),
  usage: z.object({ input_tokens: count, output_tokens: count }).nullish().catch(null),
})
const Refusal = z.object({
  error: z.union([
    z.string().transform((message) => ({ message, code: null, param: null })),
    z.object({
      message: z.string(),
      code: z.union([z.string(), z.number()]).nullish(),
      param: z.string().nullish(),
    }),
  ]),
})

/** What the service answered; `status` is null if it did not. */
type Reply = { status: number; body: Buffer } | { status: null; error: string }

function formOf(fields: object, images: ImageRequest['images']): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined) form.append(name, String(value))
  const field = images.length === 1 ? 'image' : 'image[]'
  for (const { name, mime, bytes } of images)
    form.append(field, new Blob([new Uint8Array(bytes)], { type: mime }), name)
  return form
}

/** Codes for refused content, as OpenAI, Azure and compatible gateways use them. */
const POLICY = /content_policy|moderation|content_filter|safety/i

/** A refusal of the service is a result, not an exception: see `ImageOutcome`. */
export function createImagesApi(settings: ImagesApiSettings, fetch: GuardedFetch): ImagesApi {
  const { apiKey, timeoutMs } = settings
  const apiUrl = serviceBase(settings.apiUrl, ['/images/generations', '/images/edits'])
  const { origin, hostname } = new URL(apiUrl)

  const post = async (
    { images, ...wanted }: ImageRequest,
    signal: AbortSignal,
    asBase64: boolean,
  ): Promise<Reply> => {
    const fields = {
      model: settings.model,
      ...wanted,
      n: 1,
      ...(asBase64 ? { response_format: 'b64_json' } : {}),
    }
    const limits = { signal, timeoutMs, maxBytes: MAX_RESPONSE_BYTES }
    const client = await openAiClient({ apiUrl, apiKey }, fetch, limits)
    const path = images.length === 0 ? '/images/generations' : '/images/edits'
    try {
      const body = images.length === 0 ? fields : formOf(fields, images)
      const response = await client.post(path, { body, signal }).asResponse()
      return { status: response.status, body: Buffer.from(await response.arrayBuffer()) }
    } catch (error) {
      const fault = await serviceFault(error)
      if (fault === null) throw error
      if (fault.kind === 'silent') return { status: null, error: fault.message }
      return { status: fault.status, body: Buffer.from(JSON.stringify(fault.body)) }
    }
  }

  /** OpenAI's models that always answer with base64 refuse the field. Other servers answer with a URL without it. */
  async function ask(request: ImageRequest, signal: AbortSignal): Promise<Reply> {
    const asBase64 = hostname !== 'api.openai.com'
    const response = await post(request, signal, asBase64)
    if (!asBase64 || response.status !== 400) return response
    const { param, message } = refusalOf(response.body)
    return param === 'response_format' || message.includes('response_format')
      ? post(request, signal, false)
      : response
  }

  async function download(url: string, signal: AbortSignal): Promise<ImageOutcome | Buffer> {
    const response = await fetch(url, {
      signal,
      timeoutMs: DOWNLOAD_TIMEOUT_MS,
      maxBytes: MAX_IMAGE_BYTES,
      // A server in the operator's network returns URLs of its own origin. All others must be public.
      trusted: URL.canParse(url) && new URL(url).origin === origin,
    })
    if (!response.ok) return failure(`The image could not be downloaded: ${response.error}`)
    if (response.status !== 200)
      return failure(`The image could not be downloaded: HTTP ${response.status}`)
    return response.truncated ? TOO_LARGE : Buffer.from(response.body)
  }

  return async (request, signal) => {
    const response = await ask(request, signal)
    if (response.status === null)
      return failure(`The image service cannot be reached: ${response.error}`)
    if (response.status !== 200) return refused(response.status, response.body)
    const { text, images } = cutImages(response.body)
    const [encoded] = images.filter(({ length }) => length > 0)
    const answer = Answer.safeParse(parseJson(text))
    const [image] = answer.data?.data ?? []
    if (answer.data === undefined || image === undefined) return UNREADABLE
    const bytes =
      encoded !== undefined
        ? await decodeBase64(encoded)
        : image.url == null
          ? UNREADABLE
          : await download(image.url, signal)
    if (!Buffer.isBuffer(bytes)) return bytes
    const { usage } = answer.data
    const tokens = usage == null ? null : { input: usage.input_tokens, output: usage.output_tokens }
    return { ok: true, bytes, revisedPrompt: image.revised_prompt ?? null, tokens }
  }
}

const failure = (error: string): ImageOutcome => ({ ok: false, refusal: false, error })
const UNREADABLE = failure('The image service answered without an image.')
const TOO_LARGE = failure('The image is too large.')

function refused(status: number, body: Uint8Array): ImageOutcome {
  const { code, message } = refusalOf(body)
  if (POLICY.test(code)) return { ok: false, refusal: true, error: message }
  return failure(`The image service answered HTTP ${status}${message === '' ? '' : `: ${message}`}`)
}

/** What an error response says; empty if its format is unknown. */
function refusalOf(body: Uint8Array): { code: string; param: string; message: string } {
  const read = Refusal.safeParse(parseJson(new TextDecoder().decode(body.subarray(0, 20_000))))
  if (!read.success) return { code: '', param: '', message: '' }
  const { code, param, message } = read.data.error
  return {
    code: String(code ?? ''),
    param: param ?? '',
    message: message.slice(0, MAX_ERROR_CHARACTERS),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Decodes in pieces and yields to the event loop between them. */
async function decodeBase64(encoded: Buffer): Promise<Buffer> {
  // Some servers send a data URL, and some JSON writers escape slashes.
  const comma = encoded.subarray(0, 100).indexOf(',')
  const text = comma === -1 ? encoded : encoded.subarray(comma + 1)
  const plain = text.includes('\\')
    ? Buffer.from(text.toString('latin1').replaceAll('\\', ''))
    : text
  const pieces: Buffer[] = []
  for (let from = 0; from < plain.length; from += DECODED_AT_ONCE) {
    pieces.push(Buffer.from(plain.toString('latin1', from, from + DECODED_AT_ONCE), 'base64'))
    await new Promise((resolve) => setImmediate(resolve))
  }
  return Buffer.concat(pieces)
}
