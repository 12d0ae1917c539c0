// Retries: which failures are retried, and that nothing the user has seen is sent twice.
import { describe, expect, test } from 'vitest'
import { llmRequest, outcome, readResponse } from '../../support/provider/llm.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { FAST, useModels } from './use-models.ts'

const { upstream, model, catalogOf, ask } = useModels()

describe('retries', () => {
  test('a 429 is retried three times, and each wait is reported', async () => {
    upstream.enqueue(turn.rateLimited(), turn.rateLimited(), turn.rateLimited(), turn.text('ok'))
    const response = await ask([model('a')])
    expect(response.text).toBe('ok')
    expect(response.retries.map(({ attempt, delayMs }) => [attempt, delayMs])).toEqual([
      [1, 1],
      [2, 2],
      [3, 4],
    ])
  })

  test('the failure of the last retry is reported', async () => {
    for (let attempt = 0; attempt < 4; attempt += 1) upstream.enqueue(turn.error(503))
    expect(outcome(await ask([model('a')]))).toBe('model_unavailable')
    upstream.expectDone()
  })

  test('Retry-After sets the wait, up to the limit', async () => {
    upstream.enqueue(turn.rateLimited(0), turn.rateLimited(3600), turn.text('ok'))
    const response = await ask([model('a')], { retry: { ...FAST, maxRetryAfter: 0.05 } })
    expect(response.retries.map(({ delayMs }) => delayMs)).toEqual([0, 50])
  })

  test('connection errors before the first byte are retried', async () => {
    upstream.enqueue(
      turn.beforeHeaders('reset'),
      turn.cut(turn.text('never seen'), 0, 'fin'),
      turn.text('ok'),
    )
    expect((await ask([model('a')])).text).toBe('ok')
  })

  test.each([400, 401, 404])('a %i is not retried', async (status) => {
    upstream.enqueue(turn.error(status))
    const response = await ask([model('a')])
    expect(response.end.type).toBe('failed')
    expect(upstream.requests).toHaveLength(1)
  })

  test('nothing is retried once text has been emitted', async () => {
    upstream.enqueue(turn.cut(turn.text('some words'), 3, 'fin'))
    const response = await ask([model('a'), model('b')])
    expect([response.text, outcome(response)]).toEqual(['some words', 'model_stream_broken'])
    expect(upstream.requests).toHaveLength(1)
  })

  test('the wait ends at once when the run is stopped', async () => {
    upstream.enqueue(turn.rateLimited(60))
    const controller = new AbortController()
    const { client } = await catalogOf([model('a')]).resolve()
    const response = await readResponse(
      client,
      llmRequest({ signal: controller.signal }),
      ({ type }) => {
        if (type === 'retrying') controller.abort()
      },
    )
    expect(response.end.type).toBe('failed')
    expect(upstream.requests).toHaveLength(1)
  })
})
