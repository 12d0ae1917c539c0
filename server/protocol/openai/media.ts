// Speech and images on the wire, as OpenAI defines them; fields that only the service knows are passed on.
import { z } from 'zod'

const Model = z.string().min(1).max(210)

/** The body of `POST /v1/audio/speech`. */
export const SpeechBody = z
  .looseObject({
    model: Model,
    input: z.string().min(1).max(4_096),
    voice: z.union([z.string().min(1).max(200), z.looseObject({})]).optional(),
    response_format: z.string().max(20).optional(),
  })
  .meta({ id: 'SpeechRequest' })
export type SpeechBody = z.infer<typeof SpeechBody>

/** The body of `POST /v1/images/generations`. */
export const ImageBody = z
  .looseObject({
    model: Model.optional(),
    prompt: z.string().min(1).max(32_000),
    n: z.int().min(1).max(10).optional(),
    stream: z.literal(false, { error: 'images are not streamed' }).optional(),
  })
  .meta({ id: 'ImageRequest' })
export type ImageBody = z.infer<typeof ImageBody>

/** The fields of the forms of `POST /v1/audio/transcriptions`, `/v1/audio/translations` and `/v1/images/edits`. */
export const FormFields = z.record(z.string().max(100), z.string().max(32_000))
export type FormFields = z.infer<typeof FormFields>
