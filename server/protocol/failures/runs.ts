// Sending messages, runs and how they fail, and decisions on their tool calls.

export const RUN_FAILURES = {
  account_disabled: ['unauthorized', 'This account is disabled.'],
  answer_without_question: [
    'bad_request',
    'There is no message that this answer belongs to, so it cannot be regenerated.',
  ],
  approval_not_found: ['not_found', 'No approval request is waiting under this id_ref.'],
  approved_arguments_invalid: ['validation_failed', '{{detail}}'],
  attachment_needs_vision: [
    'bad_attachment',
    'This model does not accept images, so "{{name}}" cannot be attached. Choose a model with vision.',
  ],
  attachment_not_image: ['bad_attachment', '"{{name}}" is not an image of type {{type}}.'],
  attachment_not_text: [
    'bad_attachment',
    '"{{name}}" is not a text file. Attach text, or an image as PNG, JPEG, WebP or GIF.',
  ],
  attachments_too_large: [
    'payload_too_large',
    'The total size of the attachments is {{size}}; at most {{limit}} are allowed. Send fewer or smaller files.',
  ],
  background_tasks_exhausted: [
    'too_many_runs',
    '{{limit}} background tasks are already running. Wait for one to end.',
  ],
  call_decided: ['approval_decided', 'This call was already decided.'],
  client_call_unknown: [
    'bad_request',
    'There is no call with the id "{{id}}" before its result. Send calls and their results together.',
  ],
  client_result_missing: [
    'bad_request',
    'The result of the call of "{{name}}" is missing. Send a result for every call of your tools.',
  ],
  conversation_busy: ['conflict', 'New runs keep starting in this conversation. Try again.'],
  conversation_gone: ['not_found', 'The conversation was deleted.'],
  conversation_has_run: [
    'run_active',
    'This conversation already has an active run. Wait for it, or stop it first.',
  ],
  image_not_data_url: [
    'bad_attachment',
    'Send images as data URLs: data:image/png;base64,… (PNG, JPEG, WebP or GIF).',
  ],
  input_answered: ['conflict', 'This question was already answered.'],
  input_content_invalid: ['validation_failed', '{{detail}}'],
  input_not_found: ['not_found', 'No MCP server is waiting for input under this id_ref.'],
  message_too_long: [
    'validation_failed',
    'The message has {{length}} characters; at most {{limit}} are allowed.',
  ],
  nothing_to_answer: [
    'bad_request',
    'There is nothing to answer: end the messages with one of the user, or with results of your tools.',
  ],
  only_own_messages_editable: ['bad_request', 'Only your own messages can be edited.'],
  only_answers_revisable: ['bad_request', 'Only the text of an answer can be changed this way.'],
  answer_not_finished: ['conflict', 'This answer is still being written. Wait, or stop it first.'],
  parent_gone: ['not_found', 'The message that this one belongs to was deleted meanwhile.'],
  parent_not_an_answer: ['bad_request', '`parent_id` must be an answer in this conversation.'],
  project_would_be_too_large: [
    'project_full',
    'The project would have a size of {{size}}; at most {{limit}} are allowed. The change was undone.',
  ],
  restore_not_recorded: [
    'store_busy',
    'The files were restored, but the checkpoint of the restore could not be stored yet.',
  ],
  run_completed: ['run_not_resumable', 'This run is completed; there is nothing to continue.'],
  run_continues_soon: [
    'store_unavailable',
    'The server is about to continue this run. Try again shortly.',
  ],
  run_minutes_used_up: [
    'budget_exceeded',
    'This answer took {{limit}} minutes, the most that an answer may take. You can let it continue.',
  ],
  run_not_prepared: ['internal', 'The answer could not be prepared. Try again.'],
  run_not_stored: [
    'internal',
    'The answer could not be stored and ends here. Ask again, or resume it.',
  ],
  run_still_active: ['run_not_resumable', 'This run is still active.'],
  run_takes_no_decision: [
    'approval_decided',
    'This run has ended: none of its calls is waiting for a decision.',
  ],
  run_takes_no_input: ['conflict', 'This run has ended: none of its calls is waiting for input.'],
  run_tokens_used_up: [
    'budget_exceeded',
    'This answer used up the {{limit}} tokens that one answer may use. Ask for the rest with a new message.',
  ],
  run_without_answer: ['internal', 'The run ended without an answer.'],
  runs_exhausted: [
    'too_many_runs',
    'You already have {{limit}} active runs. Wait for one to end, or stop one.',
  ],
  task_not_found: ['not_found', 'There is no such task.'],
} as const
