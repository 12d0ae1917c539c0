// What can go wrong with a model, by machine name (and reason), in English.

export const failureNames = {
  model_unauthorized:
    'The provider refused the API key of “{{model}}” ({{status}}). Check the key in the settings.',
  model_refused: '“{{model}}” refused the request ({{status}}).',
  model_refused_credit: 'The account of “{{model}}” at the provider has no credit left (402).',
  model_not_found:
    'The provider does not know “{{model}}”, or its address is wrong (404). Check the settings.',
  model_rate_limited: 'The provider of “{{model}}” asks to slow down (429). Try again in a moment.',
  model_rate_limited_quota: 'The quota of “{{model}}” at the provider is used up (429).',
  model_unavailable: 'The provider of “{{model}}” has a fault. Try again, or choose another model.',
  model_unavailable_connection:
    '“{{model}}” cannot be reached. Check the provider’s address and the network.',
  model_timeout: 'The provider of “{{model}}” took too long.',
  model_timeout_silence: '“{{model}}” sent nothing for {{seconds}} seconds.',
  model_stream_broken: 'The connection to “{{model}}” ended before the answer was complete.',
  model_bad_answer:
    'What answers as “{{model}}” is no OpenAI-compatible API. Check its address in the settings.',
  model_context_exceeded: 'The conversation is too long for “{{model}}”.',
  quoted: 'The provider says: {{detail}}',
}

export type FailureName = keyof typeof failureNames
