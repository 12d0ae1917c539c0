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
} as const
