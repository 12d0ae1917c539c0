// Unified diffs of two texts with counts, bounded in time and size.
import { structuredPatch } from 'diff'

/** The difference of two texts. */
export interface TextDiff {
  /** Unified format with three lines of context; empty when nothing differs. If it is truncated, its last line says so. */
  diff: string
  /** Lines. */
  added: number
  removed: number
}

/** Longer diffs are truncated. */
const MAX_CHARACTERS = 200_000

/**
 * Diffs two texts; null stands for a missing file. If finding the shortest diff takes longer than `timeoutMs`, everything
 * between the first and the last difference counts as replaced.
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
      ?.hunks ?? replaceMiddle(before ?? '', after ?? '')
  const lines = [
    before === null ? '--- /dev/null' : `--- a/${path}`,
    after === null ? '+++ /dev/null' : `+++ b/${path}`,
  ]
  let added = 0
  let removed = 0
  for (const hunk of hunks) {
    const [from, to] = [range(hunk.oldStart, hunk.oldLines), range(hunk.newStart, hunk.newLines)]
    lines.push(`@@ -${from} +${to} @@`)
    for (const line of hunk.lines) {
      if (line.startsWith('+')) added++
      else if (line.startsWith('-')) removed++
      lines.push(line)
    }
  }
  return { diff: cut(`${lines.join('\n')}\n`), added, removed }
}

/** The range of a hunk in one of the texts. An empty range names the line before it, as `patch` expects. */
const range = (start: number, lines: number): string =>
  `${lines === 0 ? start - 1 : start},${lines}`

function cut(diff: string): string {
  if (diff.length <= MAX_CHARACTERS) return diff
  const end = diff.lastIndexOf('\n', MAX_CHARACTERS)
  return `${diff.slice(0, end > 0 ? end : MAX_CHARACTERS)}\n\\ The rest of this diff is left out.\n`
}

/** One hunk that replaces everything between the common beginning and the common end. */
function replaceMiddle(before: string, after: string) {
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
  const removed = oldLines.slice(start, oldLines.length - end)
  const added = newLines.slice(start, newLines.length - end)
  return [
    {
      oldStart: start + 1,
      oldLines: removed.length,
      newStart: start + 1,
      newLines: added.length,
      lines: [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)],
    },
  ]
}
