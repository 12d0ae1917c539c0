// Sending messages, runs and how they fail, and decisions on their tool calls.

export const RUN_FAILURES = {
  answer_schema_invalid: ['bad_request', 'The schema of the answer cannot be used: {{detail}}'],
  account_disabled: ['unauthorized', 'This account is disabled. Ask an administrator.'],
  answer_without_question: [
    'bad_request',
    'This answer has no user message to regenerate it from.',
  ],
  approval_not_found: [
    'not_found',
    'No approval request with this id_ref is waiting for a decision.',
  ],
  approval_changed: [
    'approval_changed',
    'This is not the call that waits. Look at it again before you decide.',
  ],
  approval_links_exhausted: [
    'too_many_requests',
    'This request already has {{limit}} open links. Use one of them, or decide on the page.',
  ],
  approver_unknown: ['validation_failed', 'There is no account or group “{{approver}}”.'],
  approvers_need_accounts: [
    'validation_failed',
    'Others can only decide on a server with accounts (`auth_mode: multi`).',
  ],
  approval_unknown: ['not_found', 'This request for a decision does not exist.'],
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
    'You have reached the limit of background tasks at once ({{limit}}). Wait for one to finish.',
  ],
  call_decided: ['already_decided', 'This tool call was already approved or rejected.'],
  channel_unknown: ['channel_unknown', 'You have no channel called “{{name}}”. Add it first.'],
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
  grant_allows_rejected: [
    'grant_allows_rejected',
    'This permission would have allowed a call that you rejected. Make it narrower, or store it anyway.',
  ],
  grant_expires_too_early: ['validation_failed', 'The permission must end in the future.'],
  grant_match_invalid: [
    'validation_failed',
    'The pattern of the argument “{{argument}}” is not allowed. {{detail}}',
  ],
  grant_match_missing: [
    'validation_failed',
    'Say which calls the permission is for: give `match`, or `approval_id` of the call.',
  ],
  grant_match_too_large: [
    'validation_failed',
    'The patterns of this permission are too long. Use shorter ones, such as `prefix`.',
  ],
  grant_not_found: ['not_found', 'This permission does not exist.'],
  grant_other_tool: [
    'validation_failed',
    'The permission must be for the tool of the call, “{{tool}}”.',
  ],
  grant_too_wide: [
    'grant_too_wide',
    'After reading web pages or the files of others, the argument “{{argument}}” must be limited further.',
  ],
  grant_tool_too_wide: [
    'grant_too_wide',
    'After reading web pages or the files of others, calls of “{{tool}}” are always asked about.',
  ],
  grant_tool_unknown: ['validation_failed', 'You have no tool named “{{tool}}”.'],
  grants_exhausted: [
    'too_many_requests',
    'You already have {{limit}} permissions. Remove some that you no longer need.',
  ],
  sent_file_empty: [
    'bad_attachment',
    'A file has no content. Send it as base64 or as a data URL, or upload it first and send its id.',
  ],
  image_not_data_url: [
    'bad_attachment',
    'Send images as data URLs: data:image/png;base64,… (PNG, JPEG, WebP or GIF).',
  ],
  citation_not_found: ['not_found', 'There is no such citation.'],
  skill_unknown: ['skill_unknown', 'There is no skill named “{{name}}”.'],
  skill_not_active: ['skill_unknown', 'The skill “{{name}}” cannot be used here now.'],
  skill_invalid: ['skill_invalid', 'This is not a skill: {{detail}}'],
  skill_not_found: ['not_found', 'There is no such skill.'],
  skill_file_not_found: ['not_found', 'The skill has no file “{{path}}”.'],
  skill_file_not_text: ['binary_file', 'The file “{{path}}” of the skill is not a text.'],
  skill_too_large: [
    'payload_too_large',
    'A skill has at most {{files}} files and {{size}}, and its SKILL.md {{text}}.',
  ],
  project_skills_full: [
    'conflict',
    'A project can have {{limit}} skills with {{entries}} files and folders together. Delete one first.',
  ],
  skills_exhausted: [
    'conflict',
    'You can have {{limit}} skills with {{size}} together. Delete one first.',
  ],
  content_changed: [
    'content_changed',
    'This is no longer the current version. Look at what has changed, and decide again.',
  ],
  consent_without_file: ['not_found', 'The project has neither AGENTS.md nor CLAUDE.md.'],
  run_takes_no_plan: ['conflict', 'The answer has ended, so its plan can no longer be changed.'],
  run_without_plan: ['conflict', 'This answer has no plan that could be changed.'],
  input_answered: ['already_decided', 'This question was already answered.'],
  input_content_invalid: ['validation_failed', '{{detail}}'],
  input_not_found: ['not_found', 'No MCP server is waiting for input with this id_ref.'],
  link_gone: [
    'link_gone',
    'This link no longer works. The request was decided, or the link has expired.',
  ],
  link_guesses_exhausted: [
    'too_many_requests',
    'Too many links that do not exist were opened. Try again in {{seconds}} s.',
  ],
  message_too_long: [
    'validation_failed',
    'The message has {{length}} characters. The limit is {{limit}}.',
  ],
  run_project_differs: [
    'conflict',
    'The conversation of this run does not belong to this project. Leave out `project_id` to continue it, or `previous_run_id` to start a new conversation.',
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
  not_yours: [
    'not_yours',
    'You decide this call for somebody else. You can approve or reject it, but not change it or allow others like it.',
  ],
  open_the_page: [
    'open_the_page',
    'This call can do much harm and can only be approved on the page.',
  ],
  parent_gone: ['not_found', 'The message that this one follows was deleted in the meantime.'],
  parent_not_an_answer: [
    'bad_request',
    '`parent_id` must refer to an answer in this conversation.',
  ],
  programs_exhausted: [
    'too_many_requests',
    'You have reached the limit of programs at once ({{limit}}). Wait for one to finish, or stop one.',
  ],
  project_would_have_too_many_entries: [
    'project_full',
    'The change was undone because the project would have more than {{limit}} files and folders.',
  ],
  project_would_be_too_large: [
    'project_full',
    'The change was undone because the project would grow to {{size}}. The limit is {{limit}}.',
  ],
  python_unavailable: [
    'forbidden',
    'Python cannot be run here: this server does not offer it, or not to your account.',
  ],
  question_has_no_link: [
    'bad_request',
    'A question is answered on the page. Links are only for calls that wait for approval.',
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
    'This answer reached its time limit ({{limit}} min). You can resume it.',
  ],
  run_not_prepared: ['internal', 'The answer could not be prepared. Try again.'],
  run_not_stored: [
    'internal',
    'The answer could not be stored, so it stops here. Send the message again, or resume the answer.',
  ],
  run_still_active: ['run_not_resumable', 'This answer is still in progress.'],
  run_takes_no_decision: [
    'already_decided',
    'This answer has ended. None of its tool calls is waiting for a decision.',
  ],
  run_takes_no_input: [
    'already_decided',
    'This answer has ended. None of its tool calls is waiting for input.',
  ],
  run_tokens_used_up: [
    'budget_exceeded',
    'This answer reached its token limit ({{limit}}). Send a new message to continue.',
  ],
  run_without_answer: ['internal', 'There is no answer. Try again.'],
  runs_exhausted: [
    'too_many_runs',
    'You have reached the limit of answers at once ({{limit}}). Wait for one to finish, or stop one.',
  ],
  someone_else_must_decide: [
    'someone_else_must_decide',
    'In this project, somebody else decides calls of high risk. Ask one of its approvers.',
  ],
  task_not_found: ['not_found', 'Background task not found.'],
} as const
