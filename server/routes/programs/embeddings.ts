// The route for embeddings, in OpenAI's format.
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import { programModelName, readModelName } from '../../openai-api/names.ts'
import { EmbeddingList, EmbeddingsBody } from '../../protocol/openai/embeddings.ts'
import type { Services } from '../../services.ts'
import { untilClientLeaves } from './program-runs.ts'

/** 32-bit floating-point numbers, little-endian, as OpenAI's packages read them. */
const base64Of = (vector: readonly number[]): string => {
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4)
  return bytes.toString('base64')
}

/** The JSON of the list, one vector at a time: two thousand of them are millions of numbers. */
function* jsonOf(
  list: Omit<EmbeddingList, 'data'>,
  vectors: readonly (readonly number[])[],
  isBase64: boolean,
): Generator<string, void, undefined> {
  yield `${JSON.stringify(list).slice(0, -1)},"data":[`
  for (const [index, vector] of vectors.entries()) {
    const embedding = isBase64 ? base64Of(vector) : [...vector]
    const item: EmbeddingList['data'][number] = { object: 'embedding', index, embedding }
    yield (index === 0 ? '' : ',') + JSON.stringify(item)
  }
  yield ']}'
}

const sendPieces = (reply: FastifyReply, pieces: Iterable<string>): FastifyReply =>
  reply.type('application/json; charset=utf-8').send(Readable.from(pieces))

/** `/v1/embeddings`. */
export function registerEmbeddingRoutes(
  app: App,
  { embeddings }: Pick<Services, 'embeddings'>,
): void {
  app.post(
    '/v1/embeddings',
    {
      schema: {
        summary: 'Compute embeddings with the configured endpoint, in the format of OpenAI',
        tags: ['openai'],
        body: EmbeddingsBody,
        response: { 200: EmbeddingList },
      },
    },
    async ({ user, body }, reply) => {
      if (embeddings === undefined) throw appError('embeddings_off', {})
      const { model } = embeddings
      if (readModelName(body.model).id !== model)
        throw appError('unknown_model', {
          model: body.model,
          available: [programModelName(model)],
        })
      const { vectors, tokens } = await embeddings.embed(user.id, [body.input].flat(), {
        dimensions: body.dimensions,
        signal: untilClientLeaves(reply),
      })
      const list = {
        object: 'list' as const,
        model: programModelName(model),
        usage: { prompt_tokens: tokens, total_tokens: tokens },
      }
      return sendPieces(reply, jsonOf(list, vectors, body.encoding_format === 'base64'))
    },
  )
}
