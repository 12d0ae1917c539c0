// Converting stored messages to model messages: whatever is stored, the result is a conversation that providers accept.
import { describe, expect, test } from 'vitest'
import {
  answerMessages,
  type BranchMessage,
  iterationsOf,
  toModelMessages,
} from '../../../server/agent/history.ts'
import type { LlmMessage } from '../../../server/llm/client.ts'
import { CallId } from '../../../server/protocol/ids.ts'
import { type Step, stepId } from '../../../server/protocol/runs/step.ts'
import { type randomFrom, rounds, SEED } from '../../support/random.ts'

type Content =
  | { type: 'thinking'; content: string }
  | { type: 'text'; content: string }
  | { type: 'tool_call'; id: string; arguments?: string }
  | { type: 'tool_result'; id: string }

/** Steps with their ids and indexes within an answer. */
const stepsOf = (contents: readonly Content[]): Step[] =>
  contents.map((content, index): Step => {
    const place = { id: stepId(index), index }
    if (content.type === 'thinking' || content.type === 'text')
      return { ...place, type: content.type, content: content.content }
    const call = { id_ref: CallId.parse(content.id), name: 'look' }
    if (content.type === 'tool_call')
      return { ...place, type: 'tool_call', ...call, arguments: content.arguments ?? '{}' }
    const result = `result of ${content.id}`
    return { ...place, type: 'tool_result', ...call, content: result, skipped: false }
  })

const said = (text: string, more: Partial<BranchMessage> = {}): BranchMessage => ({
  role: 'user',
  text,
  attachments: [],
  steps: [],
  ...more,
})
const answered = (contents: readonly Content[], text = ''): BranchMessage => ({
  role: 'assistant',
  text,
  attachments: [],
  steps: stepsOf(contents),
})

/** What every provider requires: one result per call, in order, directly after the message with the calls. */
function expectValidOrder(messages: readonly LlmMessage[], what = ''): void {
  for (let at = 0; at < messages.length; at += 1) {
    const message = messages[at]
    expect(message?.role, `${what}: a result without its call, at ${at}`).not.toBe('tool')
    if (message?.role !== 'assistant') continue
    const calls = message.toolCalls ?? []
    expect(message.content !== '' || calls.length > 0, `${what}: an empty message, at ${at}`).toBe(
      true,
    )
    if (message.toolCalls !== undefined)
      expect(calls.length, `${what}: no calls`).toBeGreaterThan(0)
    const results = messages.slice(at + 1, at + 1 + calls.length)
    expect(
      results.map((result) => (result.role === 'tool' ? result.callId : result.role)),
      `${what}: the results of message ${at}`,
    ).toEqual(calls.map(({ id }) => id))
    at += calls.length
  }
}

