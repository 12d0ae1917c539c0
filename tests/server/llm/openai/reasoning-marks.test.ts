// Reasoning that models mark in their text is separated from the answer; text about such marks stays text.
import { describe, expect, test } from 'vitest'
import { gatherProse, handOver } from '../../../../server/llm/prose.ts'
import { createDeltaBuffer } from '../../../../server/llm/streaming/delta-buffer.ts'

/** What a person sees when the text arrives in pieces of this size, each in a read of its own. */
function read(text: string, size = text.length, thinking = '') {
  const buffer = createDeltaBuffer()
  const seen = gatherProse()
  buffer.addThinking(thinking)
  for (let at = 0; at < text.length; at += size) {
    buffer.addText(text.slice(at, at + size))
    void handOver(buffer.take(), seen)
  }
  void handOver(buffer.end(), seen)
  return { thinking: seen.thinking.trim(), text: seen.text }
}

const everySize = (text: string) => [1, 2, 3, 5, 7, text.length]

describe('reasoning', () => {
  test.each([
    ['DeepSeek, Qwen and others', '<think>\nHm < 3.\n</think>\n\nHello!'],
    ['nothing between mark and text', '<think>Hm < 3.</think>Hello!'],
    ['the chat template sent the opening mark', 'Hm < 3.\n</think>\n\nHello!'],
    ['… and the model writes no line break', 'Hm < 3.</think>Hello!'],
    ['… or only one after the mark', 'Hm < 3.</think>\n\nHello!'],
    ['<thinking>', '<thinking>Hm < 3.</thinking>\nHello!'],
    ['<reasoning>', '<reasoning>\nHm < 3.\n</reasoning>\nHello!'],
    ['<reason>', '<reason>Hm < 3.</reason>Hello!'],
    ['<Thought>', '<Thought>Hm < 3.</Thought>\nHello!'],
    ['LongCat', '<longcat_think>\nHm < 3.\n</longcat_think>\nHello!'],
    ['MiniMax', '<mm:think>Hm < 3.</mm:think>Hello!'],
    ['Gemini', '<thought>\nHm < 3.\n</thought>\nHello!'],
    ['Gemma', '<|channel>thought\nHm < 3.\n<channel|>Hello!'],
    ['Seed-OSS', '<seed:think>Hm < 3.</seed:think>Hello!'],
    ['Magistral', '[THINK]Hm < 3.[/THINK]Hello!'],
    ['Kimi', '◁think▷Hm < 3.◁/think▷Hello!'],
    ['OpenThinker', '<|begin_of_thought|>Hm < 3.<|end_of_thought|>Hello!'],
    ['Cohere', '<|START_THINKING|>Hm < 3.<|END_THINKING|>Hello!'],
    [
      'gpt-oss',
      '<|channel|>analysis<|message|>Hm < 3.<|end|><|start|>assistant<|channel|>final<|message|>Hello!<|return|>',
    ],
    [
      'gpt-oss with its first header',
      '<|start|>assistant<|channel|>analysis<|message|>Hm < 3.<|end|>Hello!',
    ],
  ])('is separated: %s', (_name, text) => {
    for (const size of everySize(text))
      expect(read(text, size)).toEqual({ thinking: 'Hm < 3.', text: 'Hello!' })
  })

  test('that is empty leaves no mark', () => {
    for (const text of [
      '</think>\n\nHello!',
      '<think>\n\n</think>\n\nHello!',
      '<think></think>Hello!',
    ])
      for (const size of everySize(text)) expect(read(text, size).text).toBe('Hello!')
  })

  test('in a field of its own makes a leaked closing mark none', () => {
    expect(read('</think>\n\nHello!', 3, 'Hm.')).toEqual({ thinking: 'Hm.', text: 'Hello!' })
    const text = 'Hello!\n</think>\nBye.'
    expect(read(text, 3, 'Hm.')).toEqual({ thinking: 'Hm.', text })
  })

  test('may come again after a part of the answer', () => {
    const text = '<think>A</think>One.\n<think>B</think>\nTwo.'
    for (const size of everySize(text))
      expect(read(text, size)).toEqual({ thinking: 'AB', text: 'One.\nTwo.' })
  })

  test('of a model that ends no sentence before a lone closing mark ends with its line', () => {
    const text = 'So it is 4</think>\n\nHello!'
    for (const size of everySize(text))
      expect(read(text, size)).toEqual({ thinking: 'So it is 4', text: 'Hello!' })
  })
})

test.each([
  'The model writes <think> before it reasons, and </think> after it.',
  'Use `<think>` and `</think>`.',
  'Use `</think>`',
  '```\n<think>x</think>\n```\n',
  'An example:\n```xml\n</think>\n```\nDone.',
  'Say "<think>" or “</think>”.',
  'A mark (</think>) ends it.',
  'The tag <thinking> and [THINK] and ◁think▷ are marks.',
  'In harmony, <|channel|>analysis<|message|> begins the reasoning.',
  'a < b, c <| d, [THIN] and ◁ are text',
  'Ends with <thi',
  'Use <think>reasoning</think> tags.',
  'Write it like this. <think>reasoning</think>\nThen the answer.',
  'Models end their reasoning with</think> and so on',
  'It ends with</think>',
  'Here is the prompt:\n\n<thinking>\nplan first\n</thinking>\nThen answer.',
  'The fields are:\n<reasoning>why</reasoning>\n<reason>short</reason>',
  'Its tags:\n<thought>\nand nothing closes it.',
  '`<think>` opens it.\n</think>\nThat was the end.',
])('text about marks stays text: %j', (text) => {
  for (const size of everySize(text)) expect(read(text, size)).toEqual({ thinking: '', text })
})
