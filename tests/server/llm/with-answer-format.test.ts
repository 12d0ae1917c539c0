// What is remembered of a provider that refuses the form of an answer: nothing that depends on one program's schema.
import { expect, test } from 'vitest'
import { AppError } from '../../../server/errors.ts'
import type { LlmClient } from '../../../server/llm/client.ts'
import { NO_TOKENS } from '../../../server/llm/usage.ts'
import { withAnswerFormat } from '../../../server/llm/with-answer-format.ts'
import type { AnswerFormat } from '../../../server/protocol/runs/answer-format.ts'
import { llmRequest, outcome, readResponse } from '../../support/provider/llm.ts'

const schemaOf = (type: string): AnswerFormat => ({
  type: 'json_schema',
  name: 'answer',
  schema: { type },
})
const GOOD = schemaOf('object')
const BAD = schemaOf('unknown')

/** A client of a provider that refuses some forms, and what it was told in each call. */
function providerThat(refuses: (format: AnswerFormat | undefined) => boolean) {
  const told: string[] = []
  const client: LlmClient = {
    async *stream({ format, prose }) {
      told.push(format?.format.type ?? 'nothing')
      const error = new AppError('model_refused', 'The schema is not supported.')
      if (refuses(format?.format)) return yield { type: 'failed', error }
      await prose.append('text', '{}')
      yield { type: 'finished', reason: 'stop', usage: NO_TOKENS, estimated: false, model: 'm' }
    },
  }
  const answer = withAnswerFormat(client, { model: 'm', support: 'schema' })
  return {
    async ask(format: AnswerFormat) {
      told.length = 0
      const required = { format, check: () => Promise.resolve(null) }
      const response = await readResponse(
        { stream: (request) => answer(request, required) },
        llmRequest({ format: required }),
      )
      return [outcome(response), ...told]
    },
  }
}
const isBad = (format: AnswerFormat | undefined) =>
  format?.type === 'json_schema' && format.schema.type === 'unknown'

test('a schema that the provider refuses changes nothing for other programs', async () => {
  const provider = providerThat(isBad)
  expect(await provider.ask(BAD)).toEqual(['finished:stop', 'json_schema', 'json_object'])
  expect(await provider.ask(GOOD)).toEqual(['finished:stop', 'json_schema'])
  const withoutObjects = providerThat((format) => isBad(format) || format?.type === 'json_object')
  expect((await withoutObjects.ask(BAD)).at(-1)).toBe('nothing')
  expect(await withoutObjects.ask(GOOD)).toEqual(['finished:stop', 'json_schema'])
})

test('a provider that takes no JSON object is not asked for one again', async () => {
  const provider = providerThat((format) => format !== undefined)
  const all = ['json_schema', 'json_object', 'nothing']
  expect(await provider.ask(GOOD)).toEqual(['finished:stop', ...all])
  expect(await provider.ask(GOOD)).toEqual(['finished:stop', 'json_schema', 'nothing'])
  expect(await provider.ask({ type: 'json_object' })).toEqual(['finished:stop', 'nothing'])
})

test('a request that is refused for something else is no reason to tell the provider less', async () => {
  let isRefusing = true
  const provider = providerThat(() => isRefusing)
  const refused = await provider.ask({ type: 'json_object' })
  expect(refused).toEqual(['model_refused', 'json_object', 'nothing'])
  isRefusing = false
  expect(await provider.ask({ type: 'json_object' })).toEqual(['finished:stop', 'json_object'])
})
