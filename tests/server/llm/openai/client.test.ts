// The client for OpenAI-compatible providers: answers, usage and reasoning from valid and unusual streams.
import { describe, expect, test } from 'vitest'
import { outcome, readResponse } from '../../../support/provider/llm.ts'
import { chunk, dataLine, turn } from '../../../support/provider/upstream-turns.ts'
import { stop, textChunk, useClient } from './use-client.ts'

const { upstream, clientFor, skipped } = useClient()

describe('a plain answer', () => {
  test('arrives complete, with usage and the id of the model', async () => {
    upstream.enqueue(turn.thinking('let me see', 'Grüße, 世界 🙂', { chunkSize: 1 }))
    const response = await readResponse(clientFor())
    expect(response).toMatchObject({ text: 'Grüße, 世界 🙂', thinking: 'let me see', calls: [] })
    expect(response.end).toMatchObject({
      reason: 'stop',
      estimated: false,
      model: 'm',
      usage: { prompt_tokens: 10 },
    })
  })

  test('has the deltas that arrive together joined into one event', async () => {
    upstream.enqueue(
      turn.raw([[...'abcdefgh'].map((c) => dataLine(textChunk(c))).join(''), dataLine(stop)]),
    )
    const response = await readResponse(clientFor())
    expect(response.text).toBe('abcdefgh')
    expect(response.said.filter((event) => event.type === 'text_delta')).toHaveLength(1)
  })

  test('is the same however the bytes are split', async () => {
    const body = [
      ': comment\r\n\r\n',
      'event: message\r\nid: 7\r\nretry: 10\r\n',
      `data:${JSON.stringify(textChunk('Grüße '))}\r\n\r\n`,
      `data: ${JSON.stringify(textChunk('世界 "q" \\ '))}\n\n`,
      `data: ${JSON.stringify(textChunk('🙂<'))}\r\r`,
      'data:\n\n',
      `data: ${JSON.stringify(textChunk('b>'))}\n\n`,
      `data: ${JSON.stringify(stop)}\n\n`,
      'data: [DONE]',
    ].join('')
    for (const bytes of [1, 2, 3, 7, 64]) {
      upstream.enqueue(turn.slow(turn.raw([body]), bytes, 0))
      const response = await readResponse(clientFor())
      expect(response.text).toBe('Grüße 世界 "q" \\ 🙂<b>')
      expect(outcome(response)).toBe('finished:stop')
    }
  })

  test('needs no [DONE] after its finish reason, also when the connection stays open', async () => {
    upstream.enqueue(
      turn.chunks([textChunk('a'), stop], { done: false }),
      turn.raw([dataLine(textChunk('b')), dataLine(stop), { finish: 'stall' }]),
      turn.raw([dataLine(textChunk('c')), dataLine(stop), { finish: 'fin' }]),
    )
    for (const text of ['a', 'b', 'c']) {
      const response = await readResponse(clientFor())
      expect([response.text, outcome(response)]).toEqual([text, 'finished:stop'])
    }
  })

  test('may arrive at once from a provider that does not stream', async () => {
    upstream.enqueue(
      turn.json(200, {
        choices: [
          { message: { role: 'assistant', content: 'all at once' }, finish_reason: 'stop' },
        ],
        usage: { prompt_tokens: 3, completion_tokens: 4 },
      }),
    )
    const response = await readResponse(clientFor())
    expect(response.text).toBe('all at once')
    expect(response.end).toMatchObject({ usage: { total_tokens: 7 } })
  })

  test('distinguishes the length limit from a stop', async () => {
    upstream.enqueue(turn.text('cut off', { finishReason: 'length' }))
    expect(outcome(await readResponse(clientFor()))).toBe('finished:length')
  })

  test('tolerates null fields, other choices and lines that are not JSON', async () => {
    upstream.enqueue(
      turn.raw([
        dataLine({ choices: null }),
        dataLine({ choices: [{ index: 0, delta: null, finish_reason: null }], usage: null }),
        dataLine(chunk({ content: null, tool_calls: null, reasoning_content: null })),
        'data: {"choices": [{"delta": {"content": "bro\n\n',
        dataLine({ choices: [{ index: 1, delta: { content: 'other answer' } }] }),
        'data: 17\n\n',
        dataLine(textChunk('kept')),
        dataLine(stop),
      ]),
    )
    const response = await readResponse(clientFor())
    expect([response.text, outcome(response)]).toEqual(['kept', 'finished:stop'])
    expect(skipped.at(-1)).toBe(2)
  })

  test('skips a line of 20 MB and continues', async () => {
    const long = `data: {"x":"${'x'.repeat(20 * 1024 * 1024)}"}\n\n`
    upstream.enqueue(
      turn.raw([dataLine(textChunk('a')), long, dataLine(textChunk('b')), dataLine(stop)]),
    )
    const response = await readResponse(clientFor())
    expect([response.text, outcome(response)]).toEqual(['ab', 'finished:stop'])
    expect(skipped.at(-1)).toBe(1)
  })
})

