// The result files of the benchmarks (`bench`, `bench:web`, `soak`), in the folder `results` beside this file.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'

/** JSON has no NaN: a figure without a value is `null` in the file. */
export const StoredRow = z.object({
  suite: z.string(),
  figure: z.string(),
  target: z.string().default(''),
  value: z.number().nullable(),
  unit: z.string(),
  ok: z.boolean().default(true),
  spread: z.tuple([z.number(), z.number()]).optional(),
})
export type StoredRow = z.infer<typeof StoredRow>

/** The name of a figure without the parentheses, which hold conditions that differ between runs. */
export const nameOf = (figure: string): string => figure.replace(/ \(.*\)/, '')

/** The same figure has the same key in every result. */
export const keyOf = ({ suite, figure }: { suite: string; figure: string }): string =>
  `${suite} ${nameOf(figure)}`

/** A value with its unit, with three digits. */
export const shownValue = ({ value, unit }: Pick<StoredRow, 'value' | 'unit'>): string =>
  value === null ? 'not measured' : `${Number(value.toPrecision(3))} ${unit}`.trim()

export const Result = z.object({
  at: z.string(),
  node: z.string().optional(),
  processors: z.number().optional(),
  model: z.string().optional(),
  memoryGb: z.number().optional(),
  /** The averages over 1, 5 and 15 minutes, before and after. */
  load: z.array(z.number()).optional(),
  /** Whether this was a full `npm run bench`. */
  isFull: z.boolean().default(false),
  rows: z.array(StoredRow),
})
export type Result = z.infer<typeof Result>

export const RESULTS_FOLDER = join(import.meta.dirname, 'results')

/** Starts a result file. Its name starts with the time, so names sort by time. */
export function beginResult(kind: 'bench' | 'web' | 'soak', isFull = false) {
  const at = new Date().toISOString()
  const machine = {
    node: process.version,
    processors: cpus().length,
    model: cpus()[0]?.model,
    memoryGb: Math.round(totalmem() / 2 ** 30),
  }
  const loadBefore = loadavg()
  const file = join(RESULTS_FOLDER, `${at.replaceAll(/[:.]/g, '-')}-${kind}.json`)
  return {
    file,
    /** Writes the file, so that an interrupted run keeps the results so far. */
    store(rows: readonly StoredRow[], failures: readonly string[]): void {
      const load = [...loadBefore, ...loadavg()]
      const result = { at, ...machine, load, isFull, failures, rows }
      mkdirSync(RESULTS_FOLDER, { recursive: true })
      writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`)
    },
  }
}

/** @throws Error if the file is not a result. */
export const readResult = (file: string): Result =>
  Result.parse(JSON.parse(readFileSync(file, 'utf8')))

/** The results of a file or folder, oldest first. Other files in the folder are ignored. */
export function readResults(path: string): Result[] {
  if (!statSync(path).isDirectory()) return [readResult(path)]
  return readdirSync(path)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const { data } = Result.safeParse(JSON.parse(readFileSync(join(path, name), 'utf8')))
      return data === undefined ? [] : [data]
    })
    .toSorted((a, b) => a.at.localeCompare(b.at))
}

/** The last full run and all later results, such as the page and the soak; without a full run, all results. */
export function sinceLastFullRun(results: readonly Result[]): Result[] {
  return results.slice(
    Math.max(
      0,
      results.findLastIndex(({ isFull }) => isFull),
    ),
  )
}
