// A measured figure and its target, as `npm run bench` prints and stores it.

export interface Row {
  suite: string
  figure: string
  /** The target as text, as listed in docs/benchmarks.md. */
  target: string
  value: number
  unit: string
  ok: boolean
  /** The quartiles of the rounds that `value` is the median of. */
  spread?: [number, number]
}

/** The median of the rounds, with their quartiles. */
export const ofRounds = (values: readonly number[]): Required<Pick<Row, 'value' | 'spread'>> => ({
  value: median(values),
  spread: [percentile(values, 0.25), percentile(values, 0.75)],
})

export const median = (values: readonly number[]): number => percentile(values, 0.5)

/** The percentile (`fraction` from 0 to 1) of the values; NaN if there are none. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN
}
