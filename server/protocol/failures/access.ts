// Signing in, accounts, API keys, and requests that are refused before they reach a route.

export const ACCESS_FAILURES = {
  mcp_client_not_configured: [
    'conflict',
    'The authorization server does not register clients. An administrator has to set `oauth.client_id` of this MCP server.',
  ],
  mcp_headers_missing: [
    'bad_request',
    "You changed the MCP server's address, so enter its headers as well.",
  ],
  mcp_not_connected: ['conflict', 'The MCP server "{{server}}" is not available now. Try again.'],
  mcp_prompt_failed: ['conflict', 'The MCP server "{{server}}" did not return this prompt.'],
  mcp_resource_empty: ['conflict', 'This resource of the MCP server "{{server}}" is empty.'],
  mcp_resource_failed: ['conflict', 'The MCP server "{{server}}" did not return this resource.'],
  mcp_server_configured: ['conflict', 'This MCP server is set in config.yml. Change it there.'],
  mcp_server_name_taken: ['name_taken', 'There is already an MCP server with this name.'],
  mcp_server_not_found: ['not_found', 'There is no such MCP server.'],
  mcp_sign_in_refused: [
    'forbidden',
    'Signing in to "{{server}}" failed or was refused. Try again.',
  ],
  mcp_sign_in_unavailable: [
    'conflict',
    'Signing in to "{{server}}" is not possible now: it names no authorization server, or that cannot be reached.',
  ],
  mcp_sign_in_unknown: [
    'forbidden',
    'This sign-in is over or was begun by somebody else. Begin again.',
  ],
  mcp_url_missing: ['bad_request', 'Enter the address of the MCP server.'],
  account_gone: ['not_found', 'This account no longer exists.'],
  address_missing: ['bad_request', 'Your account has no e-mail address. Name one in `address`.'],
  mail_not_sent: [
    'server_busy',
    'The mail could not be sent. Check the address, or try again later.',
  ],
  mail_not_set_up: [
    'conflict',
    'This server cannot send mail: it needs `smtp` and `public_url` in its configuration. Ask an administrator.',
  ],
  mails_exhausted: ['too_many_requests', 'Too many mails were asked for. Try again later.'],
  heir_is_same: ['bad_request', 'An account cannot be handed over to itself.'],
  heir_missing: ['bad_request', 'Name the account that receives the data in `heir_id`.'],
  account_link_invalid: [
    'forbidden',
    'This link no longer works: it was used, has expired or was withdrawn. Ask an administrator for a new one.',
  ],
  account_not_found: ['not_found', 'There is no such account.'],
  administrators_only: ['forbidden', 'Only an administrator may do this.'],
  api_key_invalid: ['unauthorized', 'This API key is not valid.'],
  api_key_expiry_past: ['validation_failed', 'The key would have expired already.'],
  api_key_not_allowed: [
    'forbidden',
    'API keys may not do this. Sign in with your password instead.',
  ],
  api_key_scope: [
    'forbidden',
    'This API key may not do this: it lacks the scope “{{scope}}”. Use another key.',
  ],
  api_key_not_found: ['not_found', 'There is no such API key.'],
  api_keys_exhausted: ['conflict', 'You already have {{limit}} API keys. Delete one first.'],
  body_empty: ['bad_request', 'The body is empty.'],
  body_not_json: ['bad_request', 'The body is not valid JSON.'],
  body_too_large: ['payload_too_large', 'The body is larger than this server allows.'],
  content_length_wrong: [
    'bad_request',
    'The body does not have the length that Content-Length states.',
  ],
  content_type_unsupported: [
    'unsupported_media_type',
    'This content type is not supported here. Send application/json.',
  ],
  email_needs_password: [
    'bad_request',
    'Changing the e-mail address needs `current_password`, because links for a new password go there.',
  ],
  current_password_missing: ['bad_request', 'Changing the password needs `current_password`.'],
  current_password_wrong: ['forbidden', 'The current password is wrong.'],
  host_refused: [
    'origin_refused',
    'This server does not respond under that host name. If the name is right, add it to trusted_hosts.',
  ],
  host_repeated: ['bad_request', 'The request has more than one Host header.'],
  idempotency_body_gone: [
    'conflict',
    'A request with this Idempotency-Key was completed, but its response was too large to be repeated.',
  ],
  idempotency_key_invalid: ['bad_request', 'An Idempotency-Key has 1 to {{limit}} characters.'],
  idempotency_key_reused: [
    'conflict',
    'This Idempotency-Key was used for a different request. Use a new key for each request.',
  ],
  idempotency_pending: [
    'conflict',
    'A request with this Idempotency-Key is still being processed. Try again in a moment.',
  ],
  internal: [
    'internal',
    'Something went wrong on the server. Try again; if it happens again, search the log for the request id.',
  ],
  invitation_not_found: ['not_found', 'There is no such invitation.'],
  invitation_required: [
    'registration_closed',
    'You need an invitation to register here. Ask an administrator for one.',
  ],
  invitations_exhausted: [
    'conflict',
    'There are already {{limit}} open invitations. Withdraw some first.',
  ],
  json_list_too_long: ['bad_request', 'A list in the JSON has more than {{entries}} entries.'],
  json_too_deep: ['bad_request', 'The JSON is nested deeper than {{levels}} levels.'],
  last_administrator: ['conflict', 'This is the last active administrator.'],
  multipart_broken: [
    'bad_request',
    'The multipart body could not be read: it ends too early, or its boundary is missing or longer than 250 characters.',
  ],
  multipart_expected: ['unsupported_media_type', 'Send this as multipart/form-data.'],
  no_password_in_single_mode: ['bad_request', 'In single-user mode there is no password.'],
  nothing_here: ['not_found', 'There is nothing at this address.'],
  origin_refused: [
    'origin_refused',
    'Pages from another origin may not call this server. If the origin is right, add it to cors_origins.',
  ],
  oidc_groups_withheld: [
    'forbidden',
    'Single sign-on did not say in which groups you are, because there are too many. Ask an administrator.',
  ],
  oidc_no_account: [
    'forbidden',
    'You have no account here. Ask an administrator to create one for you.',
  ],
  oidc_not_allowed: [
    'forbidden',
    'You are in none of the groups that may sign in here. Ask an administrator.',
  ],
  oidc_refused: ['forbidden', 'Single sign-on was cancelled or refused. Try again.'],
  oidc_response_invalid: [
    'forbidden',
    'Single sign-on failed: what came back could not be trusted. Try again; if it happens again, tell an administrator.',
  ],
  oidc_sign_in_unknown: [
    'forbidden',
    'This sign-in took too long, or was begun in another browser. Try again.',
  ],
  oidc_unreachable: ['server_busy', 'Single sign-on is not available now. Try again in a moment.'],
  account_without_password: [
    'conflict',
    'The account "{{name}}" has no password: its owner signs in with single sign-on. With a link for a new password, they could also sign in without it, whatever the issuer decides.',
  ],
  password_sign_in_off: [
    'forbidden',
    'Passwords are switched off on this server. Use single sign-on.',
  ],
  password_common: [
    'validation_failed',
    'This password is one of the most common ones and would be guessed at once. Choose another.',
  ],
  password_is_name: [
    'validation_failed',
    'The password may not be the user name or the e-mail address. Choose another.',
  ],
  password_changed: ['conflict', 'The password was changed a moment ago. Sign in again.'],
  registration_closed: [
    'registration_closed',
    'Registration is closed. Ask an administrator for an account.',
  ],
  registrations_exhausted: [
    'too_many_requests',
    'Too many accounts were registered from your address. Try again later, or ask an administrator.',
  ],
  request_field_invalid: ['validation_failed', 'The {{part}} is not valid: {{detail}}'],
  request_invalid: ['validation_failed', 'The {{part}} is not valid.'],
  request_refused: ['bad_request', 'The request was refused.'],
  secret_unreadable: [
    'internal',
    'A stored secret cannot be read: it was stored under a different secret key. Restore that key, or enter the secret again.',
  ],
  passkey_invalid: [
    'forbidden',
    'This passkey could not be checked. Try again, or use another way to sign in.',
  ],
  passkey_not_found: ['not_found', 'There is no such passkey.'],
  passkey_unavailable: [
    'conflict',
    'Passkeys need a host name and HTTPS, or localhost. Set public_url to such an address.',
  ],
  passkeys_exhausted: ['conflict', 'You already have {{limit}} passkeys. Delete one first.'],
  second_factor_code_wrong: [
    'forbidden',
    'This code is wrong, has expired or was used already. Enter the current one.',
  ],
  second_factor_expired: ['forbidden', 'This took too long. Sign in again from the beginning.'],
  second_factor_missing: ['not_found', 'There is nothing to confirm or remove. Begin again.'],
  second_factor_refused: [
    'wrong_credentials',
    'This code or passkey is wrong, has expired or was used already.',
  ],
  second_factor_required: [
    'forbidden',
    'The password is right. Confirm the sign-in with your second factor.',
  ],
  second_factor_set: ['conflict', 'An authenticator app is set up already. Remove it first.'],
  session_not_found: ['not_found', 'There is no such session.'],
  session_ended: ['unauthorized', 'Your session has ended. Sign in again.'],
  setup_link_required: [
    'forbidden',
    'This server has no administrator yet. Open the set-up link that it printed when it started.',
  ],
  shutting_down: ['shutting_down', 'The server is about to restart. Try again shortly.'],
  sign_in_busy: ['server_busy', 'Too many people are signing in at once. Try again in a moment.'],
  sign_in_required: ['unauthorized', 'Sign in first.'],
  sign_ins_exhausted: [
    'too_many_requests',
    'Too many failed sign-ins. Wait a moment, then try again.',
  ],
  single_user: ['forbidden', 'This server has a single user: no sign-in is needed.'],
  streams_exhausted: [
    'too_many_requests',
    'You have {{limit}} event streams open at once. Close a few tabs or connections first.',
  ],
  too_many_open: [
    'server_busy',
    'The server has too many files and connections open. Try again in a moment.',
  ],
  url_invalid: ['bad_request', 'The URL is not valid.'],
  url_too_long: ['url_too_long', 'The URL is too long.'],
  user_name_taken: ['name_taken', 'This user name or e-mail address is taken.'],
  wrong_credentials: ['wrong_credentials', 'The user name or the password is wrong.'],
  headers_too_large: ['headers_too_large', 'The request headers are too large.'],
  request_timeout: ['request_timeout', 'The request took too long to arrive.'],
  request_malformed: ['bad_request', 'This is not a valid HTTP request.'],
} as const
