// Type casts in the server: which files may cast through `unknown`, and how many other casts there are.
import { readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { sourceFiles } from './support/code/source-files.ts'

const root = resolve(import.meta.dirname, '..')
const serverFiles = sourceFiles(join(root, 'server'))

/** The only files that may cast through `unknown`: those where a driver's types meet ours. */
const DRIVER_EDGES = [
  'server/db/columns/sqlite.ts',
  'server/db/postgres/connect.ts',
  'server/db/sqlite/connection.ts',
  'server/db/sqlite/connect.ts',
  'server/db/sqlite/off-thread-reader.ts',
  'server/sandbox/process.ts',
]
/** Upper limit for casts in the server, not counting `as const`. Only ever lower it. */
const MOST_CASTS = 36

function castsIn(file: string): { viaUnknown: number; others: number } {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const found = { viaUnknown: 0, others: 0 }
  const visit = (node: ts.Node): void => {
    if (ts.isAsExpression(node) && !ts.isConstTypeReference(node.type)) {
      if (node.type.kind === ts.SyntaxKind.UnknownKeyword) {
        if (ts.isAsExpression(node.parent)) found.viaUnknown += 1
      } else if (!(ts.isAsExpression(node.expression) && isUnknown(node.expression)))
        found.others += 1
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const isUnknown = (node: ts.AsExpression): boolean =>
  node.type.kind === ts.SyntaxKind.UnknownKeyword

test('casts through unknown occur only at the edges of drivers, and the number of other casts does not grow', () => {
  const casts = serverFiles.map((file) => ({ file: relative(root, file), ...castsIn(file) }))
  const viaUnknown = casts.filter(({ viaUnknown: count }) => count > 0).map(({ file }) => file)
  expect(viaUnknown.filter((file) => !DRIVER_EDGES.includes(file))).toEqual([])
  expect(casts.reduce((sum, { others }) => sum + others, 0)).toBeLessThanOrEqual(MOST_CASTS)
})
