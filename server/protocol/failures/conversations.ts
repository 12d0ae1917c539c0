// Conversations, models, memory, documents and channels.

export const CONVERSATION_FAILURES = {
  attachment_not_found: ['not_found', 'Attachment not found.'],
  channel_address_refused: [
    'validation_failed',
    'This server does not send email to {{address}}. Ask an administrator which addresses are allowed.',
  ],
  channel_mail_not_set_up: [
    'validation_failed',
    'This server cannot send email. Ask an administrator to configure `smtp`, or choose another type of channel.',
  ],
  channel_already_receiving: [
    'already_receiving',
    'Another channel already receives the messages of this bot. Only one can.',
  ],
  channel_has_no_token: ['validation_failed', 'No program hands over messages to this channel.'],
  channel_has_no_address: ['validation_failed', 'This channel has no address of its own.'],
  channel_mailbox_needed: [
    'validation_failed',
    'To receive email, the settings need `imap` and `address`.',
  ],
  channel_only_sends: ['validation_failed', 'Channels of the type “{{type}}” only send.'],
  channel_receive_off: ['unauthorized', 'The token is wrong, or the channel does not receive.'],
  channel_shared_by_admins: ['forbidden', 'Only administrators can make a channel for everybody.'],
  channels_off: ['not_found', 'Channels are not available for this account.'],
  codes_exhausted: ['too_many_requests', 'Too many wrong codes. Try again later.'],
  code_unknown: ['code_unknown', 'This code is wrong, used or too old.'],
  sender_not_found: ['not_found', 'Sender not found.'],
  sender_not_paired: [
    'conflict',
    'Only a code lets this sender in: it says whose account they use, or that the address is theirs.',
  ],
  channel_name_taken: ['name_taken', 'You already have a channel named “{{name}}”.'],
  channel_not_found: ['not_found', 'Channel not found.'],
  channel_settings_invalid: ['validation_failed', '{{detail}}'],
  channel_type_unknown: [
    'validation_failed',
    'Unknown channel type “{{type}}”. Use one of {{types}}.',
  ],
  channel_tests_exhausted: [
    'too_many_requests',
    'You have reached the limit of {{limit}} tests per hour. Try again later.',
  ],
  webhook_not_found: ['not_found', 'Webhook not found.'],
  webhook_tests_exhausted: [
    'too_many_requests',
    'You have reached the limit of {{limit}} tests per hour. Try again later.',
  ],
  webhooks_exhausted: [
    'conflict',
    'You have reached the limit of {{limit}} webhooks. Delete one first.',
  ],
  channels_exhausted: [
    'too_many_requests',
    'You have reached the limit of {{limit}} channels. Delete one first.',
  ],
  conversation_not_found: ['not_found', 'Conversation not found.'],
  document_encoding_fixed: [
    'conflict',
    'No other encoding can be chosen for “{{name}}”: it is being read, its encoding is certain, or its file is no longer stored.',
  ],
  document_not_found: ['not_found', 'Document not found.'],
  documents_exhausted: [
    'too_many_requests',
    'The project has reached the limit of documents ({{limit}}). Delete some first.',
  ],
  export_not_found: ['not_found', 'Export not found. Exports are deleted after one day.'],
  export_not_ready: [
    'conflict',
    'This export is not ready yet. Wait until its status is `completed`.',
  ],
  export_running: ['conflict', 'You already have an export in progress. Wait until it finishes.'],
  import_invalid: [
    'validation_failed',
    'This file does not contain a complete conversation ({{detail}}).',
  ],
  import_not_found: ['not_found', 'Import not found.'],
  import_running: ['conflict', 'You already have an import in progress. Wait until it finishes.'],
  import_upload_too_large: [
    'payload_too_large',
    'The import is too large: the limit is {{limit}}.',
  ],
  memory_too_long: [
    'payload_too_large',
    'The memory is limited to {{limit}} characters; this text has {{length}}. Shorten it.',
  ],
  message_not_found: ['not_found', 'Message not found.'],
  model_configured: ['conflict', 'This model is defined in config.yml. Change it there.'],
  model_id_taken: ['name_taken', 'A model with this ID already exists.'],
  model_key_missing: ['bad_request', 'The provider’s URL changed. Enter its API key again.'],
  model_unknown: ['not_found', 'Model not found.'],
  nothing_to_undelete: ['not_found', 'There is no deletion to undo.'],
  outbox_full: [
    'too_many_requests',
    'There are already {{limit}} messages waiting to be sent. Try again later.',
  ],
  recipients_exhausted: [
    'too_many_requests',
    'Your channels have reached the limit of recipients per hour ({{limit}}). Try again in {{minutes}} min.',
  ],
  response_item_not_found: ['not_found', 'None of your responses contains the item “{{id}}”.'],
  response_not_found: ['not_found', 'Response “{{id}}” not found.'],
  run_not_found: ['not_found', 'Answer not found.'],
  share_expired: ['validation_failed', 'The expiry time of a share must be in the future.'],
  share_guesses_exhausted: [
    'too_many_requests',
    'Too many incorrect passwords for this link. Wait a while, then try again.',
  ],
  share_not_found: ['not_found', 'This link does not exist or is no longer shared.'],
  share_password_needed: ['unauthorized', 'This link requires a password (X-Share-Password).'],
  share_password_wrong: ['unauthorized', 'The password for this link is incorrect.'],
  share_too_large: ['payload_too_large', 'This conversation is too large to share.'],
  share_views_exhausted: [
    'too_many_requests',
    'Too many shared conversations were opened from your network. Wait a minute, then try again.',
  ],
  sharing_off: ['forbidden', 'Sharing is disabled on this server.'],
  unknown_model: ['unknown_model', 'Unknown model “{{model}}”. Available models: {{available}}.'],
} as const
