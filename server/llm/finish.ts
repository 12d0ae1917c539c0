// What a provider's finish reason means, in whatever words and case it comes.

/**
 * How a response ended. `filter`: a content filter or the model itself refused; `malformed`: the provider could not read
 * the model's call; `error`: the provider failed; `pause`: the model waits for a tool of the provider.
 */
export type Ending = 'stop' | 'length' | 'filter' | 'malformed' | 'error' | 'pause'

/**
 * OpenAI's, Anthropic's, Gemini's (https://ai.google.dev/api/generate-content#FinishReason), Bedrock's, Cohere's, Mistral's and
 * GLM's words, without the case and with single underscores. Every other word means that the model stopped by itself.
 */
const ENDINGS: ReadonlyMap<string, Ending> = new Map(
  Object.entries({
    length: [
      'length',
      'max_tokens',
      'max_output_tokens',
      'max_completion_tokens',
      'max_new_tokens',
      'max_length',
      'model_length',
      'token_limit',
      'context_length',
      'context_length_exceeded',
      'context_window_exceeded',
      'model_context_window_exceeded',
      'truncated',
      'incomplete',
      'repetition',
      'repetition_truncation',
      'time_limit',
    ],
    filter: [
      'content_filter',
      'content_filtered',
      'safety',
      'recitation',
      'language',
      'blocklist',
      'prohibited_content',
      'spii',
      'image_safety',
      'image_prohibited_content',
      'image_recitation',
      'guardrail_intervened',
      'refusal',
      'refused',
      'sensitive',
      'moderation',
      'censored',
      'blocked',
      'error_toxic',
      'data_inspection_failed',
    ],
    malformed: [
      'malformed_function_call',
      'malformed_tool_use',
      'malformed_model_output',
      'malformed_response',
      'unexpected_tool_call',
      'too_many_tool_calls',
      'missing_thought_signature',
    ],
    error: [
      'error',
      'error_limit',
      'failed',
      'network_error',
      'insufficient_system_resource',
      'abort',
      'aborted',
      'cancelled',
      'canceled',
      'timeout',
      'other_error',
    ],
    pause: ['pause_turn'],
  } satisfies Record<Exclude<Ending, 'stop'>, string[]>).flatMap(([ending, words]) =>
    // The keys are those of the object above.
    words.map((word) => [word, ending as Ending] as const),
  ),
)

/** How a response with this finish reason ended. */
export const endingOf = (reason: string | null): Ending =>
  ENDINGS.get(
    (reason ?? '')
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .replace(/[^a-z]+/g, '_')
      .replace(/^_|_$|^finish_reason_|^_?finishreason_/g, ''),
  ) ?? 'stop'
