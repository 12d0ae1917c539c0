// Copies of apps as they are now, with the files of their folders, for shared conversations.
import type { Store } from '../db/store.ts'
import { AppError, appError } from '../errors.ts'
import { type AppKind, appKindOf } from '../protocol/app-kind.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { walk } from '../workspace/files/entries.ts'
import { parsePath } from '../workspace/files/paths.ts'
import { openProject } from '../workspace/open-project.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Workspaces } from '../workspace/workspaces.ts'
import type { AppAccess } from './apps.ts'

/** Files and bytes of all apps of one share. */
const MAX_FILES = 5_000
const MAX_BYTES = 100_000_000

/** A file of an app, whose content is stored under its hash. */
export interface FrozenFile {
  path: string
  sha256: string
  size: number
}

/** Whose project the apps are in. */
type Place = { userId: UserId; projectId: ProjectId }

/** Copies apps. */
export interface FrozenApps {
  /** Those of the paths that are apps and there now. None if the user may not use apps. */
  present(place: Place, paths: Iterable<string>): Promise<{ path: string; kind: AppKind }[]>
  /**
   * Stores what apps may load: their files, and those of their folders and below. Nothing whose name begins with a dot.
   * @throws AppError `share_too_large`, and what storing throws.
   */
  copy(place: Place, apps: Iterable<string>): AsyncGenerator<FrozenFile>
}

/** Create one per server. */
export function createFrozenApps({
  store,
  workspaces,
  blobs,
  access,
}: {
  store: Pick<Store, 'projects'>
  workspaces: Workspaces
  blobs: { store(content: AsyncIterable<Uint8Array>): Promise<{ sha256: string; size: number }> }
  access: AppAccess
}): FrozenApps {
  /** Null if the project is gone, or they are no longer a member. */
  const workspaceOf = ({ userId, projectId }: Place): Promise<Workspace | null> =>
    unlessRefused(async () => {
      const { projects } = store
      return (await openProject({ projects, workspaces }, userId, projectId, 'read')).workspace
    })

  return {
    async present(place, paths) {
      if (!access.allowsFeature(place.userId, 'apps')) return []
      const workspace = await workspaceOf(place)
      if (workspace === null) return []
      const found: { path: string; kind: AppKind }[] = []
      for (const path of new Set(paths)) {
        const kind = appKindOf(path)
        if (kind === null || path.split('/').some((name) => name.startsWith('.'))) continue
        const state = await unlessRefused(() => workspace.state(path))
        if (state?.kind === 'file') found.push({ path, kind })
      }
      return found
    },

    async *copy(place, apps) {
      const workspace = await workspaceOf(place)
      if (workspace === null) return
      let bytes = 0
      for (const path of await filesOf(workspace, apps)) {
        // One that is deleted meanwhile is left out.
        const file = await unlessRefused(() => workspace.read(path))
        if (file === null) continue
        bytes += file.bytes.length
        if (bytes > MAX_BYTES) throw appError('share_too_large')
        yield { path, ...(await blobs.store(inPieces(file.bytes))) }
      }
    },
  }
}

/** Bytes that are hashed per turn of the event loop: about a millisecond. */
const PIECE_BYTES = 1024 * 1024

async function* inPieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}

/** The paths of all files of the apps' folders, each once. */
async function filesOf({ root }: Workspace, apps: Iterable<string>): Promise<Set<string>> {
  const folders = new Set([...apps].map((path) => path.split('/').slice(0, -1).join('/')))
  const isInside = (folder: string): boolean =>
    [...folders].some(
      (other) => other !== folder && (other === '' || folder.startsWith(`${other}/`)),
    )
  const files = new Set<string>()
  const isHidden = ({ name }: { name: string }): boolean => name.startsWith('.')
  for (const folder of folders) {
    if (isInside(folder)) continue
    const { complete } = await walk(
      root,
      parsePath(folder),
      { maxEntries: 2 * MAX_FILES, skip: isHidden },
      (entry) => {
        if (entry.kind === 'file' && !isHidden(entry)) files.add(entry.path)
      },
    )
    if (!complete || files.size > MAX_FILES) throw appError('share_too_large')
  }
  return files
}

async function unlessRefused<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return null
    throw error
  }
}
