// `npm run bench [-- suite …]`: runs the suites, prints each figure with its target, and writes bench/results/. The first
// word may be `profile` or `compare` instead.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildOutdated } from '../scripts/build-outdated.mjs'
import type { Row } from './row.ts'

const SUITES = ['stream', 'store', 'workspace', 'sandbox', 'agents']
/** Only when they are named: filling their databases takes minutes, or they need a Redis. */
const LONG_SUITES = ['search', 'cluster']
const ALL_SUITES = [...SUITES, ...LONG_SUITES]

/** Several times what the longest takes: a file that hangs must not keep the others from being measured. */
const FILE_MINUTES = 20

type Suite = { file: string; run(): Promise<Row[]> }

const isSuite = (module: object): module is Pick<Suite, 'run'> =>
  'run' in module && typeof module.run === 'function'

/** The files of a suite that export `run`: `<suite>.ts` and `<suite>-….ts`; or the one file that is named. */
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

/** @throws Error after the time limit; what the file started ends with this process. */
async function bounded(file: string, measured: Promise<Row[]>): Promise<Row[]> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_resolve, reject) => {
    const error = new Error(`${file} took more than ${FILE_MINUTES} minutes.`)
    timer = setTimeout(() => reject(error), FILE_MINUTES * 60_000)
  })
  try {
    return await Promise.race([measured, limit])
  } finally {
    clearTimeout(timer)
  }
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

/** The suites start the built server. Built once, before anything is measured. */
function build(): void {
  if (buildOutdated()) return
  console.error('The build failed, so nothing was measured.')
  process.exit(1)
}

const requested = process.argv.slice(2)
if (requested[0] === 'profile') {
  build()
  const { profile } = await import('./profile.ts')
  await profile(requested.slice(1))
  process.exit(0)
}
const folder = join(import.meta.dirname, 'results')
mkdirSync(folder, { recursive: true })
if (requested[0] === 'compare') {
  const [, oldFile, newFile] = requested
  if (oldFile === undefined) {
    console.error('Name the result to compare with: npm run bench -- compare <old.json> [new.json]')
    process.exit(2)
  }
  const { compare } = await import('./compare.ts')
  compare(folder, oldFile, newFile)
  process.exit(0)
}
/** A suite, or one file of it, such as `stream-held`. */
const isKnown = (name: string): boolean =>
  ALL_SUITES.includes(name) ||
  (ALL_SUITES.includes(name.split('-')[0] ?? '') &&
    existsSync(join(import.meta.dirname, `${name}.ts`)))
const unknown = requested.filter((name) => !isKnown(name))
if (unknown.length > 0) {
  console.error(`Unknown suite: ${unknown.join(', ')}. Available: ${ALL_SUITES.join(', ')}.`)
  process.exit(2)
}

build()
const loadBefore = loadavg()
const rows: Row[] = []
const failures: string[] = []
for (const suite of requested.length > 0 ? requested : SUITES) {
  const files = await filesOf(suite).catch((error: unknown) => {
    console.error(error)
    return []
  })
  if (files.length === 0) failures.push(suite)
  for (const { file, run } of files) {
    console.log(`measuring ${file} …`)
    const startedAt = performance.now()
    try {
      const measured = await bounded(file, run())
      // A suite without figures must not pass.
      if (measured.length === 0) throw new Error(`${file} measured nothing.`)
      print(measured)
      rows.push(...measured)
    } catch (error) {
      console.error(error)
      failures.push(file)
    }
    console.log(`${file}: ${((performance.now() - startedAt) / 60_000).toFixed(1)} minutes`)
  }
}

const at = new Date().toISOString()
const machine = {
  node: process.version,
  processors: cpus().length,
  model: cpus()[0]?.model,
  memoryGb: Math.round(totalmem() / 2 ** 30),
}
// The averages over 1, 5 and 15 minutes, before and after.
const result = { at, ...machine, load: [...loadBefore, ...loadavg()], failures, rows }
const file = join(folder, `${at.replaceAll(/[:.]/g, '-')}.json`)
writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`)
for (const failed of failures) console.log(`not measured: ${failed}`)
console.log(`\n${rows.filter(({ ok }) => ok).length} of ${rows.length} figures reached; ${file}`)
// Servers and connections that a suite left open must not keep the process alive.
process.exit(failures.length > 0 ? 1 : 0)
