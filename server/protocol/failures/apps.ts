// Files of projects that run in a frame.

export const APP_FAILURES = {
  apps_off: ['not_found', 'Apps are not available on this server or for this account.'],
  app_not_found: ['not_found', 'This app is no longer open. Open it again.'],
  app_kind_unknown: [
    'validation_failed',
    '“{{path}}” cannot run as an app. HTML, SVG, React (.jsx, .tsx), Mermaid (.mmd) and Markdown files can.',
  ],
  app_hidden: ['validation_failed', 'Files whose name begins with a dot cannot run as an app.'],
  app_earlier: [
    'conflict',
    'This is the app as it was before a change. Only the app as it is now can be allowed to use the network.',
  ],
  app_too_large: [
    'conflict',
    'The folder of this app has too many files, or is being changed, so that it cannot be allowed to use the network now.',
  ],
  mcp_app_unknown: [
    'validation_failed',
    'The MCP server has no app at this address: neither its tools nor its list of resources name it.',
  ],
  mcp_app_type: ['unsupported_media_type', 'The MCP server returned something else than an app.'],
  mcp_app_too_large: ['payload_too_large', 'This app of an MCP server is larger than 2 MB.'],
  mcp_app_call_unknown: ['not_found', 'There is no such app or call in this answer.'],
  app_tool_unknown: [
    'not_found',
    'The server of this app has no such tool, or it is switched off.',
  ],
  not_for_apps: ['forbidden', 'The MCP server does not offer this tool to its apps.'],
  app_calls_waiting: [
    'too_many_requests',
    'At most {{limit}} calls of the apps of an answer can run or wait at the same time.',
  ],
  app_calls_used_up: [
    'too_many_requests',
    'The apps of this answer have made {{limit}} calls, which is the maximum.',
  ],
  app_call_gone: [
    'already_decided',
    'This call of an app can no longer run: its tool is not available any more.',
  ],
} as const
