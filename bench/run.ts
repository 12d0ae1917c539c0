// `npm run bench [-- suite …]`: runs the suites, prints each figure with its target, and writes bench/results/. The first
// word may be `profile`, `compare` or `table` instead.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildOutdated } from '../scripts/build-outdated.mjs'
import { measureFile } from './measure-file.ts'
import { beginResult, RESULTS_FOLDER, type StoredRow, shownValue } from './results.ts'

const SUITES = ['stream', 'store', 'workspace', 'sandbox', 'agents', 'apps']
/** These run only if named: filling their databases takes minutes, they wait for whole minutes, or they need a Redis. */
const LONG_SUITES = ['search', 'cluster', 'move', 'schedules']
const ALL_SUITES = [...SUITES, ...LONG_SUITES]

/** The files of a suite that export `run`: `<suite>.ts` and `<suite>-….ts`, or the one named file. */
const filesOf = (suite: string): string[] =>
  readdirSync(import.meta.dirname)
    .filter(
      (name) => name === `${suite}.ts` || (name.startsWith(`${suite}-`) && name.endsWith('.ts')),
    )
    .filter((name) =>
      /^export (async function|const) run\b/m.test(
        readFileSync(join(import.meta.dirname, name), 'utf8'),
      ),
    )
    .toSorted()

function print(rows: readonly StoredRow[]): void {
  const cells = rows.map((row) => [
    row.ok ? 'ok' : 'MISSED',
    row.suite,
    row.figure,
    shownValue(row),
    row.target,
  ])
  const widths = [0, 1, 2, 3].map((at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)))
  for (const row of cells)
    console.log(
      row
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}

/** The suites start the built server. Built once, before anything is measured. */
function build(): void {
  if (buildOutdated()) return
  console.error('The build failed. Nothing was measured.')
  process.exit(1)
}

/** A suite, or one file of it, such as `stream-held`. */
const isKnown = (name: string): boolean =>
  ALL_SUITES.includes(name) ||
  (ALL_SUITES.includes(name.split('-')[0] ?? '') &&
    existsSync(join(import.meta.dirname, `${name}.ts`)))

/** Measures the suites one file at a time. A file that fails is reported, and the others still run. */
async function measure(suites: readonly string[], isFull: boolean): Promise<void> {
  const result = beginResult('bench', isFull)
  const rows: StoredRow[] = []
  const failures = suites.filter((suite) => filesOf(suite).length === 0)
  for (const file of suites.flatMap(filesOf)) {
    console.log(`Measuring ${file}…`)
    const startedAt = performance.now()
    try {
      const measured = await measureFile(file)
      print(measured)
      rows.push(...measured)
    } catch (error) {
      console.error(error)
      failures.push(file)
    }
    result.store(rows, failures)
    console.log(`${file}: ${((performance.now() - startedAt) / 60_000).toFixed(1)} minutes`)
  }
  for (const failed of failures) console.log(`Not measured: ${failed}`)
  const reached = rows.filter(({ ok }) => ok).length
  console.log(`\n${reached} of ${rows.length} targets met. Results: ${result.file}`)
  process.exitCode = failures.length > 0 ? 1 : 0
}

const [first, ...more] = process.argv.slice(2)
if (first === 'profile') {
  build()
  const { profile } = await import('./profile.ts')
  await profile(more)
  process.exit(0)
} else if (first === 'table') {
  const { printTable } = await import('./table.ts')
  printTable(more.length > 0 ? more : [RESULTS_FOLDER])
} else if (first === 'compare') {
  const [oldFile, newFile] = more
  if (oldFile === undefined) {
    console.error(
      'Specify the result to compare with: npm run bench -- compare <old.json> [new.json]',
    )
    process.exit(2)
  }
  const { compare } = await import('./compare.ts')
  compare(oldFile, newFile)
} else {
  const requested = first === undefined ? SUITES : [first, ...more]
  const unknown = requested.filter((name) => !isKnown(name))
  if (unknown.length > 0) {
    console.error(`Unknown suite: ${unknown.join(', ')}. Available: ${ALL_SUITES.join(', ')}.`)
    process.exit(2)
  }
  build()
  await measure(requested, first === undefined)
}