describe('usage', () => {
  const usage = (completion: number) => ({
    usage: { prompt_tokens: 5, completion_tokens: completion, total_tokens: 5 + completion },
  })

  test('is read from a last chunk without choices, from every chunk, and from the finish chunk', async () => {
    upstream.enqueue(
      turn.chunks([textChunk('a'), stop, { choices: [], ...usage(3) }]),
      turn.chunks([
        { ...textChunk('a'), ...usage(1) },
        { ...textChunk('b'), ...usage(2) },
        { ...stop, ...usage(3) },
      ]),
      turn.chunks([textChunk('a'), { ...stop, ...usage(3) }]),
    )
    for (let round = 0; round < 3; round += 1)
      expect((await readResponse(clientFor())).end).toMatchObject({
        estimated: false,
        usage: { completion_tokens: 3, total_tokens: 8 },
      })
  })

  test('is estimated, and marked as estimated, when the provider sends none', async () => {
    upstream.enqueue(turn.text('a fairly long answer of some words', { usage: null }))
    const { end } = await readResponse(clientFor())
    expect(end).toMatchObject({ estimated: true })
    expect(end.usage?.completion_tokens).toBeGreaterThan(4)
    expect(end.usage?.prompt_tokens).toBeGreaterThan(0)
  })
})

describe('reasoning', () => {
  test('is read from reasoning_content or reasoning, and only once when both are there', async () => {
    upstream.enqueue(
      turn.chunks([chunk({ reasoning_content: 'R' }), textChunk('A'), stop]),
      turn.chunks([chunk({ reasoning: 'R' }), textChunk('A'), stop]),
      turn.chunks([
        chunk({ reasoning: 'R', reasoning_content: 'R', content: '' }),
        textChunk('A'),
        stop,
      ]),
    )
    for (let round = 0; round < 3; round += 1)
      expect(await readResponse(clientFor())).toMatchObject({ thinking: 'R', text: 'A' })
  })

  test('is read from <think> tags in the text, wherever the chunks are split', async () => {
    const whole = '<think>\nWhat < now?\n</think>\n\nThe answer is 1 < 2.'
    for (let at = 1; at < whole.length; at += 1) {
      upstream.enqueue(
        turn.chunks([textChunk(whole.slice(0, at)), textChunk(whole.slice(at)), stop]),
      )
      expect(await readResponse(clientFor())).toMatchObject({
        thinking: 'What < now?\n',
        text: 'The answer is 1 < 2.',
      })
    }
  })

  test('does not include tags that an answer only mentions', async () => {
    for (const text of [
      'Use `<think>` tags.',
      '```\n<think>x</think>\n```\n',
      'Say "<think>".',
      'a <thin',
    ]) {
      upstream.enqueue(turn.text(text, { chunkSize: 3 }))
      expect(await readResponse(clientFor())).toMatchObject({ thinking: '', text })
    }
  })

  test('an answer that never closes its <think> tag has no text', async () => {
    upstream.enqueue(turn.text('<think>on and on', { chunkSize: 2 }))
    expect(await readResponse(clientFor())).toMatchObject({ thinking: 'on and on', text: '' })
  })
})
