// Captures what paths of a project hold at this moment, with contents stored or only hashed.
import { readlink } from 'node:fs/promises'
import type { CheckpointFile, PathContent } from '../../db/tables/projects.ts'
import { AppError, appError } from '../../errors.ts'
import { look } from '../files/file-state.ts'
import {
  openRegularFile,
  type Place,
  type ProjectPath,
  parseInnerPath,
  withPlace,
} from '../files/paths.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import type { Workspace } from '../workspace.ts'
import { hashOf, type KeptContent } from './content-store.ts'

/**
 * What a path held; null means that nothing was there. Pipes, sockets and devices count as nothing: they cannot be
 * stored.
 */
export type Captured = ReadonlyMap<string, PathContent | null>

/** A change that touches more paths is refused. */
const MAX_PATHS = 100_000

/** What is at one path now. With `kept` a file's content is copied there, else it is only hashed. */
export async function captureOne(
  root: string,
  path: ProjectPath,
  kept: KeptContent | null,
): Promise<PathContent | null> {
  try {
    return await withPlace(root, path, {}, (place) => captureAt(place, path, kept))
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null
    throw error
  }
}

async function captureAt(
  place: Place,
  path: ProjectPath,
  kept: KeptContent | null,
): Promise<PathContent | null> {
  const state = await look(place.real)
  switch (state?.kind) {
    case 'directory':
      return { kind: 'directory' }
    case 'link':
      return { kind: 'link', target: await readlink(place.real) }
    case 'file': {
      const handle = await openRegularFile(place, path)
      try {
        const { hash, size } =
          kept === null ? { hash: await hashOf(handle), size: state.size } : await kept.keep(handle)
        return { kind: 'file', hash, size, mode: state.mode }
      } finally {
        await handle.close()
      }
    }
    default:
      return null
  }
}

/** What a capture works with. */
export interface CaptureTools {
  workspace: Workspace
  pool: WorkerPool
  /** Where contents are stored; null hashes only. */
  kept: KeptContent | null
  /**
   * Hashes by identity of the files seen in folders; grows with every capture. Pass the same one to the capture after a
   * change, so that files that were only moved are not read again.
   */
  known: Map<string, string>
  signal?: AbortSignal | undefined
}

/** From this many paths in one folder on, the whole folder is captured in a worker thread instead of path by path. */
const TREE_PATHS = 32
const TREE_MS = 10 * 60_000
/** How often a mere look at a folder begins again when something in it went away while it was read. */
const LOOKS = 5

/**
 * For a mere look a link on the way is nothing: what is behind it is not in the project. Who is to keep or change
 * something there is refused.
 */
async function unlessLinked<T>(look: Promise<T>, kept: KeptContent | null): Promise<T | null> {
  try {
    return await look
  } catch (error) {
    if (kept === null && error instanceof AppError && error.code === 'path_escapes') return null
    throw error
  }
}

/**
 * What `paths` hold, and all that is below those that are folders when `below` is set. Throws `bad_request` when that is
 * too much.
 */
