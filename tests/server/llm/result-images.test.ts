// Images of tool results in the requests of each API, for models that see and for those that do not.
import { describe, expect, test } from 'vitest'
import { buildMessagesBody } from '../../../server/llm/anthropic.ts'
import type { LlmMessage } from '../../../server/llm/client.ts'
import { buildRequestBody } from '../../../server/llm/openai.ts'
import { flattenToolMessages } from '../../../server/llm/prompt-tools/flatten-tool-messages.ts'
import { buildResponsesBody } from '../../../server/llm/responses.ts'
import { withNewestImages } from '../../../server/llm/user-content.ts'
import { CallId } from '../../../server/protocol/ids.ts'
import type { ModelSettings } from '../../../server/protocol/models/catalog.ts'
import { llmRequest } from '../../support/provider/llm.ts'

const image = { mime: 'image/png', data: 'AAAA' }
const ids = [CallId.parse('call-1'), CallId.parse('call-2')] as const
const result = (at: 0 | 1, images?: (typeof image)[]): LlmMessage => ({
  role: 'tool',
  callId: ids[at],
  name: 'shot',
  content: `{"data":"${at}"}`,
  ...(images === undefined ? {} : { images }),
})
const messages: LlmMessage[] = [
  { role: 'user', content: 'Look' },
  {
    role: 'assistant',
    content: '',
    toolCalls: ids.map((id) => ({ id, name: 'shot', arguments: '{}' })),
  },
  result(0, [image]),
  result(1),
]
const settings = (more: Partial<ModelSettings> = {}): ModelSettings => ({
  id: 'm',
  api_url: 'https://example.test/v1',
  vision: true,
  ...more,
})
const request = (more: readonly LlmMessage[] = []) =>
  llmRequest({ messages: [...messages, ...more] })
const url = 'data:image/png;base64,AAAA'

describe('chat completions', () => {
  test('get them in a user message after all results of the iteration', () => {
    const body = buildRequestBody(request(), settings())
    expect(body.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', content: '{"data":"0"}' },
      { role: 'tool', content: '{"data":"1"}' },
      {
        role: 'user',
        content: [
          { type: 'text', text: expect.stringMatching(/not written by the user: shot 1/) },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ])
  })

  test('get them in the message of the next question if there was no answer', () => {
    const body = buildRequestBody(request([{ role: 'user', content: 'And now?' }]), settings())
    expect(body.messages).toHaveLength(5)
    expect(body.messages).toMatchObject({
      4: {
        role: 'user',
        content: [
          { type: 'text', text: expect.stringMatching(/shot 1\]\n\nAnd now\?$/) },
          { image_url: { url } },
        ],
      },
    })
    const blind = buildRequestBody(
      request([{ role: 'user', content: 'And now?' }]),
      settings({ vision: false }),
    )
    expect(blind.messages).toMatchObject({ 4: { role: 'assistant' }, 5: { content: 'And now?' } })
  })

  test('of Mistral get them in the results', () => {
    const body = buildRequestBody(request(), settings({ provider: 'mistral' }))
    expect(body.messages).toHaveLength(4)
    expect(body.messages).toMatchObject({
      2: { content: [{ type: 'text' }, { image_url: { url } }] },
    })
  })
})

test('the Responses API gets them in the outputs', () => {
  expect(buildResponsesBody(request(), settings()).input).toMatchObject({
    3: {
      type: 'function_call_output',
      output: [
        { type: 'input_text', text: '{"data":"0"}' },
        { type: 'input_image', image_url: url },
      ],
    },
    4: { output: '{"data":"1"}' },
  })
})

test('the Messages API gets them in the results', () => {
  expect(buildMessagesBody(request(), settings()).messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant' },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          content: [
            { type: 'text', text: '{"data":"0"}' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          ],
        },
        { type: 'tool_result', content: '{"data":"1"}' },
      ],
    },
  ])
})

test.each([
  ['chat completions', buildRequestBody],
  ['the Responses API', buildResponsesBody],
  ['the Messages API', buildMessagesBody],
])('a model that does not see gets a note through %s', (_api, build) => {
  const text = JSON.stringify(build(request(), settings({ vision: false })))
  expect(text).toContain('[1 image(s) of this result omitted: this model does not accept images]')
  expect(text).not.toContain('AAAA')
})

test('in prompt mode they go with the texts of the results', () => {
  const flat = flattenToolMessages(messages, { writeCall: () => 'called', results: 'user' })
  expect(flat.at(-1)).toMatchObject({ role: 'user', images: [image] })
  const asked = flattenToolMessages([...messages, { role: 'user', content: 'And?' }], {
    writeCall: () => 'called',
    results: 'user',
  })
  expect(asked.at(-1)).toMatchObject({ role: 'user', images: [image] })
})

test('a request has at most 20 of them, and older ones are omitted ten at a time', () => {
  const history = (count: number): LlmMessage[] =>
    Array.from({ length: count }, () => result(0, [image]))
  const sent = (count: number) =>
    withNewestImages(history(count)).filter(
      (one) => one.role === 'tool' && one.images !== undefined,
    )
  expect([20, 21, 29, 30, 31].map((count) => sent(count).length)).toEqual([20, 11, 19, 20, 11])
  expect(withNewestImages(history(21))[0]).toMatchObject({
    content: expect.stringMatching(/1 image\(s\) of this result omitted/),
  })
})

test('the newest result keeps its images, however large they are', () => {
  const large = { mime: 'image/png', data: 'A'.repeat(9_000_000) }
  const history = [result(0, [image]), result(1, [large, large]), result(0)]
  const sent = withNewestImages(history)
  expect(sent[0]).not.toHaveProperty('images')
  expect(sent[1]).toBe(history[1])
})
