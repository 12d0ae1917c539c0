// Parses a unified diff into numbered rows and pairs removed with added rows for the side-by-side view.
/** A line of a diff. `before` and `after` are its line numbers in the old and the new file; null if it is not in that file. */
export type DiffRow = {
  key: string
  kind: 'add' | 'remove' | 'context' | 'hunk'
  text: string
  before: number | null
  after: number | null
}

/** The changes to one file; `added` and `removed` count lines. */
export type DiffFile = {
  key: string
  name: string
  added: number
  removed: number
  rows: DiffRow[]
}

const HUNK_HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/
const MAX_ROWS = 4_000

const fileName = (line: string): string =>
  line
    .slice(4)
    .replace(/\t.*$/, '')
    .replace(/^[ab]\//, '')

/** Parses a diff of one or more files, at most `MAX_ROWS` lines of it. Never throws: other text becomes context lines. */
export function readDiff(diff: string): DiffFile[] {
  const files: DiffFile[] = []
  let before = 1
  let after = 1
  let count = 0
  const current = (): DiffFile => {
    const last = files.at(-1)
    if (last !== undefined) return last
    const file = { key: 'file-0', name: '', added: 0, removed: 0, rows: [] }
    files.push(file)
    return file
  }
  const lines = diff.split('\n')
  if (lines.at(-1) === '') lines.pop()
  // Remaining lines of the hunk. Within a hunk, `---` is a removed line and not a file header.
  let beforeLeft = 0
  let afterLeft = 0
  for (const [index, line] of lines.entries()) {
    if (count >= MAX_ROWS) break
    count += 1
    const key = String(index)
    if (beforeLeft <= 0 && afterLeft <= 0) {
      if (line.startsWith('--- ')) {
        files.push({ key: `file-${index}`, name: fileName(line), added: 0, removed: 0, rows: [] })
        continue
      }
      if (line.startsWith('+++ ')) {
        const name = fileName(line)
        if (name !== '/dev/null') current().name = name
        continue
      }
      if (/^(Index: |=+$|diff |index |new file|deleted file|similarity|rename )/.test(line))
        continue
    }
    const header = HUNK_HEADER.exec(line)
    if (header !== null) {
      before = Number(header[1])
      beforeLeft = Number(header[2] ?? 1)
      after = Number(header[3])
      afterLeft = Number(header[4] ?? 1)
      current().rows.push({ key, kind: 'hunk', text: line, before: null, after: null })
      continue
    }
    if (line.startsWith('\\')) {
      // Says that something is left out, unless it is about the last line.
      if (!line.startsWith('\\ No newline'))
        current().rows.push({ key, kind: 'hunk', text: line, before: null, after: null })
      continue
    }
    const file = current()
    if (line.startsWith('+')) {
      file.added += 1
      file.rows.push({ key, kind: 'add', text: line.slice(1), before: null, after })
      after += 1
      afterLeft -= 1
    } else if (line.startsWith('-')) {
      file.removed += 1
      file.rows.push({ key, kind: 'remove', text: line.slice(1), before, after: null })
      before += 1
      beforeLeft -= 1
    } else {
      file.rows.push({ key, kind: 'context', text: line.slice(1), before, after })
      before += 1
      after += 1
      beforeLeft -= 1
      afterLeft -= 1
    }
  }
  return files
}

/** Whether `readDiff` leaves out the end of a diff. */
export const isCut = (diff: string): boolean =>
  diff.split('\n', MAX_ROWS + 2).filter((line, at) => at < MAX_ROWS || line !== '').length >
  MAX_ROWS

/** A row of the side-by-side view. A side is null if it has no counterpart of the other one. */
export type DiffPair =
  | { kind: 'hunk'; key: string; row: DiffRow }
  | { kind: 'pair'; key: string; before: DiffRow | null; after: DiffRow | null }

/** Pairs each block of removed lines with the block of added lines that follows it. */
export function pairRows(rows: readonly DiffRow[]): DiffPair[] {
  const pairs: DiffPair[] = []
  let removed: DiffRow[] = []
  let added: DiffRow[] = []
  const flush = (): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      const before = removed[index] ?? null
      const after = added[index] ?? null
      pairs.push({ kind: 'pair', key: `${before?.key ?? ''}:${after?.key ?? ''}`, before, after })
    }
    removed = []
    added = []
  }
  for (const row of rows) {
    if (row.kind === 'remove') {
      if (added.length > 0) flush()
      removed.push(row)
    } else if (row.kind === 'add') added.push(row)
    else {
      flush()
      pairs.push(
        row.kind === 'hunk'
          ? { kind: 'hunk', key: row.key, row }
          : { kind: 'pair', key: row.key, before: row, after: row },
      )
    }
  }
  flush()
  return pairs
}
