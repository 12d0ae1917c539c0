// Sending messages, runs and how they fail, and decisions on their tool calls.

export const RUN_FAILURES = {
  account_disabled: ['unauthorized', 'This account is disabled. Ask an administrator.'],
  answer_without_question: [
    'bad_request',
    'This answer has no user message to regenerate it from.',
  ],
  approval_not_found: [
    'not_found',
    'No approval request with this id_ref is waiting for a decision.',
  ],
  approved_arguments_invalid: ['validation_failed', '{{detail}}'],
  attachment_needs_vision: [
    'bad_attachment',
    'This model does not accept images, so “{{name}}” cannot be attached. Choose a model with vision.',
  ],
  attachment_not_image: ['bad_attachment', '“{{name}}” is not an image of type {{type}}.'],
  attachment_not_text: [
    'bad_attachment',
    '“{{name}}” is not a text file. Attach text, or an image as PNG, JPEG, WebP or GIF.',
  ],
  attachments_too_large: [
    'payload_too_large',
    'The attachments are too large ({{size}} in total). The limit is {{limit}}. Send fewer or smaller files.',
  ],
  background_tasks_exhausted: [
    'too_many_runs',
    'There are already {{limit}} background tasks running. Wait for one to finish.',
  ],
  call_decided: ['approval_decided', 'This tool call was already approved or rejected.'],
  client_call_unknown: [
    'bad_request',
    'No tool call with the ID “{{id}}” precedes this result. Send tool calls together with their results.',
  ],
  client_result_missing: [
    'bad_request',
    'The result of the tool call “{{name}}” is missing. Send a result for every call of your tools.',
  ],
  conversation_busy: ['conflict', 'Other answers keep starting in this conversation. Try again.'],
  conversation_gone: ['not_found', 'The conversation was deleted.'],
  conversation_has_run: [
    'run_active',
    'This conversation is already being answered. Wait for the answer to finish, or stop it first.',
  ],
  image_not_data_url: [
    'bad_attachment',
    'Send images as data URLs: data:image/png;base64,… (PNG, JPEG, WebP or GIF).',
  ],
  input_answered: ['conflict', 'This question was already answered.'],
  input_content_invalid: ['validation_failed', '{{detail}}'],
  input_not_found: ['not_found', 'No MCP server is waiting for input with this id_ref.'],
  message_too_long: [
    'validation_failed',
    'The message has {{length}} characters. The limit is {{limit}}.',
  ],
  nothing_to_answer: [
    'bad_request',
    'There is nothing to answer. The last message must come from the user or be a result of one of your tools.',
  ],
  only_own_messages_editable: ['bad_request', 'You can only edit your own messages.'],
  only_answers_revisable: ['bad_request', 'Only the text of an answer can be changed this way.'],
  answer_not_finished: [
    'conflict',
    'This answer is still being written. Wait until it finishes, or stop it first.',
  ],
  parent_gone: ['not_found', 'The message that this one follows was deleted in the meantime.'],
  parent_not_an_answer: [
    'bad_request',
    '`parent_id` must refer to an answer in this conversation.',
  ],
  programs_exhausted: [
    'too_many_requests',
    'You can run {{limit}} programs at once. Wait for one to finish, or stop one.',
  ],
  project_would_be_too_large: [
    'project_full',
    'The change was undone because the project would grow to {{size}}. The limit is {{limit}}.',
  ],
  python_unavailable: [
    'forbidden',
    'Python cannot be run here: this server does not offer it, or not to your account.',
  ],
  restore_not_recorded: [
    'store_busy',
    'The files were restored, but the checkpoint of the restore could not be stored yet.',
  ],
  run_completed: ['run_not_resumable', 'This answer is complete. There is nothing to resume.'],
  run_continues_soon: [
    'store_unavailable',
    'The server is about to continue this answer. Try again shortly.',
  ],
  run_minutes_used_up: [
    'budget_exceeded',
    'This answer reached the limit of {{limit}} minutes. You can resume it.',
  ],
  run_not_prepared: ['internal', 'The answer could not be prepared. Try again.'],
  run_not_stored: [
    'internal',
    'The answer could not be stored, so it stops here. Send the message again, or resume the answer.',
  ],
  run_still_active: ['run_not_resumable', 'This answer is still in progress.'],
  run_takes_no_decision: [
    'approval_decided',
    'This answer has ended. None of its tool calls is waiting for a decision.',
  ],
  run_takes_no_input: [
    'conflict',
    'This answer has ended. None of its tool calls is waiting for input.',
  ],
  run_tokens_used_up: [
    'budget_exceeded',
    'This answer reached the limit of {{limit}} tokens. Send a new message to continue.',
  ],
  run_without_answer: ['internal', 'There is no answer. Try again.'],
  runs_exhausted: [
    'too_many_runs',
    'You have reached the limit of {{limit}} answers at once. Wait for one to finish, or stop one.',
  ],
  task_not_found: ['not_found', 'Background task not found.'],
} as const
