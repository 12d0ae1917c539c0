// `npm run bench -- compare <old.json> [new.json]`: the changes between two benchmark runs beyond the noise.
import {
  keyOf,
  RESULTS_FOLDER,
  readResult,
  readResults,
  type StoredRow,
  shownValue,
} from './results.ts'

/** A figure without a spread must change by this share to count: differences between two equal runs stay below it. */
const NOISE = 0.15

/** The range in which a figure lies. */
function rangeOf({ value, spread }: StoredRow): [number, number] {
  const middle = value ?? 0
  const slack = Math.abs(middle) * NOISE
  if (spread === undefined) return [middle - slack, middle + slack]
  return spread
}

/** Compares the file with another, by default the newest with one of its figures. Prints the changes. */
export function compare(oldFile: string, newFile?: string): void {
  const before = readResult(oldFile)
  const known = new Map(before.rows.map((row) => [keyOf(row), row]))
  const after =
    newFile === undefined
      ? readResults(RESULTS_FOLDER).findLast(({ rows }) =>
          rows.some((row) => known.has(keyOf(row))),
        )
      : readResult(newFile)
  if (after === undefined) throw new Error('No result to compare with. Run `npm run bench` first.')
  console.log(
    `${before.at} (load ${before.load ?? 'unknown'}) → ${after.at} (load ${after.load ?? 'unknown'})`,
  )
  let same = 0
  for (const row of after.rows) {
    const old = known.get(keyOf(row))
    if (old === undefined) {
      console.log(`  new      ${row.suite}  ${row.figure}: ${shownValue(row)}`)
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
      `  ${`${sign}${percent} %`.padEnd(8)} ${row.suite}  ${row.figure}: ${shownValue(old)} → ${shownValue(row)}`,
    )
  }
  for (const row of known.values()) console.log(`  missing  ${row.suite}  ${row.figure}`)
  console.log(`${same} figures are unchanged within the noise.`)
}
