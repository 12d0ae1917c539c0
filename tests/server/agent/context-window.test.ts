// Fitting a long conversation to the model's context window without losing its most important parts.
import { describe, expect, test } from 'vitest'
import { createContextWindow } from '../../../server/agent/context-window.ts'
import { CONTINUE_NOTE } from '../../../server/agent/system-prompt.ts'
import type { LlmMessage } from '../../../server/llm/client.ts'
import { estimateMessageTokens } from '../../../server/llm/tokens.ts'
import { CallId } from '../../../server/protocol/ids.ts'

const callId = CallId.parse('call_1')
const system: LlmMessage = { role: 'system', content: 'Be brief.' }
const user = (content: string): LlmMessage => ({ role: 'user', content })
const answer = (content: string): LlmMessage => ({ role: 'assistant', content })
const total = (messages: readonly LlmMessage[]) =>
  messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
const fitMessages = (
  messages: readonly LlmMessage[],
  budget: number,
  summarize: (dropped: readonly LlmMessage[], turns: number | null) => Promise<string | null>,
) => createContextWindow({ budget, summarize }).fit(messages)
const never = async (): Promise<string | null> => {
  throw new Error('no summary is needed')
}

describe('fitting a conversation to a window', () => {
  test('messages that fit are not changed', async () => {
    const messages = [system, user('Hi'), answer('Hello')]
    expect(await fitMessages(messages, 1_000, never)).toEqual(messages)
  })

  test('old tool results are shortened first, and those of the last iteration stay whole', async () => {
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

  test('if that is not enough, a summary replaces the oldest turns, and the system prompt and the newest turn stay', async () => {
    const turns = Array.from({ length: 20 }, (_, at) => [
      user(`question ${at} ${'x'.repeat(400)}`),
      answer(`answer ${at} ${'y'.repeat(400)}`),
    ]).flat()
    const newest = user('And now?')
    let asked = 0
    const fitted = await fitMessages([system, ...turns, newest], 1_000, async (dropped, count) => {
      asked += 1
      expect(dropped[0]).toEqual(turns[0])
      expect(dropped).toHaveLength((count ?? 0) * 2)
      return 'They asked much.'
    })
    expect(asked).toBe(1)
    expect(total(fitted)).toBeLessThanOrEqual(1_000)
    expect(fitted[0]).toEqual(system)
    // A model wrote the summary from untrusted text, so it belongs before a question, never in the system message.
    const first = fitted[1]
    expect(first?.role === 'user' ? first.context : '').toContain('They asked much.')
    expect(fitted.filter(({ role }) => role === 'system')).toHaveLength(1)
    expect(fitted.at(-1)).toEqual(newest)
  })

  const iteration = (id: string, text: string): LlmMessage[] => [
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: CallId.parse(id), name: 'fetch_page', arguments: '{}' }],
    },
    { role: 'tool', callId: CallId.parse(id), name: 'fetch_page', content: text },
  ]
  const many = (count: number) =>
    Array.from({ length: count }, (_, at) => iteration(`call_${at}`, `${at} `.repeat(1_000))).flat()

  test('above 80 %, all old results are shortened at once, and then nothing changes for many iterations', async () => {
    const window = createContextWindow({ budget: 10_000, summarize: never })
    const messages: LlmMessage[] = [system, user('Read all')]
    let before = ''
    let changes = 0
    for (const message of many(16)) {
      messages.push(message)
      if (message.role !== 'tool') continue
      const fitted = JSON.stringify(await window.fit([...messages])).slice(0, -1)
      if (!fitted.startsWith(before)) changes += 1
      before = fitted
    }
    expect(changes).toBe(1)
    expect(before.match(/shortened to save space/g)?.length).toBeGreaterThan(8)
    // A later run begins with the same bytes.
    const later = createContextWindow({ budget: 10_000, summarize: never, marks: window.marks })
    expect(JSON.stringify(await later.fit(messages)).slice(0, -1)).toBe(before)
  })

  test("the provider's token count takes precedence over the estimate", async () => {
    const messages = [system, user('Read all'), ...many(8)]
    const window = createContextWindow({ budget: 10_000, summarize: never })
    expect(await window.fit(messages)).toEqual(messages)
    window.report(total(messages) * 2)
    const fitted = await window.fit([...messages, ...iteration('last', 'x')])
    expect(JSON.stringify(fitted)).toContain('shortened to save space')
    expect(window.marks.ratio).toBeCloseTo(2)
  })

  test('a single turn larger than the window keeps its question, a summary and its last iterations', async () => {
    const summaries: (number | null)[] = []
    const window = createContextWindow({
      budget: 2_000,
      async summarize(dropped, turns) {
        summaries.push(turns)
        expect(dropped[0]?.content).toBe('Read all')
        return `summary ${summaries.length}`
      },
    })
    const messages: LlmMessage[] = [system, user('Read all')]
    for (let at = 0; at < 40; at += 1) {
      messages.push(...iteration(`call_${at}`, 'x'.repeat(2_000)))
      const fitted = await window.fit([...messages])
      expect(total(fitted)).toBeLessThanOrEqual(2_000)
      expect(fitted.at(-1)).toEqual(messages.at(-1))
      expect(fitted[1]).toMatchObject({ role: 'user', content: 'Read all' })
      // No result without its call.
      const calls = fitted.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []))
      const results = fitted.flatMap((one) => (one.role === 'tool' ? [one.callId] : []))
      expect(results).toEqual(calls.map(({ id }) => id))
    }
    expect(summaries.length).toBeGreaterThan(1)
    expect(summaries.length).toBeLessThan(20)
    expect(new Set(summaries)).toEqual(new Set([null]))
    const [, question] = await window.fit([...messages])
    const context = question?.role === 'user' ? question.context : ''
    expect(context).toContain(`summary ${summaries.length}`)
    expect(context).not.toContain(`summary ${summaries.length - 1}<`)
    expect(context?.match(/conversation_summary>/g)).toHaveLength(2)
  })

  test('tools that the provider counts higher leave less room for messages', async () => {
    const otherTokens = 6_000
    const window = createContextWindow({ budget: 10_000, otherTokens, summarize: async () => 's' })
    const messages = [system, user('Read all'), ...many(6)]
    expect(await window.fit(messages)).toEqual(messages)
    const ratio = 1.5
    window.report((total(messages) + otherTokens) * ratio)
    const fitted = await window.fit([...messages, ...iteration('last', 'x '.repeat(1_800))])
    // The window is 16,000 tokens.
    expect((total(fitted) + otherTokens) * ratio).toBeLessThanOrEqual(16_000)
  })

  test('if the results of one iteration exceed the window, they are cut, the longest first', async () => {
    const results = ['short', 'a'.repeat(50_000), 'b'.repeat(30_000)].map(
      (content, at): LlmMessage => ({
        role: 'tool',
        callId: CallId.parse(`call_${at}`),
        name: 'fetch_page',
        content,
      }),
    )
    const fitted = await fitMessages([system, user('Read'), answer(''), ...results], 4_000, never)
    expect(total(fitted)).toBeLessThanOrEqual(4_000)
    expect(total(fitted)).toBeGreaterThan(3_500)
    expect(fitted.at(-3)).toEqual(results[0])
    for (const one of fitted.slice(-2)) expect(one.content).toContain('Ask for a smaller part')
  })

  test('a request to continue belongs to the turn of its question', async () => {
    const window = createContextWindow({ budget: 2_000, summarize: async () => 'what was done' })
    const fitted = await window.fit([
      system,
      user('Read all'),
      answer('I begin. '.repeat(300)),
      user(CONTINUE_NOTE),
      ...iteration('one', 'x'.repeat(4_000)),
      ...iteration('two', 'y'.repeat(3_000)),
    ])
    expect(fitted[1]).toMatchObject({ content: 'Read all' })
    expect(total(fitted)).toBeLessThanOrEqual(2_000)
  })

  test('a Chinese character counts as about one token', () => {
    expect(estimateMessageTokens(user('今天天气怎么样'))).toBe(4 + 6)
  })
})
