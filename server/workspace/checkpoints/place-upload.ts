// Moves uploaded files into an existing project as one change with one checkpoint.
import { chmod, rename } from 'node:fs/promises'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { appError } from '../../errors.ts'
import {
  assertReplaceable,
  countedBytes,
  ENTRY_BYTES,
  type Entry,
  statEntry,
  walk,
} from '../files/entries.ts'
import {
  childPath,
  type ProjectPath,
  parseInnerPath,
  parsePath,
  withPlace,
} from '../files/paths.ts'
import type { StagedFile, Upload } from '../files/uploads.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import { assertWithin, type Workspace } from '../workspace.ts'
import type { Workspaces } from '../workspaces.ts'
import type { Checkpoints } from './checkpoints.ts'

/** The result of an upload. */
export interface PlacedUpload {
  /** New files, and files that replaced an existing one. */
  added: number
  replaced: number
  /** Bytes of all uploaded files. */
  bytes: number
}

/** Files that are checked or moved at the same time. */
const CONCURRENCY = 8
const SYNC_TIMEOUT_MS = 10 * 60_000

interface PlacedFile extends StagedFile {
  target: ProjectPath
}

/** How an upload is placed. */
export interface PlaceOptions {
  /** The folder, which is not the project's, has nothing but the upload afterwards: what was in it is removed in the same change. */
  replaces?: boolean
  /** Called with exclusive access to the project, before anything is changed; the upload is refused with what it throws. */
  check?(): Promise<void>
}

/**
 * Moves the upload below `folder` of the project, replacing files with the same name. Checks everything before it moves
 * the first file. Throws `conflict` (a folder where a file should go, or the reverse),
 * `path_escapes` (a link in the path), `bad_request`, `project_full`, `quota_exceeded`, `store_busy`.
 */
export async function placeUpload(
  {
    checkpoints,
    workspaces,
    pool,
  }: {
    checkpoints: Pick<Checkpoints, 'change'>
    workspaces: Pick<Workspaces, 'storage'>
    pool: WorkerPool
  },
  workspace: Workspace,
  upload: Upload,
  folder: string,
  { replaces = false, check = async () => {} }: PlaceOptions = {},
): Promise<PlacedUpload> {
  const into = parsePath(folder)
  const staged = await upload.staged()
  const files = staged.files.map((file) => ({
    ...file,
    target: parseInnerPath(childPath(into.text, file.path.text)),
  }))
  const paths = files.map(({ target }) => target.text)
  const origin = { tool: 'upload', messageId: null, runId: null }
  const touched = replaces ? [into.text, ...paths] : paths
  return checkpoints.change(workspace, origin, touched, async () => {
    await check()
    const going = replaces ? await entriesBelow(workspace, into) : null
    const { placed, growth, executable } = await checkAll(workspace, into, files, going)
    // Released once the change is recorded with the project's new size.
    if (growth > 0) await workspaces.storage.claim(workspace.userId, workspace.projectId, growth)
    for (const { path } of executable) await chmod(join(staged.folder, path.text), 0o700)
    try {
      if (replaces) await moveInWhole(workspace, staged.folder, into)
      else await pLimit(CONCURRENCY).map(files, (file) => moveIn(workspace, staged.folder, file))
    } finally {
      workspace.forgetSize()
    }
    await pool.run(
      'sync_paths',
      { root: workspace.root, paths },
      { timeoutMs: SYNC_TIMEOUT_MS, owner: workspace.userId },
    )
    return placed
  })
}

/** What is below a folder, by path; nothing if there is no such folder. */
async function entriesBelow(
  workspace: Workspace,
  folder: ProjectPath,
): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>()
  if ((await workspace.state(folder.text))?.kind !== 'directory') return entries
  // The change has captured all of them, within its own limit.
  const options = { maxEntries: Number.POSITIVE_INFINITY }
  await walk(workspace.root, folder, options, (entry) => {
    entries.set(entry.path, entry)
  })
  return entries
}

/** Every folder that contains one of the files. */
const foldersAbove = (files: readonly PlacedFile[]): Set<string> =>
  new Set(
    files.flatMap(({ target: { segments } }) =>
      segments.slice(1).map((_name, depth) => segments.slice(0, depth + 1).join('/')),
    ),
  )

/**
 * @param going what the upload removes from the folder `into`; null if it is added to it.
 * @returns with `executable`, the files that replace an executable one.
 */
async function checkAll(
  workspace: Workspace,
  into: ProjectPath,
  files: readonly PlacedFile[],
  going: ReadonlyMap<string, Entry> | null,
): Promise<{ placed: PlacedUpload; growth: number; executable: PlacedFile[] }> {
  const placed: PlacedUpload = { added: 0, replaced: 0, bytes: 0 }
  const executable: PlacedFile[] = []
  const growth = { bytes: 0, entries: 0 }
  for (const { kind, size } of going?.values() ?? []) {
    growth.bytes -= countedBytes(kind, size)
    growth.entries -= 1
  }
  const isCleared = (path: string): boolean => going !== null && path.startsWith(`${into.text}/`)
  await pLimit(CONCURRENCY).map(foldersAbove(files), async (folder) => {
    const before = isCleared(folder) ? null : await workspace.state(folder)
    if (before === null) {
      growth.bytes += ENTRY_BYTES
      growth.entries += 1
    } else if (before.kind !== 'directory' && before.kind !== 'link')
      throw appError('file_in_the_way', { path: folder })
  })
  await pLimit(CONCURRENCY).map(files, async (file) => {
    const { target, size } = file
    const isNew = going !== null && going.get(target.text)?.kind !== 'file'
    const before = isNew ? null : await workspace.state(target.text)
    assertReplaceable(before, target, undefined)
    if (before === null) placed.added++
    else placed.replaced++
    // So that a script stays executable.
    if (before !== null && (before.mode & 0o100) !== 0) executable.push(file)
    placed.bytes += size
    growth.bytes += countedBytes('file', size)
    growth.entries += 1
    if (before === null || going !== null) return
    growth.bytes -= countedBytes('file', before.size)
    growth.entries -= 1
  })
  const { countedSize, files: has, directories } = await workspace.stats()
  assertWithin(workspace.limits, { bytes: countedSize, entries: has + directories }, growth)
  return { placed, growth: growth.bytes, executable }
}

const moveIn = (workspace: Workspace, staging: string, { path, target }: PlacedFile) =>
  withPlace(workspace.root, target, { create: true }, async (place) => {
    assertReplaceable(await statEntry(place.real), target, undefined)
    await workspace.assertMayChange()
    await rename(join(staging, path.text), place.real)
  })

/** Puts the folder of the upload in the place of the one at `into`, so that no reader finds files of both. */
async function moveInWhole(
  workspace: Workspace,
  staging: string,
  into: ProjectPath,
): Promise<void> {
  if ((await workspace.state(into.text)) !== null) await workspace.remove(into.text)
  await withPlace(workspace.root, into, { create: true }, async (place) => {
    await workspace.assertMayChange()
    await rename(staging, place.real)
    await place.folder.handle.sync()
  })
}
