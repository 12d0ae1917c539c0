// `npm run bench [-- suite …]`: runs the suites, prints each figure with its target, and writes bench/results/.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Row } from './row.ts'

const SUITES = ['stream', 'store', 'workspace', 'sandbox', 'agents']

type Suite = { file: string; run(): Promise<Row[]> }

const isSuite = (module: object): module is Pick<Suite, 'run'> =>
  'run' in module && typeof module.run === 'function'

/** The files of a suite that export `run`: `<suite>.ts` and `<suite>-….ts`. */
async function filesOf(suite: string): Promise<Suite[]> {
  const files = readdirSync(import.meta.dirname)
    .filter(
      (name) => name === `${suite}.ts` || (name.startsWith(`${suite}-`) && name.endsWith('.ts')),
    )
    .toSorted()
  const found: Suite[] = []
  for (const file of files) {
    const module: object = await import(pathToFileURL(join(import.meta.dirname, file)).href)
    if (isSuite(module)) found.push({ file, run: () => module.run() })
  }
  return found
}

function print(rows: readonly Row[]): void {
  const cells = rows.map((row) => [
    row.ok ? 'ok' : 'MISSED',
    row.suite,
    row.figure,
    `${Number(row.value.toPrecision(3))} ${row.unit}`.trim(),
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

const requested = process.argv.slice(2)
if (requested[0] === 'profile') {
  const { profile } = await import('./profile.ts')
  await profile(requested.slice(1))
  process.exit(0)
}
// Requires several instances sharing one store, which this version does not support.
if (requested.includes('cluster')) {
  console.error(
    'The suite "cluster" is not available: this version supports a single instance only.',
  )
  process.exit(2)
}
const unknown = requested.filter((name) => !SUITES.includes(name))
if (unknown.length > 0) {
  console.error(`Unknown suite: ${unknown.join(', ')}. Available: ${SUITES.join(', ')}.`)
  process.exit(2)
}

const rows: Row[] = []
const failures: string[] = []
for (const suite of requested.length > 0 ? requested : SUITES) {
  const files = await filesOf(suite)
  if (files.length === 0) failures.push(suite)
  for (const { file, run } of files) {
    console.log(`measuring ${file} …`)
    try {
      const measured = await run()
      // A suite without figures must not pass.
      if (measured.length === 0) throw new Error(`${file} measured nothing.`)
      print(measured)
      rows.push(...measured)
    } catch (error) {
      console.error(error)
      failures.push(file)
    }
  }
}

const folder = join(import.meta.dirname, 'results')
mkdirSync(folder, { recursive: true })
const at = new Date().toISOString()
const result = { at, node: process.version, processors: cpus().length, failures, rows }
const file = join(folder, `${at.replaceAll(/[:.]/g, '-')}.json`)
writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`)
console.log(`\n${rows.filter(({ ok }) => ok).length} of ${rows.length} figures reached; ${file}`)
// Servers and connections that a suite left open must not keep the process alive.
process.exit(failures.length > 0 ? 1 : 0)
