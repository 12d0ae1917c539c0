// What paths of a project hold at this moment, with their content kept or only hashed.
import { readlink } from 'node:fs/promises'
import type { CheckpointFile, PathContent } from '../db/tables/projects.ts'
import { AppError } from '../errors.ts'
import { look } from './file-state.ts'
import { hashOf, type KeptContent } from './kept-content.ts'
import {
  openRegularFile,
  type Place,
  type ProjectPath,
  parseInnerPath,
  withPlace,
} from './paths.ts'
import { walk } from './walk.ts'
import type { Workspace } from './workspace.ts'

/** What a path held; null is 'nothing there'. Pipes, sockets and devices count as nothing: they cannot be kept. */
export type Captured = ReadonlyMap<string, PathContent | null>

/** A change that touches more paths than this is refused. */
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

/**
 * Keeps what `paths` hold: files, folders with all below them, and 'nothing' for what a change is about to make,
 * with those folders above it that are missing too. Throws `bad_request` when that is too much.
 */
export async function capturePaths(
  workspace: Workspace,
  paths: readonly string[],
  kept: KeptContent,
): Promise<Captured> {
  const captured = new Map<string, PathContent | null>()
  const add = (path: string, content: PathContent | null): void => {
    if (captured.size >= MAX_PATHS)
      throw new AppError('bad_request', `At most ${MAX_PATHS} files can be changed at once.`)
    captured.set(path, content)
  }
  for (const input of paths) {
    const path = parseInnerPath(input)
    const content = await captureOne(workspace.root, path, kept)
    if (content === null) {
      for (let depth = 1; depth < path.segments.length; depth++) {
        const above = parseInnerPath(path.segments.slice(0, depth).join('/'))
        if (!captured.has(above.text) && (await captureOne(workspace.root, above, null)) === null)
          add(above.text, null)
      }
    }
    add(path.text, content)
    if (content?.kind !== 'directory') continue
    for (const inner of await pathsBelow(workspace.root, path))
      add(inner.text, await captureOne(workspace.root, inner, kept))
  }
  return captured
}

/**
 * All paths below a folder. Names that no path of ours can spell are left out; they can come only from a program.
 * Throws `bad_request` when there are too many.
 */
export async function pathsBelow(root: string, folder: ProjectPath): Promise<ProjectPath[]> {
  const below: ProjectPath[] = []
  const { complete } = await walk(root, folder, { maxEntries: MAX_PATHS }, (entry) => {
    const inner = spelled(entry.path)
    if (inner !== null) below.push(inner)
  })
  if (!complete)
    throw new AppError('bad_request', `At most ${MAX_PATHS} files can be changed at once.`)
  return below
}

function spelled(name: string): ProjectPath | null {
  try {
    const path = parseInnerPath(name)
    return path.text === name ? path : null
  } catch {
    return null
  }
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

/** What has become of the paths since they were captured. */
export async function changesSince(
  workspace: Workspace,
  before: Captured,
): Promise<CheckpointFile[]> {
  const files: CheckpointFile[] = []
  const seen = new Set<string>(before.keys())
  const compare = async (path: ProjectPath, was: PathContent | null) => {
    const is = await captureOne(workspace.root, path, null)
    if (sameContent(was, is)) return null
    const change = was === null ? 'added' : is === null ? 'deleted' : 'modified'
    files.push({ path: path.text, change, before: was, after: is })
    return is
  }
  for (const [text, was] of before) {
    const path = parseInnerPath(text)
    if ((await compare(path, was))?.kind !== 'directory') continue
    // A folder that came as a whole, by a move: what is in it came too.
    for (const inner of await pathsBelow(workspace.root, path)) {
      if (seen.has(inner.text)) continue
      seen.add(inner.text)
      await compare(inner, null)
    }
  }
  return files
}

/** What a person is told of a change: its files; folders only where nothing else changed. */
export function toldFiles(files: readonly CheckpointFile[]): readonly CheckpointFile[] {
  const inner = files.filter(({ before, after }) => (before ?? after)?.kind !== 'directory')
  return inner.length > 0 ? inner : files
}
