// Sizes as texts for readers.

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB']

/** A number of bytes for a reader: `5 MB`, `1.3 GB`, `200 bytes`. */
export function sizeText(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  const value = bytes / 1024 ** unit
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${UNITS[unit]}`
}
