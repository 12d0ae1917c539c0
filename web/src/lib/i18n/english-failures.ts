// What can go wrong with a model, by machine name (and reason), in English.

export const failureNames = {
  model_unauthorized:
    'The provider refused the API key of “{{model}}” ({{status}}). Check the key in the settings.',
  model_refused: '“{{model}}” refused the request ({{status}}).',
  model_refused_credit:
    'Your provider account for “{{model}}” is out of credit (402). Top it up, or choose another model.',
  model_not_found:
    'The provider doesn’t know “{{model}}”, or its address is wrong (404). Check the settings.',
  model_rate_limited:
    'The provider of “{{model}}” is limiting the rate of requests (429). Try again in a moment.',
  model_rate_limited_quota:
    'Your quota for “{{model}}” at the provider is used up (429). Choose another model, or wait for it to reset.',
  model_unavailable:
    'The provider of “{{model}}” has a problem. Try again, or choose another model.',
  model_unavailable_connection:
    'Can’t reach “{{model}}”. Check the provider’s address and the network.',
  model_timeout: 'The provider of “{{model}}” took too long.',
  model_timeout_silence: '“{{model}}” sent nothing for {{seconds}} seconds.',
  model_stream_broken: 'The connection to “{{model}}” closed before the answer was complete.',
  model_bad_answer:
    'The address of “{{model}}” isn’t an OpenAI-compatible API. Check it in the settings.',
  model_context_exceeded:
    'The conversation is too long for “{{model}}”. Start a new one, or choose a model with a larger context.',
  quoted: 'The provider says: {{detail}}',
}

export type FailureName = keyof typeof failureNames
