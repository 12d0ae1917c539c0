// The layer rules as data: the architecture test enforces them, docs/architecture.md explains them.

/**
 * Module -> the modules that it may import, from the top layer down. A module may always import itself.
 * A module's files and sub-folders may import each other; file imports must not form a cycle.
 */
export const SERVER_MODULES: Record<string, readonly string[]> = {
  'main.ts': [
    // package.json, for the version.
    '..',
    'app.ts',
    'cli.ts',
    'composition',
    'cluster',
    'config',
    'db',
    'doctor',
    'errors.ts',
    'lib',
    'protocol',
  ],
  'cli.ts': ['composition', 'config', 'db', 'doctor', 'files', 'owner', 'errors.ts'],
  'app.ts': ['*'],
  composition: ['*'],
  doctor: [
    'owner',
    'config',
    'db',
    'llm',
    'knowledge',
    'messaging',
    'files',
    'net',
    'sandbox',
    'tools',
    'auth',
    'workspace',
    'errors.ts',
    'lib',
    'protocol',
  ],
  routes: [
    'access',
    'chat',
    'sharing',
    'transfer',
    'files',
    'changes',
    'runs',
    'auth',
    'db',
    'workspace',
    'knowledge',
    'messaging',
    'search',
    'tools',
    'llm',
    'http',
    'openai-api',
    'mcp-server',
    'errors.ts',
    'protocol',
    'lib',
  ],
  // NanoClaw as an MCP server.
  'mcp-server': ['errors.ts', 'protocol'],
  // Pure translations between the formats of OpenAI and requests and events of the chat.
  'openai-api': ['chat', 'runs', 'db', 'errors.ts', 'protocol', 'lib'],
  chat: ['runs', 'db', 'errors.ts', 'protocol', 'lib'],
  runs: ['agent', 'tools', 'llm', 'db', 'errors.ts', 'protocol', 'lib'],
  // Conversations outside the chat: exports, imports, shared copies.
  sharing: ['auth', 'db', 'errors.ts', 'protocol', 'lib'],
  // Everything of a user in and out: bundles, imports of other programs. They store and read what these modules own.
  transfer: ['sharing', 'files', 'knowledge', 'workspace', 'db', 'errors.ts', 'protocol', 'lib'],
  // No database and no HTTP, so that the loop can be read and tested in isolation.
  agent: ['tools', 'llm', 'errors.ts', 'protocol', 'lib'],
  http: ['auth', 'errors.ts', 'protocol', 'lib'],
  tools: [
    'workspace',
    'net',
    'sandbox',
    'knowledge',
    'messaging',
    'llm',
    'errors.ts',
    'protocol',
    'lib',
  ],
  // Which process owns a store: above the connections, below everything that uses the store.
  owner: ['db', 'errors.ts', 'protocol', 'lib'],
  // What users may use, for every module that offers something.
  access: ['db', 'errors.ts', 'protocol', 'lib'],
  // Several instances on one store: leases, and what goes between them through Redis.
  cluster: ['changes', 'runs', 'db', 'errors.ts', 'protocol', 'lib'],
  auth: ['db', 'errors.ts', 'protocol', 'lib'],
  knowledge: ['db', 'sandbox', 'net', 'errors.ts', 'protocol', 'lib'],
  messaging: ['db', 'net', 'auth', 'errors.ts', 'protocol', 'lib'],
  // Uploaded files: `knowledge` reads documents, and `sandbox/process` starts the child process that decodes images.
  files: ['knowledge', 'db', 'sandbox', 'errors.ts', 'protocol', 'lib'],
  search: ['db', 'errors.ts', 'protocol', 'lib'],
  // Search runs ripgrep, and only `sandbox/process` starts child processes.
  workspace: ['db', 'sandbox', 'errors.ts', 'protocol', 'lib'],
  changes: ['protocol'],
  db: ['errors.ts', 'protocol', 'lib'],
  llm: ['errors.ts', 'protocol', 'lib'],
  net: ['errors.ts', 'protocol', 'lib'],
  config: ['errors.ts', 'protocol', 'lib'],
  sandbox: ['errors.ts', 'protocol', 'lib'],
  'errors.ts': ['protocol'],
  protocol: [],
  lib: [],
}

/** The page's layers. Of the server, the page may import only `protocol`. */
export const WEB_LAYERS: Record<string, readonly string[]> = {
  'main.tsx': ['app', 'lib', 'ui'],
  // The script of the frame that draws diagrams, which runs apart from the page.
  'diagram-frame.ts': ['ui'],
  app: ['features', 'ui', 'lib'],
  features: ['ui', 'lib'],
  ui: ['lib'],
  lib: [],
}

/** Folder of the page's chat -> the siblings that it may import. The files next to the folders combine them. */
export const CHAT_FOLDERS: Record<string, readonly string[]> = {
  messages: [
    'inputs',
    'approvals',
    'attachments',
    'background',
    'branches',
    'compare',
    'runs',
    'sending',
    'sources',
    'steps',
  ],
  branches: ['compare'],
  compare: [],
  sources: ['steps'],
  background: ['approvals'],
  approvals: ['runs', 'steps'],
  inputs: ['runs'],
  composer: ['attachments', 'compare', 'sending'],
  steps: ['runs'],
  programs: ['steps'],
  queue: ['attachments', 'compare', 'runs', 'sending'],
  inspector: [],
  runs: ['attachments', 'compare', 'sending'],
  sending: ['attachments'],
  attachments: [],
}
