// A long conversation fits the model's window, and nothing that matters most is lost on the way.
import { describe, expect, test } from 'vitest'
import { fitMessages } from '../../../server/agent/context-window.ts'
import type { LlmMessage } from '../../../server/llm/client.ts'
import { estimateMessageTokens } from '../../../server/llm/tokens.ts'
import type { CallId } from '../../../server/protocol/ids.ts'

const callId = 'call_1' as CallId
const system: LlmMessage = { role: 'system', content: 'Be brief.' }
const user = (content: string): LlmMessage => ({ role: 'user', content })
const answer = (content: string): LlmMessage => ({ role: 'assistant', content })
const total = (messages: readonly LlmMessage[]) =>
  messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
const never = async (): Promise<string | null> => {
  throw new Error('no summary is needed')
}

describe('fitting a conversation to a window', () => {
  test('messages that fit are not changed', async () => {
    const messages = [system, user('Hi'), answer('Hello')]
    expect(await fitMessages(messages, 1_000, never)).toBe(messages)
  })

  test('old tool results are shortened first, those of the last iteration stay whole', async () => {
    const iteration = (text: string): LlmMessage[] => [
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: callId, name: 'fetch_page', arguments: '{}' }],
      },
      { role: 'tool', callId, name: 'fetch_page', content: text },
    ]
    const messages = [
      system,
      user('Read both'),
      ...iteration('a'.repeat(8_000)),
      ...iteration('b'.repeat(4_000)),
    ]
    const fitted = await fitMessages(messages, 1_500, never)
    expect(total(fitted)).toBeLessThanOrEqual(1_500)
    expect(fitted[3]?.content).toContain('[shortened')
    expect(fitted[5]).toEqual(messages[5])
  })

  test('a summary replaces the oldest turns when that is not enough; system prompt and newest turn stay', async () => {
    const turns = Array.from({ length: 20 }, (_, at) => [
      user(`question ${at} ${'x'.repeat(400)}`),
      answer(`answer ${at} ${'y'.repeat(400)}`),
    ]).flat()
    const newest = user('And now?')
    let asked = 0
    const fitted = await fitMessages([system, ...turns, newest], 1_000, async (dropped, count) => {
      asked += 1
      expect(dropped[0]).toEqual(turns[0])
      expect(dropped).toHaveLength(count * 2)
      return 'They asked much.'
    })
    expect(asked).toBe(1)
    expect(total(fitted)).toBeLessThanOrEqual(1_000)
    expect(fitted[0]).toEqual(system)
    // A model wrote the summary, out of anything: it stands in front of a question, never in the system message.
    const first = fitted[1]
    expect(first?.role === 'user' ? first.context : '').toContain('They asked much.')
    expect(fitted.filter(({ role }) => role === 'system')).toHaveLength(1)
    expect(fitted.at(-1)).toEqual(newest)
  })

  test('a Chinese character counts as about one token', () => {
    expect(estimateMessageTokens(user('今天天气怎么样'))).toBe(4 + 6)
  })
})
