// The layer rules as data: imports only go down, and only where the row of a module allows.
import { readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { sourceFiles } from './support/source-files.ts'

const root = resolve(import.meta.dirname, '..')

/**
 * Module -> the modules it may import, from the top down. A module may always import itself.
 * A module's files and its sub-folders may import each other; no circle of files may come of it.
 */
const server: Record<string, readonly string[]> = {
  'main.ts': ['app.ts', 'cli.ts', 'config', 'db', 'doctor', 'errors.ts', 'lib', 'protocol'],
  'cli.ts': ['composition', 'config', 'db', 'doctor', 'owner', 'errors.ts'],
  'app.ts': ['*'],
  composition: ['*'],
  doctor: [
    'owner',
    'config',
    'db',
    'llm',
    'knowledge',
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
    'chat',
    'sharing',
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
    'errors.ts',
    'protocol',
    'lib',
  ],
  chat: ['runs', 'db', 'errors.ts', 'protocol', 'lib'],
  runs: ['agent', 'tools', 'llm', 'db', 'errors.ts', 'protocol', 'lib'],
  // Conversations outside of the chat: exports, imports, shared copies.
  sharing: ['auth', 'db', 'errors.ts', 'protocol', 'lib'],
  // No database and no HTTP: the loop can be read and tested by itself.
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
  // Who may act on a store: on top of the connections, below everything that acts.
  owner: ['db', 'errors.ts', 'protocol', 'lib'],
  auth: ['db', 'errors.ts', 'protocol', 'lib'],
  knowledge: ['db', 'sandbox', 'net', 'errors.ts', 'protocol', 'lib'],
  messaging: ['db', 'net', 'auth', 'errors.ts', 'protocol', 'lib'],
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

/**
 * Sub-folder -> its siblings, and the other modules, that it may import. The files of its own module come with it.
 * What is left out of the module's row above is out of bounds for the sub-folder too.
 */
const subFolders: Record<string, readonly string[]> = {
  'runs/approvals': ['runs/context', 'agent', 'db', 'tools', 'llm', 'errors.ts', 'protocol', 'lib'],
  'runs/context': ['agent', 'db', 'tools', 'llm', 'errors.ts', 'protocol'],
  'runs/end': ['runs/context', 'runs/usage', 'agent', 'db', 'errors.ts', 'protocol'],
  'runs/log': ['db', 'protocol'],
  'runs/start': ['runs/end', 'agent', 'db', 'tools', 'errors.ts', 'protocol', 'lib'],
  'runs/sub-agents': [
    'runs/approvals',
    'runs/context',
    'runs/start',
    'runs/usage',
    'agent',
    'db',
    'tools',
    'llm',
    'protocol',
    'lib',
  ],
  'runs/usage': ['agent', 'db', 'errors.ts', 'protocol'],
  'tools/builtin': [
    'workspace',
    'net',
    'sandbox',
    'knowledge',
    'messaging',
    'errors.ts',
    'protocol',
    'lib',
  ],
  'tools/mcp': ['net', 'errors.ts', 'protocol', 'lib'],
  'llm/openai': ['errors.ts', 'protocol', 'lib'],
  'llm/anthropic': ['llm/openai', 'errors.ts', 'protocol', 'lib'],
  'llm/prompt-tools': ['llm/openai', 'protocol', 'lib'],
  'llm/demo': ['protocol'],
  'llm/probe': ['llm/openai', 'errors.ts', 'protocol'],
  'db/columns': ['protocol'],
  'db/tables': ['db/columns', 'protocol'],
  'db/schema': ['db/columns', 'db/tables'],
  'db/vectors': ['errors.ts', 'protocol', 'lib'],
  'db/sqlite': ['db/columns', 'db/vectors', 'errors.ts', 'protocol', 'lib'],
  'db/postgres': ['db/columns', 'db/vectors', 'errors.ts', 'protocol', 'lib'],
  'db/repositories': ['db/tables', 'db/vectors', 'errors.ts', 'protocol', 'lib'],
  'protocol/failures': [],
  'sandbox/python': ['errors.ts', 'protocol', 'lib'],
  'workspace/files': ['workspace/worker', 'errors.ts', 'protocol', 'lib'],
  'workspace/search': [
    'workspace/files',
    'workspace/worker',
    'sandbox',
    'errors.ts',
    'protocol',
    // A search that waits ends with its signal: `lib/abort`.
    'lib',
  ],
  'workspace/checkpoints': [
    'workspace/files',
    'workspace/worker',
    'db',
    'errors.ts',
    'protocol',
    'lib',
  ],
  // The worker thread runs jobs of every sub-folder; only what a job needs is loaded there.
  'workspace/worker': [
    'workspace/files',
    'workspace/search',
    'workspace/checkpoints',
    'db',
    'errors.ts',
    'protocol',
    'lib',
  ],
}

/** The page's layers; of the server it may import `protocol` only. */
const web: Record<string, readonly string[]> = {
  'main.tsx': ['app', 'lib', 'ui'],
  app: ['features', 'ui', 'lib'],
  features: ['ui', 'lib'],
  ui: ['lib'],
  lib: [],
}

/** Folder of the page's chat -> its siblings that it may import. Files beside the folders put them together. */
const chatFolders: Record<string, readonly string[]> = {
  messages: ['approvals', 'attachments', 'background', 'runs', 'sources', 'steps'],
  sources: ['steps'],
  background: ['approvals'],
  approvals: ['runs', 'steps'],
  composer: ['attachments'],
  steps: ['runs'],
  runs: ['attachments'],
  attachments: [],
}

type Import = { from: string; fromModule: string; to: string; toModule: string }

/** `llm/openai/client.ts` is in `llm/openai`, `llm/client.ts` in `llm`. */
const moduleOf = (base: string, file: string): string => {
  const parts = relative(base, file).split('/')
  return parts.length > 2 ? `${parts[0]}/${parts[1]}` : (parts[0] ?? '')
}

const topOf = (module: string): string => module.split('/')[0] ?? ''

const importsOf = (base: string): Import[] =>
  sourceFiles(base).flatMap((file) =>
    ts
      .preProcessFile(readFileSync(file, 'utf8'), true, true)
      .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
      .map(({ fileName }) => {
        const target = resolve(dirname(file), fileName)
        return {
          from: relative(root, file),
          fromModule: moduleOf(base, file),
          to: relative(root, target),
          toModule: moduleOf(base, target),
        }
      }),
  )

function mayImport(fromModule: string, toModule: string): boolean {
  if (fromModule === toModule) return true
  const from = topOf(fromModule)
  const to = topOf(toModule)
  const row = server[from] ?? []
  const isOutside = from !== to
  if (isOutside && !row.includes('*') && !row.includes(to)) return false
  const subRow = subFolders[fromModule]
  if (subRow === undefined) return true
  if (isOutside) return subRow.includes(to)
  return toModule === from || subRow.includes(toModule)
}

describe('layer rules', () => {
  const serverBase = join(root, 'server')
  const serverFiles = sourceFiles(serverBase)
  const serverImports = importsOf(serverBase)
  const webBase = join(root, 'web/src')

  test('the test sees the code of the server', () => {
    expect(serverFiles.length).toBeGreaterThan(15)
    expect(serverImports.length).toBeGreaterThan(20)
  })

  test('every module and every sub-folder of the server has a row', () => {
    const modules = new Set(serverFiles.map((file) => moduleOf(serverBase, file)))
    const missing = [...modules].filter((module) =>
      module.includes('/') ? !(module in subFolders) : !(module in server),
    )
    expect(missing).toEqual([])
  })

  test('every row names a module that exists', () => {
    const modules = new Set(serverFiles.map((file) => moduleOf(serverBase, file)))
    const rows = [...Object.keys(server), ...Object.keys(subFolders)]
    expect(rows.filter((row) => !modules.has(row))).toEqual([])
  })

  test('the server imports only what the row of each module allows', () => {
    const wrong = serverImports.filter(
      ({ fromModule, toModule }) => !mayImport(fromModule, toModule),
    )
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })

  test('the rows form no cycle', () => {
    const seen = new Set<string>()
    const visit = (module: string, path: readonly string[]): void => {
      expect(path, `circle: ${[...path, module].join(' -> ')}`).not.toContain(module)
      if (seen.has(module)) return
      for (const next of server[module] ?? []) if (next !== '*') visit(next, [...path, module])
      seen.add(module)
    }
    for (const module of Object.keys(server)) visit(module, [])
  })

  test('no file imports itself through other files', () => {
    const graph = new Map<string, string[]>()
    for (const { from, to } of [...serverImports, ...importsOf(webBase)])
      graph.set(from, [...(graph.get(from) ?? []), to])
    const done = new Set<string>()
    const visit = (file: string, path: readonly string[]): void => {
      expect(path, `circle: ${[...path, file].join(' -> ')}`).not.toContain(file)
      if (done.has(file)) return
      for (const next of graph.get(file) ?? []) visit(next, [...path, file])
      done.add(file)
    }
    for (const file of graph.keys()) visit(file, [])
  })

  test('the page imports only lower layers, no other feature, and of the server only the protocol', () => {
    const wrong = importsOf(webBase).filter(({ from, to }) => {
      if (to.startsWith('server/')) return !to.startsWith('server/protocol/')
      const [fromLayer = '', fromFeature] = from.split('/').slice(2)
      const [toLayer = '', toFeature] = to.split('/').slice(2)
      if (fromLayer === 'features' && toLayer === 'features') return fromFeature !== toFeature
      return fromLayer !== toLayer && !(web[fromLayer] ?? []).includes(toLayer)
    })
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })

  test('the folders of the chat only import the siblings in their row, and each has a row', () => {
    const chat = join(webBase, 'features/chat')
    const imports = importsOf(chat).filter(({ fromModule }) => !fromModule.includes('.'))
    const folders = new Set(imports.map(({ fromModule }) => topOf(fromModule)))
    expect([...folders].sort()).toEqual(Object.keys(chatFolders).sort())
    const wrong = imports.filter(({ fromModule, to, toModule }) => {
      const [from, target] = [topOf(fromModule), topOf(toModule)]
      const isSibling = to.startsWith('web/src/features/chat/') && !target.includes('.')
      return isSibling && from !== target && !chatFolders[from]?.includes(target)
    })
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })
})
