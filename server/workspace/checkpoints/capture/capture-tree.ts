// Captures the contents of a project folder, stored or only hashed. Runs in the worker thread only, while nothing else
// changes the project.
import { lstatSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { PathContent } from '../../../db/tables/projects/checkpoints.ts'
import { linkRefused } from '../../files/paths.ts'
import { type Copies, captureEntry, scan, syncFile } from './scan-tree.ts'

/** The input of a capture of a folder and everything below it. */
export interface CaptureTreeInput {
  /** The project's folder. */
  root: string
  /** The folder to capture, relative to `root`; checked by the caller. */
  folder: string
  /** Where contents are stored; null only hashes them. */
  contents: string | null
  /** Hashes of recently read files by identity: a file that was only moved is not read again. */
  known: ReadonlyMap<string, string>
  /** Throws beyond this many entries. */
  maxEntries: number
}

/** The contents of a folder at the time of the capture. */
export interface CapturedTree {
  /** Every storable entry below the folder, a folder before its contents. */
  entries: [path: string, content: PathContent][]
  /** Hashes of the files among them by identity, for the next capture. */
  known: Map<string, string>
}

/** @throws AppError `path_escapes` if the folder's path contains a link, `bad_request` if there are too many entries. */
export function captureTree(input: CaptureTreeInput): CapturedTree {
  assertNoLinks(input.root, input.folder)
  const entries: [string, PathContent][] = []
  const known = new Map<string, string>()
  const copies: Copies | null =
    input.contents === null ? null : { contents: input.contents, copied: [] }
  if (input.contents !== null) mkdirSync(input.contents, { recursive: true, mode: 0o700 })
  scan(
    input.root,
    (path, real, stats) => {
      const identity = stats.isFile() ? `${stats.ino}-${stats.size}-${stats.mtimeNs}` : ''
      const hash = input.known.get(identity)
      const content: PathContent | null =
        hash !== undefined && copies === null
          ? { kind: 'file', hash, size: Number(stats.size), mode: Number(stats.mode) & 0o777 }
          : captureEntry(real, stats, copies)
      if (content === null) return
      entries.push([path, content])
      if (content.kind === 'file') known.set(identity, content.hash)
    },
    { start: input.folder, maxEntries: input.maxEntries },
  )
  // Synced together at the end, when the system has already written most of them.
  for (const path of copies?.copied ?? []) syncFile(path)
  return { entries, known }
}

/** Throws unless every segment of the path is a folder, not a link to one. */
function assertNoLinks(root: string, folder: string): void {
  let current = root
  for (const name of folder.split('/')) {
    current = join(current, name)
    if (lstatSync(current).isSymbolicLink()) throw linkRefused(folder)
  }
}
