// The visible rows of a project's file tree, and its keyboard navigation. Pure functions.
import type { z } from 'zod'
import type { FileListing } from '../../../../server/protocol/projects/project.ts'

type Listing = z.output<typeof FileListing>

/** A file or folder in the tree. */
export type Row = {
  kind: 'file' | 'folder'
  name: string
  path: string
  /** The depth, 1 for entries of the root. */
  level: number
  /** The position among the entries of its folder, from 1. */
  place: number
  /** The number of entries in its folder. */
  siblings: number
  /** For folders. */
  isOpen?: boolean
  /** For files, in bytes. */
  size?: number
  /** For files that are searchable. */
  document?: Listing['files'][number]['document']
}

/** The folders that contain `path`, outermost first: "a/b/name" -> ["a", "a/b"]. */
export const foldersOf = (path: string): string[] => {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'))
}

/** The rows from top to bottom. `listings` has the loaded folders by path; the root is ''. */
export function visibleRows(
  listings: ReadonlyMap<string, Listing>,
  open: ReadonlySet<string>,
): Row[] {
  const rowsIn = (folder: string, level: number): Row[] => {
    const listing = listings.get(folder)
    if (listing === undefined) return []
    const { directories, files } = listing
    const siblings = directories.length + files.length
    return [
      ...directories.flatMap(({ name, path }, at): Row[] => {
        const isOpen = open.has(path)
        const row: Row = { kind: 'folder', name, path, level, place: at + 1, siblings, isOpen }
        return isOpen ? [row, ...rowsIn(path, level + 1)] : [row]
      }),
      ...files.map(({ name, path, size, document }, at): Row => {
        const place = directories.length + at + 1
        const row: Row = { kind: 'file', name, path, level, place, siblings, size }
        return document === undefined ? row : { ...row, document }
      }),
    ]
  }
  return rowsIn('', 1)
}

/** The effect of a key: it moves the focus to a row, or opens or closes a folder. */
export type Move = { to: Row } | { toggle: Row }

/** The row of the folder that contains the row at index `at`; undefined in the root. */
const parentAt = (rows: readonly Row[], at: number): Row | undefined =>
  rows.slice(0, at).findLast(({ level }) => level < (rows[at]?.level ?? 0))

/**
 * The effect of a key on the focused row (index `at`), following the WAI-ARIA tree pattern. `inward` is the arrow that
 * points into a folder: right in left-to-right languages. Undefined if the key has no effect.
 */
export function moveOf(
  key: string,
  rows: readonly Row[],
  at: number,
  inward: 'ArrowLeft' | 'ArrowRight',
): Move | undefined {
  const row = rows[at]
  if (row === undefined) return undefined
  const toRow = (to: Row | undefined): Move | undefined => (to === undefined ? undefined : { to })
  const outward = inward === 'ArrowRight' ? 'ArrowLeft' : 'ArrowRight'
  if (key === 'ArrowDown') return toRow(rows[at + 1])
  if (key === 'ArrowUp') return toRow(rows[at - 1])
  if (key === 'Home') return toRow(rows[0])
  if (key === 'End') return toRow(rows.at(-1))
  if (key === inward && row.kind === 'folder') {
    const next = rows[at + 1]
    if (row.isOpen !== true) return { toggle: row }
    return next !== undefined && next.level > row.level ? { to: next } : undefined
  }
  if (key === outward) return row.isOpen === true ? { toggle: row } : toRow(parentAt(rows, at))
  return undefined
}

/**
 * The next row whose name starts with `typed`, searching from index `at` and then from the top. A single letter starts
 * after the focused row, so that repeating it goes to the next match; several letters may match the focused row.
 */
export function rowStartingWith(
  typed: string,
  rows: readonly Row[],
  at: number,
  language: string,
): Row | undefined {
  const prefix = typed.toLocaleLowerCase(language)
  const from = typed.length === 1 ? at + 1 : at
  return [...rows.slice(from), ...rows.slice(0, from)].find(({ name }) =>
    name.toLocaleLowerCase(language).startsWith(prefix),
  )
}
