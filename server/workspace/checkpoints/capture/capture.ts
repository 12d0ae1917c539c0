// Captures the current contents of project paths, stored or only hashed.
import { readlink } from 'node:fs/promises'
import type { CheckpointFile, PathContent } from '../../../db/tables/projects/checkpoints.ts'
import { AppError, appError } from '../../../errors.ts'
import { statEntry } from '../../files/entries.ts'
import {
  type OpenPlace,
  openRegularFile,
  type ProjectPath,
  parseInnerPath,
  withPlace,
} from '../../files/paths.ts'
import type { WorkerPool } from '../../worker/worker-pool.ts'
import type { Workspace } from '../../workspace.ts'
import { type ContentStore, hashOf } from './content-store.ts'

/**
 * The content of each path; null if nothing was there. Pipes, sockets and devices count as nothing, because they cannot be
 * stored.
 */
export type Captured = ReadonlyMap<string, PathContent | null>

/** Changes that touch more paths are refused. */
const MAX_PATHS = 100_000

/** Captures one path. With `contents`, stores a file's content there; without, only hashes it. */
export async function captureOne(
  root: string,
  path: ProjectPath,
  contents: ContentStore | null,
): Promise<PathContent | null> {
  try {
    return await withPlace(root, path, {}, (place) => captureAt(place, path, contents))
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null
    throw error
  }
}

async function captureAt(
  place: OpenPlace,
  path: ProjectPath,
  contents: ContentStore | null,
): Promise<PathContent | null> {
  const state = await statEntry(place.real)
  switch (state?.kind) {
    case 'directory':
      return { kind: 'directory' }
    case 'link':
      return { kind: 'link', target: await readlink(place.real) }
    case 'file': {
      const handle = await openRegularFile(place, path)
      try {
        const { hash, size } =
          contents === null
            ? { hash: await hashOf(handle), size: state.size }
            : await contents.add(handle)
        return { kind: 'file', hash, size, mode: state.mode }
      } finally {
        await handle.close()
      }
    }
    default:
      return null
  }
}

/** The dependencies of a capture. */
export interface CaptureTools {
  workspace: Workspace
  pool: WorkerPool
  /** Where contents are stored; null only hashes them. */
  contents: ContentStore | null
  /**
   * Hashes of files in captured folders, by identity; grows with every capture. Pass the same map to the capture after the
   * change, so that files that were only moved are not read again.
   */
  known: Map<string, string>
  signal?: AbortSignal | undefined
}

/** From this many paths in one folder, the whole folder is captured in a worker thread instead of path by path. */
const MIN_TREE_PATHS = 32
const TREE_TIMEOUT_MS = 10 * 60_000
/** How often hashing a folder is attempted when entries disappear while it is read. */
const MAX_ATTEMPTS = 5

/**
 * When only hashing, a path that leads through a link holds nothing: what is behind the link is not in the project. When
 * storing, such a path is refused.
 */
async function nullIfLinked<T>(
  capture: Promise<T>,
  contents: ContentStore | null,
): Promise<T | null> {
  try {
    return await capture
  } catch (error) {
    if (contents === null && error instanceof AppError && error.code === 'path_escapes') return null
    throw error
  }
}

/**
 * Captures `paths` and, with `below`, everything in those that are folders. @throws AppError `bad_request` if there are too
 * many entries.
 */
export async function captureAll(
  paths: readonly string[],
  { workspace, pool, contents, known, signal }: CaptureTools,
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
        contents: contents?.folder ?? null,
        known,
        maxEntries: MAX_PATHS,
      },
      {
        timeoutMs: TREE_TIMEOUT_MS,
        owner: workspace.userId,
        ...(signal === undefined ? {} : { signal }),
      },
    )
  const captureWithTree = async (path: ProjectPath, withTree: boolean) => {
    for (let attempt = 1; ; attempt++) {
      const content = await nullIfLinked(captureOne(workspace.root, path, contents), contents)
      if (content?.kind !== 'directory' || !withTree) return { content, tree: null }
      try {
        const tree = await nullIfLinked(captureTree(path.text), contents)
        return { content, tree: tree ?? { entries: [], known: new Map<string, string>() } }
      } catch (error) {
        // Another program is changing the folder. When only hashing, disappearing entries are not an error.
        const isGone = error instanceof AppError && error.code === 'not_found'
        if (contents !== null || !isGone || attempt === MAX_ATTEMPTS) throw error
      }
    }
  }
  // Sorted by path segments, so that a folder comes right before its contents.
  const sorted = paths.map(parseInnerPath).sort(bySegments)
  /** A folder about which everything is known: it does not exist, or was captured as a whole. */
  let complete: { path: string; entries: ReadonlyMap<string, PathContent> } | undefined
  for (const [index, path] of sorted.entries()) {
    if (captured.has(path.text)) continue
    if (complete !== undefined && path.text.startsWith(`${complete.path}/`)) {
      add(path.text, complete.entries.get(path.text) ?? null)
      continue
    }
    const isIn = sorted[index + MIN_TREE_PATHS]?.text.startsWith(`${path.text}/`) ?? false
    const { content, tree } = await captureWithTree(path, below || isIn)
    add(path.text, content)
    if (content === null) complete = { path: path.text, entries: new Map() }
    if (tree === null) continue
    for (const [identity, hash] of tree.known) known.set(identity, hash)
    complete = { path: path.text, entries: new Map(tree.entries) }
    if (below) for (const [inner, held] of tree.entries) add(inner, held)
  }
  return captured
}

/**
 * Stores what `paths` hold: files and folders with everything below. For a path that the change will create, records that
 * it and its missing parent folders do not exist. @throws AppError `bad_request` if there are too many entries.
 */
export async function capturePaths(
  paths: readonly string[],
  tools: CaptureTools & { contents: ContentStore },
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
  // Parent folders come first: undo and comparison rely on this order.
  return new Map([...[...missing].map((path) => [path, null] as const), ...captured])
}

const tooMany = (): AppError => appError('too_many_changes', { limit: MAX_PATHS })

function bySegments(one: ProjectPath, other: ProjectPath): number {
  for (const [index, part] of one.segments.entries()) {
    const against = other.segments[index]
    if (against === undefined) return 1
    if (part !== against) return part < against ? -1 : 1
  }
  return one.segments.length - other.segments.length
}

/** Null means that the path does not exist. */
export const sameContent = (one: PathContent | null, other: PathContent | null): boolean => {
  if (one === null || other === null) return one === other
  if (one.kind === 'file')
    return other.kind === 'file' && one.hash === other.hash && one.mode === other.mode
  if (one.kind === 'link') return other.kind === 'link' && one.target === other.target
  return other.kind === 'directory'
}

/** The changes as far as they are known in advance: enough to undo them if the process dies. */
export const pendingFiles = (before: Captured): CheckpointFile[] =>
  [...before].map(([path, content]) => ({
    path,
    change: content === null ? 'added' : 'modified',
    before: content,
    after: null,
  }))

/** How the paths have changed since they were captured and, with `below`, what was added to those that are folders now. */
export async function changesSince(
  before: Captured,
  tools: Omit<CaptureTools, 'contents'>,
  below: boolean,
): Promise<CheckpointFile[]> {
  const now = await captureAll([...before.keys()], { ...tools, contents: null }, below)
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
