// A history is acceptable to the strictest provider, and stays as it was where it already is.
import { describe, expect, test } from 'vitest'
import { buildMessagesBody } from '../../../server/llm/anthropic.ts'
import type { LlmMessage, ToolCall } from '../../../server/llm/client.ts'
import { buildRequestBody } from '../../../server/llm/openai.ts'
import { buildResponsesBody } from '../../../server/llm/responses.ts'
import { sendableHistory } from '../../../server/llm/sendable-history.ts'
import { CallId } from '../../../server/protocol/ids.ts'
import { llmRequest } from '../../support/provider/llm.ts'

const call = (id: string, text = '{}'): ToolCall => ({
  id: CallId.parse(id),
  name: 'look',
  arguments: text,
})
const user = (content: string): LlmMessage => ({ role: 'user', content })
const answer = (content: string, ...toolCalls: ToolCall[]): LlmMessage => ({
  role: 'assistant',
  content,
  ...(toolCalls.length === 0 ? {} : { toolCalls }),
})
const result = (id: string, content = 'seen'): LlmMessage => ({
  role: 'tool',
  callId: CallId.parse(id),
  name: 'look',
  content,
})
const forms = (messages: readonly LlmMessage[]) =>
  messages.map((message) => [message.role, message.content])

describe('a history', () => {
  test('that is acceptable stays the same', () => {
    const messages: LlmMessage[] = [
      { role: 'system', content: 'Be kind.' },
      user('a'),
      answer('', call('1'), call('2')),
      result('2'),
      result('1'),
      answer('b'),
      user('c'),
    ]
    const sent = sendableHistory(messages, { answersResults: true })
    expect(sent).toEqual(messages)
    for (const [at, message] of sent.entries()) expect(message).toBe(messages[at])
  })

  test('after failed or empty answers alternates', () => {
    expect(
      forms(
        sendableHistory([user('a'), user('b'), answer(' '), user('c'), answer('d'), user('e')]),
      ),
    ).toEqual([
      ['user', 'a'],
      ['assistant', '(There was no answer.)'],
      ['user', 'b'],
      ['assistant', '(There was no answer.)'],
      ['user', 'c'],
      ['assistant', 'd'],
      ['user', 'e'],
    ])
    expect(forms(sendableHistory([user('a'), answer('b'), answer('c'), user('d')]))).toEqual([
      ['user', 'a'],
      ['assistant', 'b\n\nc'],
      ['user', 'd'],
    ])
    const broken = [user('a'), answer('', call('1')), result('1'), user('b')]
    expect(sendableHistory(broken, { answersResults: true }).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ])
    expect(sendableHistory(broken)).toHaveLength(4)
  })

  test('begins with a question and contains no empty text', () => {
    const sent = sendableHistory([
      { role: 'system', content: '' },
      answer('Hi.'),
      user('  '),
      answer('', call('1')),
      result('1', ''),
    ])
    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'tool'])
    for (const message of sent)
      if (message.role !== 'assistant') expect(message.content.trim()).not.toBe('')
  })

  test('answers every call once, and gives no two calls one id', () => {
    const sent = sendableHistory([
      user('a'),
      answer('', call('1'), call('2')),
      result('1'),
      result('1', 'again'),
      result('9', 'of no call'),
      answer('', call('1')),
      result('1', 'other'),
    ])
    const calls = sent.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => String(id)) : [],
    )
    const results = sent.flatMap((message) =>
      message.role === 'tool' ? [String(message.callId)] : [],
    )
    expect(calls).toEqual(['1', '2', '1-2'])
    expect(results).toEqual(['1', '2', '1-2'])
    expect(sent.at(-1)).toMatchObject({ content: 'other' })
  })

  test('goes through each API with arguments that are JSON objects', () => {
    const messages = [
      user('a'),
      user('b'),
      answer('', call('1', 'null'), call('2', '{"broken'), call('3', '[1]'), call('4', '')),
      ...['1', '2', '3', '4'].map((id) => result(id)),
      user('c'),
    ]
    const request = llmRequest({ messages })
    const settings = { id: 'm', api_url: 'https://example.test/v1' }
    const chat = JSON.stringify(buildRequestBody(request, settings).messages)
    const responses = JSON.stringify(buildResponsesBody(request, settings).input)
    for (const body of [chat, responses])
      for (const [, text = ''] of body.matchAll(/"arguments":"((?:[^"\\]|\\.)*)"/g)) {
        const value: unknown = JSON.parse(JSON.parse(`"${text}"`))
        expect(value).toBeTypeOf('object')
        expect(Array.isArray(value) || value === null).toBe(false)
      }
    const inputs = JSON.stringify(buildMessagesBody(request, settings).messages).match(
      /"input":\{/g,
    )
    expect(inputs).toHaveLength(4)
  })
})
