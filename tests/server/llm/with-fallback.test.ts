// Fallbacks: the models that are called in place of one that fails.
import { describe, expect, test } from 'vitest'
import { outcome } from '../../support/provider/llm.ts'
import { refusingUrl } from '../../support/provider/upstream.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useModels } from './use-models.ts'

const { upstream, model, ask } = useModels()

describe('fallbacks', () => {
  test('are tried in order when a model fails before its first word', async () => {
    upstream.enqueueFor({ apiKey: 'key-a' }, turn.error(401))
    upstream.enqueueFor({ apiKey: 'key-c' }, turn.text('from c'))
    const dead = model('b', { api_url: await refusingUrl() })
    const response = await ask([model('a', { fallback: ['gone', 'b', 'c'] }), dead, model('c')])
    expect(response.text).toBe('from c')
    expect(response.end).toMatchObject({ model: 'c' })
    const passedOn = response.retries.filter(({ nextModel }) => nextModel !== undefined)
    expect(passedOn.map(({ nextModel, error }) => [error.reason, nextModel])).toEqual([
      ['model_unauthorized', 'b'],
      ['model_unavailable_connection_refused', 'c'],
    ])
  })

  test('are not called when the model answers, or fails after its first word', async () => {
    const models = [model('a', { fallback: ['b'] }), model('b')]
    upstream.enqueueFor({ apiKey: 'key-a' }, turn.text('mine'))
    expect((await ask(models)).text).toBe('mine')
    upstream.enqueueFor({ apiKey: 'key-a' }, turn.cut(turn.text('mine too'), 3, 'fin'))
    expect(outcome(await ask(models))).toBe('model_stream_broken')
  })
})
