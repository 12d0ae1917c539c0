// A measured figure and its target, as `npm run bench` prints and stores it.

export interface Row {
  suite: string
  figure: string
  /** The target as text, as listed in docs/operations.md. */
  target: string
  value: number
  unit: string
  ok: boolean
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)

/** The percentile (`fraction` from 0 to 1) of the values; NaN if there are none. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN
}
