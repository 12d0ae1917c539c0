// Streams in the formats of known providers are read the same wherever the bytes are split.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createChunkReader } from '../../../../server/llm/openai/chunk-reader.ts'
import { createEventStreamReader } from '../../../../server/llm/streaming/streamed-client/event-stream.ts'

const folder = join(import.meta.dirname, '../../../fixtures/llm')

/** Everything read from one stream whose bytes are split at the given positions. */
function read(bytes: Buffer, cuts: readonly number[]) {
  const reader = createChunkReader({ model: 'M' })
  const lines = createEventStreamReader(reader.read)
  let text = ''
  let thinking = ''
  const take = (events: ReturnType<typeof reader.take>) => {
    for (const event of events) {
      if (event.type === 'text_delta') text += event.text
      if (event.type === 'thinking_delta') thinking += event.text
    }
  }
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    lines.push(bytes.subarray(from, cut))
    take(reader.take())
    from = cut
  }
  lines.end()
  take(reader.end())
  return {
    text,
    thinking,
    calls: reader.calls().map((call) => [call.name, JSON.parse(call.arguments)]),
    finish: reader.finishReason,
    usage: reader.usage?.completion_tokens ?? null,
    error: reader.error?.code ?? null,
    unreadable: reader.unreadable,
  }
}

const said = {
  text: '',
  thinking: '',
  calls: [],
  finish: 'stop',
  usage: null,
  error: null,
  unreadable: 0,
}
const streams: [name: string, expected: Partial<ReturnType<typeof read>>][] = [
  [
    'openai',
    {
      text: "I'll look it up.",
      calls: [
        ['get_weather', { city: 'Paris' }],
        ['get_weather', { city: 'Berlin' }],
      ],
      finish: 'tool_calls',
      usage: 47,
    },
  ],
  ['deepseek-reasoner', { text: '答案是 **4**。', thinking: '用户问的是 2+2。', usage: 29 }],
  [
    'glm',
    {
      text: '我来查一下。',
      thinking: '\n需要查天气',
      calls: [['get_weather', { city: '北京' }]],
      finish: 'tool_calls',
      usage: 38,
    },
  ],
  [
    'ollama',
    {
      thinking: 'The user wants both.',
      calls: [
        ['get_current_time', {}],
        ['get_weather', { city: 'Oslo' }],
      ],
      finish: 'tool_calls',
    },
  ],
  ['vllm-think', { text: '1 < 2 and `<b>`.', thinking: 'Okay, easy.\n', usage: 18 }],
  [
    'mistral',
    {
      text: 'Here we go.',
      thinking: 'Two calls.',
      calls: [
        ['calculator', { expression: '1+1' }],
        ['calculator', { expression: '2+2' }],
      ],
      finish: 'tool_calls',
      usage: 42,
    },
  ],
  [
    'xai',
    {
      thinking: 'Look it up.',
      calls: [['get_weather', { city: 'Oslo' }]],
      finish: 'tool_calls',
      // Reasoning is counted in the total only, and billed.
      usage: 26 + 196,
    },
  ],
  ['qwen', { calls: [['get_weather', { city: 'Hamburg' }]], finish: 'tool_calls', usage: 22 }],
  ['moonshot', { text: '4.', thinking: 'Add them.', usage: 12 }],
  // Calls without an index, and reasoning that only the total counts.
  ['gemini', { calls: [['get_weather', { city: 'Rome' }]], usage: 431 - 112 }],
  ['openrouter-error', { text: 'Once upon', finish: null, error: 'model_unavailable' }],
]

describe('streams of providers', () => {
  test.each(streams)('of %s are read the same wherever they are split', (name, expected) => {
    const bytes = readFileSync(join(folder, `${name}.chunks.txt`))
    const whole = { ...said, ...expected }
    expect(read(bytes, [])).toEqual(whole)
    for (let at = 1; at < bytes.length; at += 7) expect(read(bytes, [at])).toEqual(whole)
    expect(read(bytes, [...bytes.keys()].slice(1))).toEqual(whole)
  })

  test('are counted with their cached tokens, and carry the fields that the provider needs back', () => {
    const readerOf = (name: string) => {
      const reader = createChunkReader({ model: 'M' })
      const lines = createEventStreamReader(reader.read)
      lines.push(readFileSync(join(folder, `${name}.chunks.txt`)))
      lines.end()
      return reader
    }
    expect(readerOf('xai').usage).toEqual({
      prompt_tokens: 291,
      completion_tokens: 222,
      total_tokens: 513,
      cached_tokens: 290,
      reasoning_tokens: 222 - 26,
    })
    expect(readerOf('moonshot').usage).toMatchObject({ cached_tokens: 8, reasoning_tokens: 7 })
    expect(readerOf('qwen').usage).toMatchObject({ prompt_tokens: 295, cached_tokens: 128 })
    expect(readerOf('gemini').carried()).toEqual({
      calls: [{ extra_content: { google: { thought_signature: 'EjQKMgEMOdbHJChLX75QUCJjyYlm' } } }],
    })
  })

  test('are read with CR line endings and a byte order mark', () => {
    const bytes = readFileSync(join(folder, 'glm.chunks.txt'), 'utf8').replaceAll('\r\n', '\r')
    expect(read(Buffer.from(`\ufeff${bytes}`), [5])).toMatchObject({ text: '我来查一下。' })
  })
})
