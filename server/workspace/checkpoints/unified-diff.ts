// Unified diffs of two texts with counts, bounded in time and size.
import { structuredPatch } from 'diff'

export interface TextDiff {
  /** Unified format with three lines of context; empty when nothing differs. May be cut, then its last line says so. */
  diff: string
  /** Lines. */
  added: number
  removed: number
}

/** Characters of a diff that are kept. */
const MAX_DIFF = 200_000

/**
 * The difference of two texts, null standing for a file that is not there. When finding the shortest one takes longer
 * than `timeoutMs`, everything between the first and the last difference counts as replaced.
 */
export function unifiedDiff(
  path: string,
  before: string | null,
  after: string | null,
  timeoutMs: number,
): TextDiff {
  if (before === after) return { diff: '', added: 0, removed: 0 }
  const hunks =
    structuredPatch('', '', before ?? '', after ?? '', '', '', { context: 3, timeout: timeoutMs })
      ?.hunks ?? wholesale(before ?? '', after ?? '')
  const lines = [
    before === null ? '--- /dev/null' : `--- a/${path}`,
    after === null ? '+++ /dev/null' : `+++ b/${path}`,
  ]
  let added = 0
  let removed = 0
  for (const hunk of hunks) {
    const [from, to] = [place(hunk.oldStart, hunk.oldLines), place(hunk.newStart, hunk.newLines)]
    lines.push(`@@ -${from} +${to} @@`)
    for (const line of hunk.lines) {
      if (line.startsWith('+')) added++
      else if (line.startsWith('-')) removed++
      lines.push(line)
    }
  }
  return { diff: cut(`${lines.join('\n')}\n`), added, removed }
}

/** Where a hunk lies in one of both texts; a range of no lines is told by the line before it, as `patch` reads it. */
const place = (start: number, lines: number): string =>
  `${lines === 0 ? start - 1 : start},${lines}`

function cut(diff: string): string {
  if (diff.length <= MAX_DIFF) return diff
  const end = diff.lastIndexOf('\n', MAX_DIFF)
  return `${diff.slice(0, end > 0 ? end : MAX_DIFF)}\n\\ The rest of this difference is left out.\n`
}

/** One hunk that replaces all between the common beginning and the common end. */
function wholesale(before: string, after: string) {
  const oldLines = before.split('\n')
  const newLines = after.split('\n')
  let start = 0
  while (start < oldLines.length && start < newLines.length && oldLines[start] === newLines[start])
    start++
  let end = 0
  while (
    end < oldLines.length - start &&
    end < newLines.length - start &&
    oldLines[oldLines.length - 1 - end] === newLines[newLines.length - 1 - end]
  )
    end++
  const gone = oldLines.slice(start, oldLines.length - end)
  const come = newLines.slice(start, newLines.length - end)
  return [
    {
      oldStart: start + 1,
      oldLines: gone.length,
      newStart: start + 1,
      newLines: come.length,
      lines: [...gone.map((line) => `-${line}`), ...come.map((line) => `+${line}`)],
    },
  ]
}
