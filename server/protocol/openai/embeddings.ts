// Embeddings on the wire, as OpenAI defines them: https://platform.openai.com/docs/api-reference/embeddings.
import { z } from 'zod'
import { optional } from '../envelope.ts'

const MAX_TEXTS = 2_048

/** The body of `POST /v1/embeddings`. */
export const EmbeddingsBody = z
  .object({
    model: z.string().min(1).max(210),
    input: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(MAX_TEXTS)], {
      error: 'must be a text or texts; tokens are not supported',
    }),
    encoding_format: optional(z.enum(['float', 'base64'])),
    dimensions: optional(z.int().min(1).max(20_000)),
  })
  .meta({ id: 'EmbeddingsRequest' })
export type EmbeddingsBody = z.infer<typeof EmbeddingsBody>

/** The response of `POST /v1/embeddings`. */
export const EmbeddingList = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        object: z.literal('embedding'),
        index: z.int(),
        /** As base64: 32-bit floating-point numbers, little-endian. */
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
    model: z.string(),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  })
  .meta({ id: 'EmbeddingList' })
export type EmbeddingList = z.infer<typeof EmbeddingList>
