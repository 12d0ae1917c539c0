// `npm run bench -- compare <old.json> [new.json]`: what changed between two runs of the benchmark beyond their noise.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const StoredRow = z.object({
  suite: z.string(),
  figure: z.string(),
  value: z.number().nullable(),
  unit: z.string(),
  spread: z.tuple([z.number(), z.number()]).optional(),
})
type StoredRow = z.infer<typeof StoredRow>
const Result = z.object({
  at: z.string(),
  load: z.array(z.number()).optional(),
  rows: z.array(StoredRow),
})

/** A figure without a spread has to change by this share to count: measured differences between two equal runs stay below. */
const NOISE = 0.15

const read = (file: string) => Result.parse(JSON.parse(readFileSync(file, 'utf8')))

/** Some figures name what was measured in parentheses. */
const keyOf = ({ suite, figure }: StoredRow): string => `${suite} ${figure.replace(/ \(.*\)/, '')}`

/** The range in which a figure lies. */
function rangeOf({ value, spread }: StoredRow): [number, number] {
  const middle = value ?? 0
  const slack = Math.abs(middle) * NOISE
  if (spread === undefined) return [middle - slack, middle + slack]
  return spread
}

/** Compares the file with the other one, by default with the newest result. Prints the changes. */
export function compare(folder: string, oldFile: string, newFile?: string): void {
  const newest = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .at(-1)
  if (newFile === undefined && newest === undefined)
    throw new Error('There is no result to compare with. Run `npm run bench` first.')
  const [before, after] = [read(oldFile), read(newFile ?? join(folder, newest ?? ''))]
  console.log(
    `${before.at} (load ${before.load ?? 'unknown'}) → ${after.at} (load ${after.load ?? 'unknown'})`,
  )
  const known = new Map(before.rows.map((row) => [keyOf(row), row]))
  let same = 0
  for (const row of after.rows) {
    const old = known.get(keyOf(row))
    if (old === undefined) {
      console.log(`  new      ${row.suite}  ${row.figure}: ${shown(row)}`)
      continue
    }
    known.delete(keyOf(row))
    const [oldLow, oldHigh] = rangeOf(old)
    const [low, high] = rangeOf(row)
    if (low <= oldHigh && oldLow <= high) {
      same += 1
      continue
    }
    const percent = (((row.value ?? 0) / (old.value ?? 0) - 1) * 100).toFixed(0)
    const sign = Number(percent) > 0 ? '+' : ''
    console.log(
      `  ${`${sign}${percent} %`.padEnd(8)} ${row.suite}  ${row.figure}: ${shown(old)} → ${shown(row)}`,
    )
  }
  for (const row of known.values()) console.log(`  missing  ${row.suite}  ${row.figure}`)
  console.log(`${same} figures did not change beyond the noise.`)
}

const shown = ({ value, unit }: StoredRow): string =>
  value === null ? 'not measured' : `${Number(value.toPrecision(3))} ${unit}`.trim()
