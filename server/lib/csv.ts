// Comma-separated values, as spreadsheets read them (RFC 4180).

/** What a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/

/**
 * One line with its end. A text that a spreadsheet would run as a formula gets an apostrophe, which spreadsheets take for the
 * mark of a text.
 */
export const csvLine = (fields: readonly (string | number)[]): string =>
  `${fields.map(csvField).join(',')}\r\n`

function csvField(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
