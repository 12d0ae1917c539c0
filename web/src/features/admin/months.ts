// Calendar months as `YYYY-MM`.

/** The months from `first` to `last`, newest first. Only `last` if it is not after `first`. */
export function monthsBetween(first: string, last: string): string[] {
  const months = [last]
  let [year = 0, month = 0] = last.split('-').map(Number)
  for (let key = last; key > first; ) {
    month -= 1
    if (month === 0) {
      month = 12
      year -= 1
    }
    key = `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}`
    months.push(key)
  }
  return months
}
