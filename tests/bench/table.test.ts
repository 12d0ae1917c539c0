// The table of docs/benchmarks.md, as `npm run bench -- table` prints it from the results.
import { describe, expect, test } from 'vitest'
import { Result, sinceLastFullRun } from '../../bench/results.ts'
import { tableOf } from '../../bench/table.ts'

const LISTED = [
  { suite: 'stream', figure: 'tokens/s', target: '≥ 0.95 × raw' },
  { suite: 'stream', figure: 'streams held', target: '≥ 1 × raw' },
  { suite: 'page', figure: 'largest chunk', target: '≤ 160 KB' },
]
const row = (suite: string, figure: string, value: number | null, more: object = {}) => ({
  ...{ suite, figure, value, unit: suite === 'page' ? 'KB' : '× raw', ...more },
})
const result = (at: string, rows: object[], more: object = {}) =>
  Result.parse({ at: `2026-11-${at}:00.000Z`, rows, ...more })

/** The lines of the table below its head. */
const linesOf = (table: string): string[] =>
  table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)

describe('the table of the benchmark', () => {
  test('a row shows the target, the value with its quartiles, and whether the target is missed', () => {
    const run = result('24T10:00', [
      row('stream', 'tokens/s', 0.8753, { ok: false, spread: [0.861, 0.9] }),
      row('stream', 'streams held (raw 1000, own 1000)', 1),
      row('page', 'largest chunk', 97),
    ])
    expect(linesOf(tableOf([run], LISTED))).toEqual([
      '| **stream** | | |',
      '| tokens/s | ≥ 0.95 × raw | **missed:** 0.875 × raw (0.861 to 0.9) |',
      '| streams held | ≥ 1 × raw | 1 × raw (raw 1000, own 1000) |',
      '| **page** | | |',
      '| largest chunk | ≤ 160 KB | 97 KB |',
    ])
  })

  test('a figure without a result or a value is shown as not measured', () => {
    const run = result('24T10:00', [row('stream', 'tokens/s', null, { ok: false })])
    expect(linesOf(tableOf([run], LISTED))).toEqual([
      '| **stream** | | |',
      '| tokens/s | ≥ 0.95 × raw | not measured |',
      '| streams held | ≥ 1 × raw | not measured |',
      '| **page** | | |',
      '| largest chunk | ≤ 160 KB | not measured |',
    ])
    expect(linesOf(tableOf([], LISTED))).toHaveLength(5)
  })

  test('a measured figure that is not listed appears at the end of its suite', () => {
    const run = result('24T10:00', [row('stream', 'a new one', 2, { target: '≤ 3' })])
    expect(linesOf(tableOf([run], LISTED))[3]).toBe('| a new one | ≤ 3 | 2 × raw |')
  })

  test('only results since the last full run count, and the newest value of a figure wins', () => {
    const results = [
      result('24T09:00', [row('page', 'largest chunk', 200)]),
      result('24T10:00', [row('stream', 'tokens/s', 1), row('stream', 'streams held', 1)], {
        isFull: true,
      }),
      result('24T11:00', [row('stream', 'tokens/s', 2)]),
    ]
    expect(linesOf(tableOf(sinceLastFullRun(results), LISTED))).toEqual([
      '| **stream** | | |',
      '| tokens/s | ≥ 0.95 × raw | 2 × raw |',
      '| streams held | ≥ 1 × raw | 1 × raw |',
      '| **page** | | |',
      '| largest chunk | ≤ 160 KB | not measured |',
    ])
    expect(sinceLastFullRun(results.slice(0, 1))).toHaveLength(1)
  })

  test('the time, machine and load of each result appear above the table', () => {
    const machine = { node: 'v24.11.0', processors: 2, model: 'A processor', memoryGb: 8 }
    const run = result('24T10:00', [row('stream', 'tokens/s', 1)], {
      ...machine,
      load: [0.4, 0.5, 0.5, 1.52, 1.4, 1],
    })
    expect(tableOf([run], LISTED).split('\n')[0]).toBe(
      '- stream: 2026-11-24 10:00 UTC, Node v24.11.0, 2 processors (A processor), 8 GB, load 0.4 before, 1.5 after',
    )
  })
})
