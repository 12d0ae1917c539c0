// The part of a content that a request asks for.

/** From `start` until before `end`. */
export interface RequestedRange {
  start: number
  end: number
}

/**
 * The requested range. Several ranges, other units and malformed headers are ignored, as the RFC permits: then the whole
 * content is sent.
 */
export function byteRangeOf(
  header: string | undefined,
  size: number,
): RequestedRange | 'whole' | 'unsatisfiable' {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (first === '' && last === '') return 'whole'
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size }
  }
  const start = Number(first)
  const end = last === '' ? size : Math.min(Number(last) + 1, size)
  if (last !== '' && Number(last) < start) return 'whole'
  return start >= size ? 'unsatisfiable' : { start, end }
}
