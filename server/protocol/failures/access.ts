// Signing in, accounts, API keys, and requests that are refused before they reach a route.

export const ACCESS_FAILURES = {
  mcp_client_not_configured: [
    'conflict',
    'The authorization server does not let clients register themselves. An administrator must set `oauth.client_id` for this MCP server.',
  ],
  mcp_headers_missing: ['bad_request', 'The MCP server’s URL changed. Enter its headers again.'],
  mcp_not_connected: ['conflict', 'The MCP server “{{server}}” is unavailable. Try again later.'],
  mcp_prompt_failed: ['conflict', 'The MCP server “{{server}}” did not return this prompt.'],
  mcp_resource_empty: ['conflict', 'This resource on the MCP server “{{server}}” is empty.'],
  mcp_resource_failed: ['conflict', 'The MCP server “{{server}}” did not return this resource.'],
  mcp_server_configured: ['conflict', 'This MCP server is defined in config.yml. Change it there.'],
  mcp_server_name_taken: ['name_taken', 'An MCP server with this name already exists.'],
  mcp_server_not_found: ['not_found', 'MCP server not found.'],
  mcp_sign_in_refused: ['forbidden', 'Sign-in to “{{server}}” failed or was denied. Try again.'],
  mcp_sign_in_unavailable: [
    'conflict',
    'Cannot sign in to “{{server}}”: it does not name an authorization server, or the authorization server is unreachable.',
  ],
  mcp_sign_in_unknown: [
    'forbidden',
    'This sign-in has expired or belongs to another user. Start again.',
  ],
  tool_changed_again: [
    'conflict',
    'The MCP server has changed this tool again. Read its description once more, then accept it.',
  ],
  mcp_url_missing: ['bad_request', 'Enter the URL of the MCP server.'],
  account_gone: ['not_found', 'This account no longer exists.'],
  address_missing: ['bad_request', 'Your account has no email address. Provide one in `address`.'],
  mail_not_sent: [
    'server_busy',
    'The email could not be sent. Check the address, or try again later.',
  ],
  mail_not_set_up: [
    'conflict',
    'This server cannot send email. Ask an administrator to configure `smtp` and `public_url`.',
  ],
  mails_exhausted: ['too_many_requests', 'Too many emails requested. Try again later.'],
  heir_is_same: ['bad_request', 'You cannot transfer an account to itself.'],
  heir_missing: ['bad_request', 'Provide the account that receives the data in `heir_id`.'],
  account_link_invalid: [
    'forbidden',
    'This link is no longer valid: it was already used, has expired or was revoked. Ask an administrator for a new one.',
  ],
  account_not_found: ['not_found', 'Account not found.'],
  administrators_only: ['forbidden', 'Only administrators can do this.'],
  api_key_invalid: ['unauthorized', 'Invalid API key.'],
  api_key_expiry_past: ['validation_failed', 'The expiry time is in the past. Choose a later one.'],
  api_key_not_allowed: [
    'forbidden',
    'API keys cannot be used for this request. Sign in with your password instead.',
  ],
  api_key_scope: ['forbidden', 'This API key lacks the scope “{{scope}}”. Use a key that has it.'],
  api_key_not_found: ['not_found', 'API key not found.'],
  api_keys_exhausted: [
    'conflict',
    'You have reached the limit of {{limit}} API keys. Delete one first.',
  ],
  body_empty: ['bad_request', 'The request body is empty.'],
  body_not_json: ['bad_request', 'The request body is not valid JSON.'],
  body_too_large: ['payload_too_large', 'The request body exceeds the size limit of this server.'],
  content_length_wrong: [
    'bad_request',
    'The request body does not match its Content-Length header.',
  ],
  content_type_unsupported: [
    'unsupported_media_type',
    'Unsupported content type. Send application/json.',
  ],
  email_needs_password: [
    'bad_request',
    'Changing the email address requires the current password (`current_password`), because password reset links are sent there.',
  ],
  current_password_missing: [
    'bad_request',
    'Changing the password requires the current one (`current_password`).',
  ],
  current_password_wrong: ['forbidden', 'The current password is incorrect.'],
  host_refused: [
    'origin_refused',
    'This server does not accept requests for that host name. If it is correct, add it to trusted_hosts.',
  ],
  host_repeated: ['bad_request', 'The request has more than one Host header.'],
  idempotency_body_gone: [
    'conflict',
    'A request with this Idempotency-Key already completed, but its response is not stored any more and cannot be sent again.',
  ],
  idempotency_key_invalid: [
    'bad_request',
    'An Idempotency-Key must have 1 to {{limit}} characters.',
  ],
  idempotency_key_reused: [
    'conflict',
    'This Idempotency-Key was already used for a different request. Use a new key for each request.',
  ],
  idempotency_pending: [
    'conflict',
    'A request with this Idempotency-Key is still being processed. Try again in a moment.',
  ],
  internal: [
    'internal',
    'Something went wrong on the server. Try again. If it keeps happening, search the server log for the request ID.',
  ],
  invitation_not_found: ['not_found', 'Invitation not found.'],
  invitation_required: [
    'registration_closed',
    'Registration requires an invitation. Ask an administrator for one.',
  ],
  invitations_exhausted: [
    'conflict',
    'There are already {{limit}} open invitations. Revoke some first.',
  ],
  json_list_too_long: ['bad_request', 'An array in the JSON has more than {{entries}} items.'],
  json_too_many_values: ['bad_request', 'The JSON has more than {{limit}} values.'],
  json_too_deep: ['bad_request', 'The JSON is nested more than {{levels}} levels deep.'],
  last_administrator: [
    'conflict',
    'This is the last active administrator. Make another account an administrator first.',
  ],
  multipart_broken: [
    'bad_request',
    'The multipart body cannot be parsed: it is incomplete, or its boundary is missing or longer than 250 characters.',
  ],
  multipart_expected: [
    'unsupported_media_type',
    'Unsupported content type. Send multipart/form-data.',
  ],
  no_password_in_single_mode: ['bad_request', 'Single-user mode has no password.'],
  nothing_here: ['not_found', 'This URL does not exist. Check the path and the method.'],
  origin_refused: [
    'origin_refused',
    'Requests from this origin are not allowed. If the origin is correct, add it to cors_origins.',
  ],
  oidc_groups_withheld: [
    'forbidden',
    'Single sign-on did not send your groups because there are too many. Ask an administrator.',
  ],
  oidc_no_account: [
    'forbidden',
    'You do not have an account on this server. Ask an administrator to create one.',
  ],
  oidc_not_allowed: [
    'forbidden',
    'You are not in a group that is allowed to sign in. Ask an administrator.',
  ],
  oidc_refused: ['forbidden', 'Single sign-on was cancelled or denied. Try again.'],
  oidc_response_invalid: [
    'forbidden',
    'Single sign-on failed: the response could not be verified. Try again. If it keeps happening, contact an administrator.',
  ],
  oidc_sign_in_unknown: [
    'forbidden',
    'This sign-in expired or was started in another browser. Try again.',
  ],
  oidc_unreachable: ['server_busy', 'Single sign-on is unavailable. Try again in a moment.'],
  account_without_password: [
    'conflict',
    'The account “{{name}}” has no password because its owner uses single sign-on. A password link would let them sign in even if single sign-on no longer allows it.',
  ],
  password_sign_in_off: [
    'forbidden',
    'Password sign-in is disabled on this server. Use single sign-on.',
  ],
  password_common: [
    'validation_failed',
    'This password is too common and easy to guess. Choose another.',
  ],
  password_is_name: [
    'validation_failed',
    'The password cannot be the user name or the email address. Choose another.',
  ],
  password_changed: ['conflict', 'The password was just changed. Sign in again.'],
  registration_closed: [
    'registration_closed',
    'Registration is closed. Ask an administrator for an account.',
  ],
  registrations_exhausted: [
    'too_many_requests',
    'Too many accounts were registered from your network. Try again later, or ask an administrator.',
  ],
  request_field_invalid: ['validation_failed', 'The {{part}} is invalid: {{detail}}'],
  request_invalid: ['validation_failed', 'The {{part}} is invalid.'],
  request_refused: ['bad_request', 'The request was rejected.'],
  secret_unreadable: [
    'conflict',
    'A stored secret cannot be decrypted: it was encrypted with a different secret key. Restore that key, or enter the secret again.',
  ],
  second_factor_unreadable: [
    'conflict',
    'The server can no longer read your authenticator app’s secret. Use a recovery code or a passkey, or ask an administrator to reset your second factors.',
  ],
  share_unreadable: [
    'conflict',
    'The link of this share can no longer be read, because it was encrypted with a different secret key. Stop sharing and share again for a new link, or ask the operator to restore the key.',
  ],
  passkey_invalid: [
    'forbidden',
    'This passkey could not be verified. Try again, or sign in another way.',
  ],
  passkey_not_found: ['not_found', 'Passkey not found.'],
  passkey_unavailable: [
    'conflict',
    'Passkeys require localhost, or a host name with HTTPS. Set public_url accordingly.',
  ],
  passkeys_exhausted: [
    'conflict',
    'You have reached the limit of {{limit}} passkeys. Delete one first.',
  ],
  second_factor_code_wrong: [
    'forbidden',
    'This code is incorrect, expired or already used. Enter the current one.',
  ],
  second_factor_expired: ['forbidden', 'This sign-in has expired. Sign in again.'],
  second_factor_missing: [
    'not_found',
    'There is no authenticator app to confirm or remove. Start again.',
  ],
  second_factor_refused: [
    'wrong_credentials',
    'This code or passkey is incorrect, expired or already used.',
  ],
  second_factor_required: [
    'forbidden',
    'The password is correct. Confirm the sign-in with your second factor.',
  ],
  second_factor_set: ['conflict', 'An authenticator app is already set up. Remove it first.'],
  session_not_found: ['not_found', 'Session not found.'],
  session_ended: ['unauthorized', 'Your session has ended. Sign in again.'],
  setup_link_required: [
    'forbidden',
    'This server has no administrator yet. Open the setup link that it printed at startup.',
  ],
  shutting_down: ['shutting_down', 'The server is restarting. Try again shortly.'],
  sign_in_busy: ['server_busy', 'Too many people are signing in at once. Try again in a moment.'],
  sign_in_required: ['unauthorized', 'Sign in first.'],
  sign_ins_exhausted: [
    'too_many_requests',
    'Too many failed sign-ins. Wait a moment, then try again.',
  ],
  single_user: ['forbidden', 'This server runs in single-user mode and needs no sign-in.'],
  streams_exhausted: [
    'too_many_requests',
    'You have reached the limit of {{limit}} open event streams. Close some tabs or connections first.',
  ],
  too_many_open: [
    'server_busy',
    'The server has too many open files and connections. Try again in a moment.',
  ],
  url_invalid: ['bad_request', 'Invalid URL.'],
  url_too_long: ['url_too_long', 'The URL is too long.'],
  user_name_taken: ['name_taken', 'This user name or email address is already taken.'],
  wrong_credentials: ['wrong_credentials', 'Incorrect user name or password.'],
  headers_too_large: ['headers_too_large', 'The request headers are too large.'],
  request_timeout: ['request_timeout', 'The request took too long to arrive. Try again.'],
  request_malformed: ['bad_request', 'Malformed HTTP request.'],
} as const
