// Reading recorded streams of the Responses API, wherever they are split or cut off.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createResponseEventReader } from '../../../../server/llm/responses/responses-reader.ts'
import { createEventStreamReader } from '../../../../server/llm/streaming/streamed-client/event-stream.ts'

const file = join(import.meta.dirname, '../../../fixtures/llm/responses-reasoning.events.txt')
const bytes = readFileSync(file)

const read = (cut: number, upTo = bytes.length) => {
  const reader = createResponseEventReader({ model: 'M' })
  const lines = createEventStreamReader(reader.read)
  lines.push(bytes.subarray(0, Math.min(cut, upTo)))
  lines.push(bytes.subarray(Math.min(cut, upTo), upTo))
  lines.end()
  const text = reader.end().map((event) => ('text' in event ? event.text : ''))
  return { reader, thinking: text.join('') }
}

test('a recorded stream is read the same wherever it is split, and a cut one has no end', () => {
  const whole = read(0)
  expect(whole.thinking).toMatch(/^\*\*Add first, then double[\s\S]*stay visible\.$/)
  expect(whole.reader.calls()).toEqual([
    {
      id: 'call_Rlj0QDlO8025P36cuyx130Bh',
      name: 'calculator',
      arguments: '{"a":9,"b":4,"op":"add"}',
    },
  ])
  expect(whole.reader.usage).toMatchObject({ prompt_tokens: 134, completion_tokens: 28 })
  expect(whole.reader.carried()).toMatchObject([
    // The final reasoning item; the first event of the item contains only a part of it.
    { type: 'reasoning', encrypted_content: expect.stringMatching(/^gAAAAABXBmTepo6/) },
    { type: 'function_call', id: expect.stringMatching(/^fc_/) },
  ])
  for (let cut = 0; cut <= bytes.length; cut += 23) {
    const { reader, thinking } = read(cut)
    expect([reader.carried(), reader.done, reader.unreadable, thinking]).toEqual([
      whole.reader.carried(),
      true,
      0,
      whole.thinking,
    ])
    expect(read(0, Math.min(cut, bytes.length - 200)).reader.done).toBe(false)
  }
})

test('items are distinguished by their position, because some services change their ids', () => {
  const reader = createResponseEventReader({ model: 'M' })
  const events = [
    {
      type: 'response.output_item.added',
      output_index: 1,
      item: { type: 'function_call', id: 'a' },
    },
    {
      type: 'response.function_call_arguments.delta',
      output_index: 1,
      item_id: 'b',
      delta: '{"x":',
    },
    { type: 'response.function_call_arguments.delta', output_index: 1, item_id: 'c', delta: '1}' },
    {
      type: 'response.output_item.done',
      output_index: 1,
      item: { type: 'function_call', id: 'd', call_id: 'call_1', name: 'look', arguments: '' },
    },
    // Reasoning with neither encrypted content nor text is not sent back.
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'reasoning', id: 'e', encrypted_content: null, content: [], summary: [] },
    },
    { type: 'response.completed', response: { status: 'completed', output: [] } },
  ]
  for (const event of events) reader.readObject(event)
  expect(reader.calls()).toEqual([{ id: 'call_1', name: 'look', arguments: '{"x":1}' }])
  expect(reader.carried()).toBeUndefined()
  expect(reader.usage).toBeNull()

  // Nor do all gateways number the events.
  const other = createResponseEventReader({ model: 'M' })
  for (const event of events) other.readObject({ ...event, sequence_number: 1 })
  expect([other.error, other.calls().length]).toEqual([null, 1])
  const doubled = createResponseEventReader({ model: 'M' })
  for (const [at, event] of events.entries())
    for (const _ of 'ab') doubled.readObject({ ...event, sequence_number: at })
  expect(doubled.error?.reason).toBe('model_stream_disordered')
})

test('each part of a summary is a paragraph', () => {
  const reader = createResponseEventReader({ model: 'M' })
  const type = 'response.reasoning_summary_text.delta'
  reader.readObject({
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'reasoning' },
  })
  for (const [summary_index, delta] of [
    [0, 'One'],
    [0, '.'],
    [1, 'Two.'],
  ] as const)
    reader.readObject({ type, output_index: 0, summary_index, delta })
  expect(reader.take()).toEqual([{ type: 'thinking_delta', text: 'One.\n\nTwo.' }])
})
