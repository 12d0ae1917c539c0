// The images API for programs: what they send goes to the configured service, and its response back.
import { z } from 'zod'
import { appError } from '../errors.ts'
import type { Amount } from '../lib/reserve-call.ts'
import type { UserId } from '../protocol/ids.ts'
import type { FormFields, ImageBody } from '../protocol/openai/media.ts'
import { cutImages } from './cut-images.ts'
import type { MediaResponse, MediaService } from './media-service.ts'
import type { Charge, PaidCalls } from './paid-calls.ts'

/** Per token if the service reports tokens, otherwise per image. */
export interface ProgramImagePrice {
  currency: string
  image?: number | undefined
  /** Of a million tokens. */
  input?: number | undefined
  output?: number | undefined
}

/** An image or a mask of a form. */
export interface SentImage {
  field: string
  name: string
  mime: string
  bytes: Uint8Array
}

/** Images for the programs of users. */
export interface ProgramImages {
  readonly model: string
  /** @throws AppError why the service or the user's budget refuses. */
  generate(userId: UserId, body: ImageBody, signal: AbortSignal): Promise<MediaResponse>
  /** @throws AppError like `generate`. */
  edit(
    userId: UserId,
    form: { fields: FormFields; images: readonly SentImage[] },
    signal: AbortSignal,
  ): Promise<MediaResponse>
}

/** What is checked of the form of `/v1/images/edits`. */
const EditFields = z.object({
  n: z.coerce.number().int().min(1).max(10).default(1),
  stream: z.literal('false', { error: 'images are not streamed' }).optional(),
})

const MAX_RESPONSE_BYTES = 64_000_000

const count = z.number().min(0).catch(0)
const Answer = z.object({
  data: z.array(z.unknown()).catch([]),
  usage: z.object({ input_tokens: count, output_tokens: count }).nullish().catch(null),
})

function answerOf(body: Buffer): z.infer<typeof Answer> {
  const { text } = cutImages(body)
  try {
    return Answer.parse(JSON.parse(text))
  } catch {
    return { data: [], usage: null } // the program gets whatever the service has sent
  }
}

export function createProgramImages({
  model,
  price,
  timeoutMs,
  send,
  paid,
}: {
  model: string
  price: ProgramImagePrice | undefined
  timeoutMs: number
  send: MediaService
  paid: PaidCalls
}): ProgramImages {
  const chargeOf = (images: number, usage: z.infer<typeof Answer>['usage']): Charge => {
    const [input, output] = [usage?.input_tokens ?? 0, usage?.output_tokens ?? 0]
    if (price === undefined) return { input, output, cost: 0, currency: '' }
    const hasRates = usage != null && (price.input ?? price.output) !== undefined
    const cost = hasRates
      ? (input * (price.input ?? 0) + output * (price.output ?? 0)) / 1e6
      : images * (price.image ?? 0)
    return { input, output, cost, currency: price.currency }
  }

  const request = async (
    userId: UserId,
    path: string,
    body: object | FormData,
    wanted: number,
    signal: AbortSignal,
  ): Promise<MediaResponse> => {
    const { cost, currency } = chargeOf(wanted, null)
    const estimate: Amount = { tokens: 0, cost, currency }
    return await paid.pay(userId, model, estimate, signal, async () => {
      const result = await send(
        (client, aborted) => client.post(path, { body, signal: aborted }).asResponse(),
        { signal, timeoutMs, maxBytes: MAX_RESPONSE_BYTES },
      )
      const { data, usage } = answerOf(result.body)
      return { result, charge: chargeOf(data.length, usage) }
    })
  }

  return {
    model,
    generate: (userId, body, signal) =>
      request(userId, '/images/generations', { ...body, model }, body.n ?? 1, signal),
    edit(userId, { fields, images }, signal) {
      // As for generations: what cannot be counted cannot be charged.
      const asked = EditFields.safeParse(fields)
      if (!asked.success)
        throw appError('request_field_invalid', {
          part: 'form',
          detail: z.prettifyError(asked.error),
        })
      const form = new FormData()
      for (const [name, value] of Object.entries({ ...fields, model })) form.append(name, value)
      for (const { field, name, mime, bytes } of images)
        form.append(field, new Blob([new Uint8Array(bytes)], { type: mime }), name)
      return request(userId, '/images/edits', form, asked.data.n, signal)
    },
  }
}
