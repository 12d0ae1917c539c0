// One measured figure beside its target, as `npm run bench` prints and writes it.

export interface Row {
  suite: string
  figure: string
  /** In words, as docs/operations.md lists it. */
  target: string
  value: number
  unit: string
  ok: boolean
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)

/** The value that the given part of all values does not exceed; NaN for none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}
