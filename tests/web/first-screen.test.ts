// What the first screen of the page loads.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** The names of the modules that a file imports at once, apart from those of which it needs only types. */
function importsOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest)
  return source.statements.flatMap((statement) => {
    const isImport = ts.isImportDeclaration(statement)
    if (!isImport && !ts.isExportDeclaration(statement)) return []
    const { moduleSpecifier: from } = statement
    if (from === undefined || !ts.isStringLiteral(from)) return []
    if (!isImport) return statement.isTypeOnly ? [] : [from.text]
    const { importClause: clause } = statement
    const named = clause?.namedBindings
    const isOfTypes =
      clause?.phaseModifier === ts.SyntaxKind.TypeKeyword ||
      (clause !== undefined &&
        clause.name === undefined &&
        named !== undefined &&
        ts.isNamedImports(named) &&
        named.elements.every(({ isTypeOnly }) => isTypeOnly))
    return isOfTypes ? [] : [from.text]
  })
}

test('the first screen does not load the library of schemas, which would add a quarter to it', () => {
  const seen = new Set<string>()
  const importers: string[] = []
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    for (const name of importsOf(file)) {
      const imported = resolve(dirname(file), name)
      if (/^zod(\/|$)/.test(name)) importers.push(relative(root, file))
      else if (name.startsWith('.') && /\.tsx?$/.test(name) && existsSync(imported)) visit(imported)
    }
  }
  visit(resolve(root, 'web/src/main.tsx'))
  expect(seen.size).toBeGreaterThan(80)
  expect(importers).toEqual([])
})
