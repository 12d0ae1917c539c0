// The layer rules as data: imports only go down, and only where the row of a room allows.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')

/** Room -> the rooms it may import, from the top floor down. A room may always import itself. */
const server: Record<string, readonly string[]> = {
  'main.ts': ['app.ts', 'commands.ts', 'config', 'db', 'doctor', 'errors.ts', 'lib', 'protocol'],
  'commands.ts': ['assembly', 'config', 'db', 'doctor', 'errors.ts'],
  'app.ts': ['*'],
  assembly: ['*'],
  doctor: [
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
    'runs',
    'auth',
    'db',
    'workspace',
    'knowledge',
    'messaging',
    'tools',
    'llm',
    'plugins',
    'errors.ts',
    'protocol',
    'lib',
  ],
  chat: ['runs', 'llm', 'tools', 'db', 'knowledge', 'errors.ts', 'protocol', 'lib'],
  plugins: ['auth', 'errors.ts', 'protocol', 'lib'],
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
  auth: ['db', 'errors.ts', 'protocol', 'lib'],
  knowledge: ['db', 'sandbox', 'net', 'errors.ts', 'protocol', 'lib'],
  messaging: ['db', 'net', 'auth', 'errors.ts', 'protocol', 'lib'],
  // Searching runs ripgrep, and child processes are started by `sandbox/process` only.
  workspace: ['db', 'sandbox', 'errors.ts', 'protocol', 'lib'],
  runs: ['db', 'errors.ts', 'protocol', 'lib'],
  db: ['errors.ts', 'protocol', 'lib'],
  llm: ['errors.ts', 'protocol', 'lib'],
  net: ['errors.ts', 'protocol', 'lib'],
  config: ['errors.ts', 'protocol', 'lib'],
  sandbox: ['errors.ts', 'protocol', 'lib'],
  'errors.ts': ['protocol'],
  protocol: [],
  lib: [],
}

/** The page's storeys; of the server it may import `protocol` only. */
const web: Record<string, readonly string[]> = {
  'main.tsx': ['app', 'lib', 'ui'],
  app: ['features', 'ui', 'lib'],
  features: ['ui', 'lib'],
  ui: ['lib'],
  lib: [],
}

type Import = { from: string; fromRoom: string; to: string; toRoom: string }

/** None where there is no such folder; the gate's first test makes sure that the server was seen. */
const sourceFiles = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name))
    : []

const roomOf = (base: string, file: string): string => relative(base, file).split('/')[0] ?? ''

const importsOf = (base: string): Import[] =>
  sourceFiles(base).flatMap((file) =>
    ts
      .preProcessFile(readFileSync(file, 'utf8'), true, true)
      .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
      .map(({ fileName }) => {
        const target = resolve(dirname(file), fileName)
        return {
          from: relative(root, file),
          fromRoom: roomOf(base, file),
          to: relative(root, target),
          toRoom: roomOf(base, target),
        }
      }),
  )

describe('layer rules', () => {
  const serverBase = join(root, 'server')
  const serverImports = importsOf(serverBase)
  const webBase = join(root, 'web/src')

  test('the gate sees the code it judges', () => {
    expect(sourceFiles(serverBase).length).toBeGreaterThan(15)
    expect(serverImports.length).toBeGreaterThan(20)
  })

  test('every room of the server has a row', () => {
    const rooms = new Set(sourceFiles(serverBase).map((file) => roomOf(serverBase, file)))
    expect([...rooms].filter((room) => !(room in server))).toEqual([])
  })

  test('imports of the server only go where their row allows', () => {
    const wrong = serverImports.filter(({ fromRoom, toRoom }) => {
      const allowed = server[fromRoom] ?? []
      return fromRoom !== toRoom && !allowed.includes('*') && !allowed.includes(toRoom)
    })
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })

  test('the rows themselves hold no circle', () => {
    const seen = new Set<string>()
    const visit = (room: string, path: readonly string[]): void => {
      expect(path, `circle: ${[...path, room].join(' -> ')}`).not.toContain(room)
      if (seen.has(room)) return
      for (const next of server[room] ?? []) if (next !== '*') visit(next, [...path, room])
      seen.add(room)
    }
    for (const room of Object.keys(server)) visit(room, [])
  })

  test('no circle of files', () => {
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

  test('the page goes down its storeys, one feature never imports another, and of the server only the protocol', () => {
    const wrong = importsOf(webBase).filter(({ from, to, fromRoom, toRoom }) => {
      if (to.startsWith('server/')) return !to.startsWith('server/protocol/')
      if (fromRoom === 'features' && toRoom === 'features')
        return from.split('/')[3] !== to.split('/')[3]
      return fromRoom !== toRoom && !(web[fromRoom] ?? []).includes(toRoom)
    })
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })
})
