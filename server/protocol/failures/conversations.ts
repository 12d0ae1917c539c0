// Conversations, models, memory, documents and channels.

export const CONVERSATION_FAILURES = {
  attachment_not_found: ['not_found', 'There is no such attachment.'],
  channel_name_taken: ['name_taken', "You already have a channel named '{{name}}'."],
  channel_not_found: ['not_found', 'There is no such channel.'],
  channel_settings_invalid: ['validation_failed', '{{detail}}'],
  channel_type_unknown: [
    'validation_failed',
    "There is no channel of type '{{type}}'. Use one of {{types}}.",
  ],
  webhook_not_found: ['not_found', 'There is no such webhook.'],
  webhook_tests_exhausted: [
    'too_many_requests',
    'You can send {{limit}} tests an hour, and that limit is reached. Try again later.',
  ],
  webhooks_exhausted: ['conflict', 'You can have at most {{limit}} webhooks. Delete one first.'],
  channels_exhausted: [
    'too_many_requests',
    'You can have at most {{limit}} channels. Delete one first.',
  ],
  conversation_not_found: ['not_found', 'There is no such conversation.'],
  document_not_found: ['not_found', 'There is no such document.'],
  documents_exhausted: [
    'too_many_requests',
    'A project can have at most {{limit}} documents. Delete some first.',
  ],
  export_not_found: ['not_found', 'There is no such export. Exports are deleted after a day.'],
  export_not_ready: [
    'conflict',
    'This export is not ready yet. Wait until its status is `completed`.',
  ],
  export_running: ['conflict', 'You already have an export in progress. Wait until it has ended.'],
  import_invalid: [
    'validation_failed',
    'This file does not contain a complete conversation ({{detail}}).',
  ],
  import_not_found: ['not_found', 'There is no such import.'],
  import_running: ['conflict', 'You already have an import in progress. Wait until it has ended.'],
  import_upload_too_large: ['payload_too_large', 'An import can have at most {{limit}}.'],
  memory_too_long: [
    'payload_too_large',
    'The memory can have at most {{limit}} characters; this text has {{length}}.',
  ],
  message_not_found: ['not_found', 'There is no such message.'],
  model_configured: ['conflict', 'This model is set in config.yml. Change it there.'],
  model_id_taken: ['name_taken', 'There is already a model with this id.'],
  model_key_missing: [
    'bad_request',
    "You changed the provider's address, so enter its API key as well.",
  ],
  model_unknown: ['not_found', 'There is no such model.'],
  nothing_to_undelete: ['not_found', 'There is no deletion that can be undone.'],
  outbox_full: [
    'too_many_requests',
    '{{limit}} messages are already waiting to be sent. Try again later.',
  ],
  recipients_exhausted: [
    'too_many_requests',
    'Your channels may send to {{limit}} recipients an hour, and that limit is reached. Try again in {{minutes}} minutes.',
  ],
  response_item_not_found: ['not_found', 'There is no item "{{id}}" in any response of yours.'],
  response_not_found: ['not_found', 'There is no response "{{id}}".'],
  run_not_found: ['not_found', 'There is no such run.'],
  share_expired: ['validation_failed', 'The time when a share expires must be in the future.'],
  share_guesses_exhausted: [
    'too_many_requests',
    'Too many wrong passwords for this link. Wait a while, then try again.',
  ],
  share_not_found: ['not_found', 'Nothing is shared under this link.'],
  share_password_needed: ['unauthorized', 'This link needs a password (X-Share-Password).'],
  share_password_wrong: ['unauthorized', 'The password for this link is wrong.'],
  share_too_large: ['payload_too_large', 'This conversation is too large to be shared.'],
  share_views_exhausted: [
    'too_many_requests',
    'Too many shared conversations were opened from this network. Wait a minute, then try again.',
  ],
  sharing_off: ['forbidden', 'Sharing is turned off on this server.'],
  unknown_model: ['unknown_model', 'There is no model "{{model}}". Available: {{available}}.'],
} as const
