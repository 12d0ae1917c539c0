// The layer rules: imports only point downwards, and only to modules that the importing module's row allows.
import { readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { CHAT_FOLDERS, SERVER_MODULES, WEB_LAYERS } from './support/code/layers.ts'
import { modulesIn, withModuleTable } from './support/code/module-table.ts'
import { sourceFiles } from './support/code/source-files.ts'
import { SERVER_SUB_FOLDERS } from './support/code/sub-folders.ts'

const root = resolve(import.meta.dirname, '..')

type Import = { from: string; fromModule: string; to: string; toModule: string }

/** The texts of all languages, below every layer of the server and of the page. */
const LOCALES = '../locales'

/** The module of a file: `llm/openai` for `llm/openai/chunk-reader.ts`, `llm` for `llm/client.ts`. */
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
  if (fromModule === toModule || toModule === LOCALES) return true
  const from = topOf(fromModule)
  const to = topOf(toModule)
  const row = SERVER_MODULES[from] ?? []
  const isOutside = from !== to
  if (isOutside && !row.includes('*') && !row.includes(to)) return false
  const subRow = SERVER_SUB_FOLDERS[fromModule]
  if (subRow === undefined) return true
  if (isOutside) return subRow.includes(to)
  return toModule === from || subRow.includes(toModule)
}

describe('layer rules', () => {
  const serverBase = join(root, 'server')
  const serverFiles = sourceFiles(serverBase)
  const serverImports = importsOf(serverBase)
  const webBase = join(root, 'web/src')

  test("the server's source files are found", () => {
    expect(serverFiles.length).toBeGreaterThan(15)
    expect(serverImports.length).toBeGreaterThan(20)
  })

  test('the first line of each file of the server says what lives in it', () => {
    const silent = serverFiles.filter((file) => !readFileSync(file, 'utf8').startsWith('// '))
    expect(silent.map((file) => relative(serverBase, file))).toEqual([])
  })

  test('every module and every sub-folder of the server has a row', () => {
    const modules = new Set(serverFiles.map((file) => moduleOf(serverBase, file)))
    const missing = [...modules].filter((module) =>
      module.includes('/') ? !(module in SERVER_SUB_FOLDERS) : !(module in SERVER_MODULES),
    )
    expect(missing).toEqual([])
  })

  test('every row names an existing module', () => {
    const modules = new Set(serverFiles.map((file) => moduleOf(serverBase, file)))
    const rows = [...Object.keys(SERVER_MODULES), ...Object.keys(SERVER_SUB_FOLDERS)]
    expect(rows.filter((row) => !modules.has(row))).toEqual([])
  })

  test('the server imports only what the row of each module allows', () => {
    const wrong = serverImports.filter(
      ({ fromModule, toModule }) => !mayImport(fromModule, toModule),
    )
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })

  test('every module that a row allows is imported, so that the tables say what is', () => {
    const used = new Set(
      serverImports.flatMap(({ fromModule, toModule }) => [
        `${fromModule} -> ${toModule}`,
        `${fromModule} -> ${topOf(toModule)}`,
        `${topOf(fromModule)} -> ${topOf(toModule)}`,
      ]),
    )
    const unused = Object.entries({ ...SERVER_MODULES, ...SERVER_SUB_FOLDERS }).flatMap(
      ([module, allowed]) =>
        allowed
          .filter((to) => to !== '*' && !used.has(`${module} -> ${to}`))
          .map((to) => `${module} -> ${to}`),
    )
    expect(unused).toEqual([])
  })

  // `npx vitest run tests/architecture.test.ts -u` writes the column.
  test('the table of modules in docs/architecture.md has a row for each module, and says what it may import', async () => {
    const file = join(root, 'docs/architecture.md')
    const page = readFileSync(file, 'utf8')
    expect(modulesIn(page).sort()).toEqual(Object.keys(SERVER_MODULES).sort())
    await expect(withModuleTable(page)).toMatchFileSnapshot(file)
  })

  test('the rows form no cycle', () => {
    const seen = new Set<string>()
    const visit = (module: string, path: readonly string[]): void => {
      expect(path, `cycle: ${[...path, module].join(' -> ')}`).not.toContain(module)
      if (seen.has(module)) return
      for (const next of SERVER_MODULES[module] ?? [])
        if (next !== '*') visit(next, [...path, module])
      seen.add(module)
    }
    for (const module of Object.keys(SERVER_MODULES)) visit(module, [])
  })

  test('no file imports itself through other files', () => {
    const graph = new Map<string, string[]>()
    for (const { from, to } of [...serverImports, ...importsOf(webBase)])
      graph.set(from, [...(graph.get(from) ?? []), to])
    const done = new Set<string>()
    const visit = (file: string, path: readonly string[]): void => {
      expect(path, `cycle: ${[...path, file].join(' -> ')}`).not.toContain(file)
      if (done.has(file)) return
      for (const next of graph.get(file) ?? []) visit(next, [...path, file])
      done.add(file)
    }
    for (const file of graph.keys()) visit(file, [])
  })

  test('the page imports only lower layers, no other feature, and of the server only the protocol', () => {
    const wrong = importsOf(webBase).filter(({ from, to }) => {
      if (to.startsWith('locales/')) return false
      if (to.startsWith('server/')) return !to.startsWith('server/protocol/')
      const [fromLayer = '', fromFeature] = from.split('/').slice(2)
      const [toLayer = '', toFeature] = to.split('/').slice(2)
      if (fromLayer === 'features' && toLayer === 'features') return fromFeature !== toFeature
      return fromLayer !== toLayer && !(WEB_LAYERS[fromLayer] ?? []).includes(toLayer)
    })
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })

  test('only the module that chooses the SQLite driver loads it, because no driver version works with every Node version', () => {
    const loading = /(?:^import (?!type )[^\n]*from|import\(|require\() ?'better-sqlite3'/m
    const files = sourceFiles(serverBase).filter((file) => loading.test(readFileSync(file, 'utf8')))
    expect(files).toEqual([])
  })

  test('time limits joined with other signals survive garbage collection', () => {
    const lost = /AbortSignal\.any\([^)]*AbortSignal\.timeout/
    const files = sourceFiles(serverBase).filter((file) => lost.test(readFileSync(file, 'utf8')))
    // The file that explains why and exports what to use instead.
    expect(files.map((file) => relative(serverBase, file))).toEqual(['lib/abort.ts'])
  })

  test('the page loads its lazy parts through one module, which retries after a failure', () => {
    const files = sourceFiles(webBase).filter((file) =>
      /import \{[^}]*\b(lazy|Suspense)\b[^}]*\} from 'react'/.test(readFileSync(file, 'utf8')),
    )
    expect(files.map((file) => relative(webBase, file))).toEqual(['ui/states/part-boundary.tsx'])
  })

  test('every folder of the chat has a row and imports only the siblings in it', () => {
    const chat = join(webBase, 'features/chat')
    const imports = importsOf(chat).filter(({ fromModule }) => !fromModule.includes('.'))
    const folders = new Set(imports.map(({ fromModule }) => topOf(fromModule)))
    expect([...folders].sort()).toEqual(Object.keys(CHAT_FOLDERS).sort())
    const wrong = imports.filter(({ fromModule, to, toModule }) => {
      const [from, target] = [topOf(fromModule), topOf(toModule)]
      const isSibling = to.startsWith('web/src/features/chat/') && !target.includes('.')
      return isSibling && from !== target && !CHAT_FOLDERS[from]?.includes(target)
    })
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })
})
