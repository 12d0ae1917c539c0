// The finish reasons of providers, in their words and in any case.
import { expect, test } from 'vitest'
import { endingOf } from '../../../server/llm/failure.ts'

test.each([
  [
    'stop',
    [
      'stop',
      'STOP',
      'eos',
      'eos_token',
      'end_turn',
      'stop_sequence',
      'tool_calls',
      'tool_use',
      'COMPLETE',
      '',
      'new_word',
    ],
  ],
  [
    'length',
    [
      'length',
      'LENGTH',
      'MAX_TOKENS',
      'max_tokens',
      'maxTokens',
      'FINISH_REASON_MAX_TOKENS',
      'model_length',
      'max_output_tokens',
      'model_context_window_exceeded',
      'repetition_truncation',
    ],
  ],
  [
    'filter',
    [
      'content_filter',
      'SAFETY',
      'RECITATION',
      'PROHIBITED_CONTENT',
      'refusal',
      'sensitive',
      'guardrail_intervened',
      'content-filter',
    ],
  ],
  ['malformed', ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL']],
  ['error', ['error', 'network_error', 'insufficient_system_resource', 'aborted']],
  ['pause', ['pause_turn']],
] as const)('%s is meant by each of its words', (ending, words) => {
  for (const word of words) expect([word, endingOf(word)]).toEqual([word, ending])
  expect(endingOf(null)).toBe('stop')
})
