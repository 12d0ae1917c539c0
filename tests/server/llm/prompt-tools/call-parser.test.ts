// Tool calls in plain text are found in every notation and however the text is split, and only where there are calls.
import { StringDecoder } from 'node:string_decoder'
import { describe, expect, test } from 'vitest'
import type { KnownTools } from '../../../../server/llm/prompt-tools/call-parser/read-calls.ts'
import { createPromptCallParser } from '../../../../server/llm/prompt-tools/call-parser.ts'
import { promptOutputs } from '../../../fixtures/llm/prompt-outputs.ts'

const text = { type: 'string' }
const known: KnownTools = new Map(
  Object.entries({
    get_weather: { city: text },
    get_current_time: {},
    file_write: { path: text, content: text },
    file_list: { path: text },
    calculator: { expression: text },
    multi_agent: {},
  }).map(([name, properties]) => [name, { type: 'object', properties }]),
)

/** The text shown and the calls found when the answer arrives in these pieces. */
function parse(pieces: Iterable<string>) {
  const parser = createPromptCallParser(known)
  let shown = ''
  for (const piece of pieces) shown += parser.push(piece)
  shown += parser.end({ cutOff: false })
  return {
    text: shown,
    calls: parser.calls.map((call) => [call.name, JSON.parse(call.arguments)]),
    faults: parser.faults.length,
  }
}

/** Splits bytes into pieces of `size` and decodes them; a character that is split arrives with its last byte. */
function* inPieces(bytes: Buffer, size: number): Generator<string> {
  const decoder = new StringDecoder('utf8')
  for (let at = 0; at < bytes.length; at += size) yield decoder.write(bytes.subarray(at, at + size))
}

describe('answers of models', () => {
  test('are at least 150 examples', () => {
    expect(promptOutputs.length).toBeGreaterThanOrEqual(150)
  })

  test.each(promptOutputs)('are read: $name', ({ output, text: shown, calls, faults = 0 }) => {
    expect(parse([output])).toEqual({ text: shown, calls, faults })
  })

  test.each(promptOutputs)(
    'are read the same when they are split anywhere: $name',
    ({ output }) => {
      const whole = JSON.stringify(parse([output]))
      const bytes = Buffer.from(output)
      for (const size of [1, 2, 3, 4, 7])
        expect(JSON.stringify(parse(inPieces(bytes, size)))).toBe(whole)
      for (let at = 1; at < bytes.length; at += 1) {
        const decoder = new StringDecoder('utf8')
        const two = [decoder.write(bytes.subarray(0, at)), decoder.write(bytes.subarray(at))]
        expect(JSON.stringify(parse(two))).toBe(whole)
      }
    },
  )

  test('show nothing of a call while it streams', () => {
    for (const { output, calls, name } of promptOutputs) {
      if (calls.length === 0 || name.includes('code')) continue
      const parser = createPromptCallParser(known)
      for (const character of output) expect(parser.push(character)).not.toMatch(/[{}]|tool_call/)
    }
  })

  test('leave no empty fence in place of a fenced call, for any fence and any split of the text', () => {
    const call = '{"tool_call": {"name": "get_weather", "arguments": {"city": "Rom"}}}'
    for (const fence of ['```', '````', '~~~', '~~~~~'])
      for (const language of ['', 'json', 'tool_call', ' json '])
        for (const lineEnd of ['\n', '\r\n']) {
          const block = [fence + language, call, fence].join(lineEnd)
          const whole = ['I look.', block, 'Then I say it.'].join(lineEnd + lineEnd)
          for (const size of [1, 3, whole.length]) {
            const { text: shown, calls } = parse(inPieces(Buffer.from(whole), size))
            expect(calls).toEqual([['get_weather', { city: 'Rom' }]])
            expect(shown).not.toMatch(/[`~]/)
            expect(shown.replaceAll(/\s+/g, ' ').trim()).toBe('I look. Then I say it.')
          }
        }
  })

  test('keep a fence of tildes around code, and tildes that are no fence', () => {
    for (const text of [
      'Look:\n\n~~~python\nprint({"name": "get_weather", "arguments": {}})\n~~~\n\nDone.',
      '~~~\nplain `text` and\n```\n{"name": "get_weather", "arguments": {}}\n```\n~~~\nEnd.',
      '~~~json\n{"unit": "C"}\n~~~\nEnd.',
      '~~no~~ and ~3 of them\n~~struck~~ out\n~',
    ])
      for (const size of [1, 4, text.length])
        expect(parse(inPieces(Buffer.from(text), size))).toEqual({ text, calls: [], faults: 0 })
  })

  test('read a call in a fence of tildes whose string has a stray quote or backticks', () => {
    const content = 'Run ```npm``` and "wait"\n```\ndone'
    const written = JSON.stringify({ name: 'file_write', arguments: { path: 'a', content } })
    const exact = parse([`~~~json\n${written}\n~~~\nDone.`])
    expect(exact).toEqual({
      text: 'Done.',
      calls: [['file_write', { path: 'a', content }]],
      faults: 0,
    })
    const stray = '{"name": "file_write", "arguments": {"path": "a", "content": "say "hi" now"}}'
    expect(parse([`~~~\n${stray}\n~~~`])).toMatchObject({
      text: '',
      calls: [['file_write', { path: 'a', content: 'say "hi" now' }]],
    })
  })

  test('show plain text at once, except for trailing white space', () => {
    const parser = createPromptCallParser(known)
    expect(parser.push('Hello wor')).toBe('Hello wor')
    expect(parser.push('ld \n')).toBe('ld')
    expect(parser.push('x')).toBe(' \nx')
  })

  test('with a call cut off at the token limit have a fault, not a shorter call', () => {
    for (const cut of [
      '{"tool_call": {"name": "get_weather", "arguments": {"city": "Par',
      '{"tool_call": {"name": "get_weather", "arguments": {"city": "Paris"}',
    ]) {
      const parser = createPromptCallParser(known)
      expect(parser.push(cut) + parser.end({ cutOff: true })).toBe('')
      expect([parser.calls.length, parser.faults.length]).toEqual([0, 1])
    }
  })

  test('with floods of calls, brackets or nesting are read within limits', () => {
    const call = '{"name": "get_current_time", "arguments": {}}\n'
    expect(parse([call.repeat(100)]).calls).toHaveLength(32)
    for (const flood of [
      '{'.repeat(100_000),
      '[{"name":'.repeat(20_000),
      '<tool_call>'.repeat(20_000),
      '```json\n{'.repeat(20_000),
    ])
      expect(parse([flood]).calls).toEqual([])
  })
})