describe('the order', () => {
  test('each iteration is one assistant message, followed by the results of its calls in the order of the calls', () => {
    const messages = toModelMessages([
      said('Look it up.'),
      answered([
        { type: 'thinking', content: 'Hm.' },
        { type: 'text', content: 'Let me look.' },
        { type: 'tool_call', id: 'a', arguments: '{"q":1}' },
        { type: 'tool_call', id: 'b' },
        { type: 'tool_result', id: 'b' },
        { type: 'tool_result', id: 'a' },
        { type: 'tool_call', id: 'c' },
        { type: 'tool_result', id: 'c' },
        { type: 'text', content: 'Found it.' },
      ]),
    ])
    const call = (id: string, args = '{}') => ({ id, name: 'look', arguments: args })
    expect(messages).toEqual([
      { role: 'user', content: 'Look it up.' },
      {
        role: 'assistant',
        content: 'Let me look.',
        reasoning: 'Hm.',
        toolCalls: [call('a', '{"q":1}'), call('b')],
      },
      { role: 'tool', callId: 'a', name: 'look', content: 'result of a' },
      { role: 'tool', callId: 'b', name: 'look', content: 'result of b' },
      { role: 'assistant', content: '', toolCalls: [call('c')] },
      { role: 'tool', callId: 'c', name: 'look', content: 'result of c' },
      { role: 'assistant', content: 'Found it.' },
    ])
  })

  test('a call whose result was never stored gets a result that says it was interrupted', () => {
    const messages = toModelMessages([
      answered([
        { type: 'tool_call', id: 'a' },
        { type: 'tool_call', id: 'b' },
        { type: 'tool_result', id: 'b' },
      ]),
      said('And now?'),
    ])
    expectValidOrder(messages)
    expect(messages[1]).toMatchObject({ role: 'tool', callId: 'a' })
    expect(messages[1]?.content).toMatch(/^{"success":false,"error":"Interrupted/)
    expect(messages[2]).toMatchObject({ role: 'tool', callId: 'b', content: 'result of b' })
  })

  test('an answer with only thinking is left out', () => {
    expect(
      toModelMessages([said('Hi.'), answered([{ type: 'thinking', content: 'Hm.' }])]),
    ).toEqual([{ role: 'user', content: 'Hi.' }])
  })

  test('an answer without steps becomes its text, and an empty one is left out', () => {
    expect(toModelMessages([answered([], 'From elsewhere.'), answered([])])).toEqual([
      { role: 'assistant', content: 'From elsewhere.' },
    ])
  })

  test('thinking is included for turns with calls and for the current turn', () => {
    const steps: Content[] = [
      { type: 'thinking', content: 'Hm, ' },
      { type: 'tool_call', id: 'a' },
    ]
    expect(toModelMessages([answered(steps)])[0]).toMatchObject({ reasoning: 'Hm, ' })
    const without: Content[] = [
      { type: 'thinking', content: 'Hm, ' },
      { type: 'text', content: 'Yes.' },
    ]
    expect(toModelMessages([answered(without)])[0]).not.toHaveProperty('reasoning')
    expect(answerMessages(stepsOf(steps), '', { current: true })[0]).toMatchObject({
      reasoning: 'Hm, ',
    })
  })

  test('calls of the current turn that still run get no result', () => {
    const messages = answerMessages(
      stepsOf([
        { type: 'tool_call', id: 'a' },
        { type: 'tool_call', id: 'b' },
        { type: 'tool_result', id: 'a' },
      ]),
      '',
      { current: true },
    )
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool'])
  })

  test('text of several steps of one iteration is joined', () => {
    expect(
      iterationsOf(
        stepsOf([
          { type: 'text', content: 'Half an ' },
          { type: 'text', content: 'answer.' },
        ]),
      ),
    ).toMatchObject([{ text: 'Half an answer.' }])
  })

  test(`is valid for every answer that the loop can produce, cut off anywhere (SEED=${SEED})`, () => {
    for (const { random, what } of rounds(40)) {
      const { contents, pieces } = randomAnswer(random)
      for (let cut = 0; cut <= pieces; cut += 1) {
        const steps = stepsOf(contents).slice(0, cut)
        expectValidOrder(
          toModelMessages([said('Go.'), { ...answered([]), steps }, said('On.')]),
          `${what}, cut after ${cut} of ${JSON.stringify(contents)}`,
        )
      }
    }
  })
})

/** An answer as the loop produces it: iterations with thinking, text and calls, results in any order, a final text. */
function randomAnswer(random: ReturnType<typeof randomFrom>): {
  contents: Content[]
  pieces: number
} {
  const contents: Content[] = []
  let count = 0
  const iterations = random.below(4)
  for (let at = 0; at <= iterations; at += 1) {
    if (random.below(2) === 0) contents.push({ type: 'thinking', content: 'Hm.' })
    if (random.below(2) === 0) contents.push({ type: 'text', content: `Text ${at}.` })
    if (at === iterations) break
    const ids = Array.from({ length: 1 + random.below(3) }, () => `call-${count++}`)
    contents.push(...ids.map((id): Content => ({ type: 'tool_call', id })))
    contents.push(...random.shuffle(ids).map((id): Content => ({ type: 'tool_result', id })))
  }
  return { contents, pieces: contents.length }
}

describe('attachments', () => {
  test('text files follow the text under their names, and images are sent as images', () => {
    const [message] = toModelMessages([
      said('See:', {
        attachments: [
          { name: 'a "b".txt', extension: undefined, content: 'hello' },
          { name: 'c.png', mime: 'image/png', data: 'AAAA' },
        ],
      }),
    ])
    expect(message).toEqual({
      role: 'user',
      content: 'See:\n\n<file name="a \\"b\\".txt">\nhello\n</file>',
      images: [{ mime: 'image/png', data: 'AAAA' }],
    })
  })

  test('a message without images has no list of images', () => {
    expect(toModelMessages([said('Hi.')])).toEqual([{ role: 'user', content: 'Hi.' }])
  })
})
