// Models and their providers: why a model call failed, or is being retried.

/**
 * The provider's own message is quoted after the text, and is the parameter `detail`; `retry_after_seconds` is how long
 * the provider asks to wait.
 */
export const MODEL_FAILURES = {
  audio_unknown: [
    'bad_request',
    'This is not a recording that can be read. Send WebM, Ogg, MP4, M4A, MP3, WAV or FLAC.',
  ],
  images_off: [
    'not_found',
    'No service for images is configured on this server. An administrator can add `image_generation` to the configuration file.',
  ],
  images_not_allowed: [
    'not_found',
    'Creating images is switched off on this server or for this account.',
  ],
  media_failed: [
    'model_unavailable',
    'The service of “{{model}}” did not answer as it should. Try again; if it happens again, an administrator finds the cause in the log.',
  ],
  recording_too_large: [
    'payload_too_large',
    'The recording is larger than {{limit}} MB. Record a shorter one.',
  ],
  speech_off: [
    'not_found',
    'No service for speech is configured on this server. An administrator can add `speech` to the configuration file.',
  ],
  embeddings_failed: [
    'model_unavailable',
    'The endpoint for embeddings did not answer. Try again; if it happens again, an administrator finds the cause in the log.',
  ],
  embeddings_off: [
    'not_found',
    'No endpoint for embeddings is configured on this server. An administrator can add `embeddings` to the configuration file.',
  ],
  model_answer_unfinished: ['model_bad_answer', 'The model stopped before finishing its answer.'],
  model_answer_empty: [
    'model_bad_answer',
    'The model “{{model}}” answered nothing. Send your message again, or choose another model.',
  ],
  model_answer_endless: [
    'model_bad_answer',
    'The answer of “{{model}}” did not stop and was cut off. Try again, or choose another model.',
  ],
  model_answer_filtered: [
    'model_refused',
    'A content filter of the provider, or “{{model}}” itself, ended this answer ({{finish_reason}}). Rephrase your message, or choose another model.',
  ],
  model_answer_is_page: [
    'model_bad_answer',
    'The provider of “{{model}}” returned a web page. Check that api_url points to a model API.',
  ],
  model_answer_no_json: [
    'model_bad_answer',
    'The provider of “{{model}}” returned a response that is not a JSON object. Check that api_url points to a model API.',
  ],
  model_answer_no_stream: [
    'model_bad_answer',
    'The provider of “{{model}}” returned a response that is not an event stream. Check that api_url points to a model API.',
  ],
  model_answer_only_thinking: [
    'model_bad_answer',
    '“{{model}}” thought, but wrote no answer. Send your message again, or choose another model.',
  ],
  model_answer_only_thinking_cut: [
    'model_bad_answer',
    '“{{model}}” reached its output limit before it wrote an answer. Raise max_tokens of the conversation or the model, or let it think less.',
  ],
  model_api_missing: [
    'model_not_found',
    'There is no OpenAI-compatible API at this URL. Check the URL.',
  ],
  model_answer_not_in_format: [
    'model_bad_answer',
    '“{{model}}” did not answer in the requested format. Try again, or choose another model.',
  ],
  model_call_malformed: [
    'model_bad_answer',
    '“{{model}}” wrote a tool call that cannot be read. Send your message again, or choose another model.',
  ],
  model_call_unreadable: [
    'model_bad_answer',
    'The model wrote a tool call that cannot be parsed. It will be asked to write the call again.',
  ],
  model_context_exceeded: [
    'model_context_exceeded',
    'The conversation is too long for “{{model}}”. Start a new one, or choose a model with a larger context window.',
  ],
  model_key_lost: [
    'model_unauthorized',
    'The stored API key of {{model}} cannot be decrypted. An administrator must enter it again under Settings, Models.',
  ],
  model_list_empty: ['model_not_found', 'The provider lists no models. Enter a model name.'],
  model_not_found: [
    'model_not_found',
    'The provider does not recognize the model “{{model}}” or its URL ({{status}}). Check api_url and upstream_model.',
  ],
  model_rate_limited: [
    'model_rate_limited',
    'The provider of “{{model}}” is rate-limiting requests ({{status}}). Try again in a moment.',
  ],
  model_rate_limited_quota: [
    'model_rate_limited',
    'Your quota for “{{model}}” at the provider is used up ({{status}}). Choose another model, or wait until it resets.',
  ],
  model_redirected: [
    'model_bad_answer',
    'The URL of “{{model}}” redirects elsewhere ({{status}}). Check api_url.',
  ],
  model_refused: [
    'model_refused',
    'The provider of “{{model}}” rejected the request ({{status}}).',
  ],
  model_refused_credit: [
    'model_refused',
    'Your provider account for “{{model}}” is out of credit ({{status}}). Add credit, or choose another model.',
  ],
  model_stopped: ['model_stream_broken', 'The request to “{{model}}” was cancelled.'],
  model_stream_broken: [
    'model_stream_broken',
    'The connection to “{{model}}” closed before the answer was complete.',
  ],
  model_stream_disordered: [
    'model_stream_broken',
    'The provider of “{{model}}” sent parts of the answer twice or out of order. Try again, or choose another model.',
  ],
  model_timeout: [
    'model_timeout',
    'The provider of “{{model}}” took too long to respond ({{status}}).',
  ],
  model_timeout_silence: [
    'model_timeout',
    'The model “{{model}}” sent nothing for {{seconds}} seconds.',
  ],
  model_unauthorized: [
    'model_unauthorized',
    'The provider rejected the API key of “{{model}}” ({{status}}). Check the key in the settings.',
  ],
  model_unavailable: [
    'model_unavailable',
    'The provider of “{{model}}” has a problem ({{status}}). Try again, or choose another model.',
  ],
  model_unavailable_connection: [
    'model_unavailable',
    'Cannot reach the model “{{model}}”: the connection failed. Check the provider’s address and the network.',
  ],
  model_unavailable_connection_closed: [
    'model_unavailable',
    'Cannot reach the model “{{model}}”: the connection was closed. Check the provider’s address and the network.',
  ],
  model_unavailable_connection_refused: [
    'model_unavailable',
    'Cannot reach the model “{{model}}”: the connection was refused. Check the provider’s address and the network.',
  ],
  model_unavailable_connection_timed_out: [
    'model_unavailable',
    'Cannot reach the model “{{model}}”: the connection timed out. Check the provider’s address and the network.',
  ],
  model_unavailable_host_not_found: [
    'model_unavailable',
    'Cannot reach the model “{{model}}”: the host name could not be resolved. Check the provider’s address and the network.',
  ],
  model_unavailable_host_unknown: [
    'model_unavailable',
    'Cannot reach the model “{{model}}”: the host name is unknown. Check the provider’s address and the network.',
  ],
  model_unavailable_host_unreachable: [
    'model_unavailable',
    'Cannot reach the model “{{model}}”: the host is unreachable. Check the provider’s address and the network.',
  ],
  model_unavailable_insecure: [
    'model_unavailable',
    'Cannot reach the model “{{model}}”: the TLS connection failed. Check the provider’s address and the network.',
  ],
  model_unavailable_network: [
    'model_unavailable',
    'Cannot reach the model “{{model}}”: the network is unreachable. Check the provider’s address and the network.',
  ],
  model_unavailable_reported: [
    'model_unavailable',
    'The provider of “{{model}}” reported a problem. Try again, or choose another model.',
  ],
} as const