export async function captureAll(
  paths: readonly string[],
  { workspace, pool, kept, known, signal }: CaptureTools,
  below: boolean,
): Promise<Map<string, PathContent | null>> {
  const captured = new Map<string, PathContent | null>()
  const add = (path: string, content: PathContent | null): void => {
    if (captured.size >= MAX_PATHS) throw tooMany()
    captured.set(path, content)
  }
  const captureTree = (folder: string) =>
    pool.run(
      'capture_tree',
      {
        root: workspace.root,
        folder,
        contents: kept?.folder ?? null,
        known,
        maxEntries: MAX_PATHS,
      },
      { timeoutMs: TREE_MS, ...(signal === undefined ? {} : { signal }) },
    )
  const captureWithTree = async (path: ProjectPath, withTree: boolean) => {
    for (let look = 1; ; look++) {
      const content = await unlessLinked(captureOne(workspace.root, path, kept), kept)
      if (content?.kind !== 'directory' || !withTree) return { content, tree: null }
      try {
        const tree = await unlessLinked(captureTree(path.text), kept)
        return { content, tree: tree ?? { entries: [], known: new Map<string, string>() } }
      } catch (error) {
        // Another program works there: what is gone by now is no fault of a mere look.
        const isGone = error instanceof AppError && error.code === 'not_found'
        if (kept !== null || !isGone || look === LOOKS) throw error
      }
    }
  }
  // Sorted by path segments, so that a folder comes right before its contents.
  const sorted = paths.map(parseInnerPath).sort(byParts)
  /** The folder that is completely known already: it does not exist, or was captured as a whole. */
  let settled: { path: string; entries: ReadonlyMap<string, PathContent> } | undefined
  for (const [at, path] of sorted.entries()) {
    if (captured.has(path.text)) continue
    if (settled !== undefined && path.text.startsWith(`${settled.path}/`)) {
      add(path.text, settled.entries.get(path.text) ?? null)
      continue
    }
    const isIn = sorted[at + TREE_PATHS]?.text.startsWith(`${path.text}/`) ?? false
    const { content, tree } = await captureWithTree(path, below || isIn)
    add(path.text, content)
    if (content === null) settled = { path: path.text, entries: new Map() }
    if (tree === null) continue
    for (const [identity, hash] of tree.known) known.set(identity, hash)
    settled = { path: path.text, entries: new Map(tree.entries) }
    if (below) for (const [inner, held] of tree.entries) add(inner, held)
  }
  return captured
}

/**
 * Keeps what `paths` hold: files, folders with all below them, and 'nothing' for what a change is about to make,
 * with those folders above it that are missing too. Throws `bad_request` when that is too much.
 */
export async function capturePaths(
  paths: readonly string[],
  tools: CaptureTools & { kept: KeptContent },
): Promise<Captured> {
  const captured = await captureAll(paths, tools, true)
  const missing = new Set<string>()
  for (const [text, content] of captured) {
    if (content !== null) continue
    const { segments } = parseInnerPath(text)
    for (let depth = segments.length - 1; depth > 0; depth--) {
      const above = segments.slice(0, depth).join('/')
      if (captured.has(above) || missing.has(above)) break
      if ((await captureOne(tools.workspace.root, parseInnerPath(above), null)) !== null) break
      missing.add(above)
    }
  }
  // Parent folders first: undoing and comparing rely on this order.
  return new Map([...[...missing].map((path) => [path, null] as const), ...captured])
}

const tooMany = (): AppError => appError('too_many_changes', { limit: MAX_PATHS })

function byParts(one: ProjectPath, other: ProjectPath): number {
  for (const [at, part] of one.segments.entries()) {
    const against = other.segments[at]
    if (against === undefined) return 1
    if (part !== against) return part < against ? -1 : 1
  }
  return one.segments.length - other.segments.length
}

export const sameContent = (one: PathContent | null, other: PathContent | null): boolean => {
  if (one === null || other === null) return one === other
  if (one.kind === 'file')
    return other.kind === 'file' && one.hash === other.hash && one.mode === other.mode
  if (one.kind === 'link') return other.kind === 'link' && one.target === other.target
  return other.kind === 'directory'
}

/** What is known before the change: enough to undo it should nothing more ever be written down. */
export const asOpenFiles = (before: Captured): CheckpointFile[] =>
  [...before].map(([path, content]) => ({
    path,
    change: content === null ? 'added' : 'modified',
    before: content,
    after: null,
  }))

/** What has become of the paths since they were captured, and with `below` of all that is in those that are folders now. */
export async function changesSince(
  before: Captured,
  tools: Omit<CaptureTools, 'kept'>,
  below: boolean,
): Promise<CheckpointFile[]> {
  const now = await captureAll([...before.keys()], { ...tools, kept: null }, below)
  const files: CheckpointFile[] = []
  for (const path of new Set([...before.keys(), ...now.keys()])) {
    const was = before.get(path) ?? null
    const is = now.get(path) ?? null
    if (sameContent(was, is)) continue
    const change = was === null ? 'added' : is === null ? 'deleted' : 'modified'
    files.push({ path, change, before: was, after: is })
  }
  return files
}
