// Models that accept tools only without reasoning: a refusal is retried with effort "none", which is remembered.
import { expect, test } from 'vitest'
import type { ToolSchema } from '../../../../server/llm/client.ts'
import { llmRequest, outcome, readResponse } from '../../../support/provider/llm.ts'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useClient } from './use-client.ts'

const { upstream, clientFor } = useClient()
const tool: ToolSchema = {
  type: 'function',
  function: { name: 'look', description: '', parameters: { type: 'object' } },
}
const withTools = () => llmRequest({ tools: [tool], thinking: true })
const refusal = turn.error(
  400,
  'Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions.',
)
const efforts = () => upstream.requests.map(({ body }) => body.reasoning_effort)

test('after a refusal that names the field, the request is repeated with "none", and later requests with tools begin with it', async () => {
  const client = clientFor({ thinking: 'high' })
  upstream.enqueue(refusal, turn.text('One.'), turn.text('Two.'), turn.text('Three.'))
  expect((await readResponse(client, withTools())).text).toBe('One.')
  expect((await readResponse(client, withTools())).text).toBe('Two.')
  expect((await readResponse(client, llmRequest({ thinking: true }))).text).toBe('Three.')
  expect(efforts()).toEqual(['high', 'none', 'none', 'high'])
})

test('a provider that refuses "none" too is reported with its first words, and nothing is remembered', async () => {
  const client = clientFor()
  upstream.enqueue(refusal, turn.error(400, 'none is not allowed'), turn.text('Now.'))
  const response = await readResponse(client, withTools())
  expect(outcome(response)).toBe('model_refused')
  expect(response.end.type === 'failed' && response.end.error.message).toContain('Function tools')
  expect((await readResponse(client, withTools())).text).toBe('Now.')
  expect(efforts()).toEqual([undefined, 'none', undefined])
})

test('other refusals and requests without tools are not repeated', async () => {
  upstream.enqueue(turn.error(400, 'no'), refusal)
  expect(outcome(await readResponse(clientFor(), withTools()))).toBe('model_refused')
  expect(outcome(await readResponse(clientFor(), llmRequest()))).toBe('model_refused')
  expect(upstream.requests).toHaveLength(2)
})
