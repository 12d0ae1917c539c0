// `npm run bench -- table [folder or file …]`: the table of docs/benchmarks.md from the results of the last full run.
import {
  keyOf,
  nameOf,
  type Result,
  readResults,
  type StoredRow,
  shownValue,
  sinceLastFullRun,
} from './results.ts'
import { TABLE_FIGURES, type TableFigure } from './table-figures.ts'

/** Prints the table of the results in these files and folders. */
export function printTable(paths: readonly string[]): void {
  const results = paths.flatMap(readResults).toSorted((a, b) => a.at.localeCompare(b.at))
  console.log(tableOf(sinceLastFullRun(results)))
}

/**
 * Builds the Markdown table, with the machine and the load above it. If several results have a figure, the last
 * one counts. Figures without a result are marked, and figures missing from the list go to the end of their suite.
 */
export function tableOf(results: readonly Result[], listed = TABLE_FIGURES): string {
  const measured = new Map<string, StoredRow>()
  for (const { rows } of results) for (const row of rows) measured.set(keyOf(row), row)
  const known = new Set(listed.map(keyOf))
  const more = [...measured.values()].filter((row) => !known.has(keyOf(row)))
  const suites = new Set([...listed, ...more].map(({ suite }) => suite))
  const lines = [...suites].flatMap((suite) => [
    `| **${suite}** | | |`,
    ...[...listed, ...more]
      .filter((figure) => figure.suite === suite)
      .map((figure) => lineOf(figure, measured.get(keyOf(figure)))),
  ])
  const circumstances = results.map(circumstancesOf).join('\n')
  return `${circumstances}\n\n| Figure | Target | This run |\n| --- | --- | --- |\n${lines.join('\n')}`
}

function lineOf({ figure, target }: TableFigure, row: StoredRow | undefined): string {
  const cells = [nameOf(figure), target === '' ? '–' : target, row ? shown(row) : 'not measured']
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

const digits = (value: number): string => String(Number(value.toPrecision(3)))

/** The value with the quartiles of its rounds and its conditions; marked if it misses its target. */
function shown(row: StoredRow): string {
  const [low, high] = (row.spread ?? []).map(digits)
  const spread = low === undefined || low === high ? '' : `${low} to ${high}`
  const circumstances = / \((.*)\)/.exec(row.figure)?.[1] ?? ''
  const notes = [spread, circumstances].filter((note) => note !== '').join('; ')
  const value = `${shownValue(row)}${notes === '' ? '' : ` (${notes})`}`
  return row.ok || row.value === null ? value : `**missed:** ${value}`
}

/** The suites of a result with its time, machine and load. */
function circumstancesOf({ at, rows, node, processors, model, memoryGb, load }: Result): string {
  const suites = [...new Set(rows.map(({ suite }) => suite))].join(', ')
  const machine = [
    node && `Node ${node}`,
    processors && `${processors} processors${model ? ` (${model})` : ''}`,
    memoryGb && `${memoryGb} GB`,
  ]
  // One minute's averages before and after.
  const [before, , , after] = load ?? []
  const loads =
    before === undefined
      ? ''
      : `load ${before.toFixed(1)}${after === undefined ? '' : ` before, ${after.toFixed(1)} after`}`
  const parts = [...machine, loads].filter(Boolean).join(', ')
  return `- ${suites === '' ? 'nothing' : suites}: ${at.slice(0, 16).replace('T', ' ')} UTC, ${parts}`
}
