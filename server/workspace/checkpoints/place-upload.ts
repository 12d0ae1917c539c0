// Moves uploaded files into an existing project as one change with one checkpoint.
import { chmod, rename } from 'node:fs/promises'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { appError } from '../../errors.ts'
import { countedBytes, ENTRY_BYTES } from '../files/counted-bytes.ts'
import { assertReplaceable, statEntry } from '../files/file-state.ts'
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
  /** Files of the project that the upload replaces as a whole: they are removed in the same change. */
  { removes = [] }: { removes?: readonly string[] } = {},
): Promise<PlacedUpload> {
  const into = parsePath(folder).text
  const staged = await upload.staged()
  const files = staged.files.map((file) => ({
    ...file,
    target: parseInnerPath(childPath(into, file.path.text)),
  }))
  const paths = files.map(({ target }) => target.text)
  const origin = { tool: 'upload', messageId: null, runId: null }
  return checkpoints.change(workspace, origin, [...paths, ...removes], async () => {
    const { placed, growth } = await checkAll(workspace, files)
    // Released once the change is recorded with the project's new size.
    if (growth > 0) await workspaces.storage.claim(workspace.userId, workspace.projectId, growth)
    try {
      await pLimit(CONCURRENCY).map(files, (file) => moveIn(workspace, staged.folder, file))
      for (const path of removes) await removeIfThere(workspace, path)
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

/** Every folder that contains one of the files. */
const foldersAbove = (files: readonly PlacedFile[]): Set<string> =>
  new Set(
    files.flatMap(({ target: { segments } }) =>
      segments.slice(1).map((_name, depth) => segments.slice(0, depth + 1).join('/')),
    ),
  )

async function checkAll(
  workspace: Workspace,
  files: readonly PlacedFile[],
): Promise<{ placed: PlacedUpload; growth: number }> {
  const placed: PlacedUpload = { added: 0, replaced: 0, bytes: 0 }
  const growth = { bytes: 0, entries: 0 }
  await pLimit(CONCURRENCY).map(foldersAbove(files), async (folder) => {
    const before = await workspace.state(folder)
    if (before === null) {
      growth.bytes += ENTRY_BYTES
      growth.entries += 1
    } else if (before.kind !== 'directory' && before.kind !== 'link')
      throw appError('file_in_the_way', { path: folder })
  })
  await pLimit(CONCURRENCY).map(files, async ({ target, size }) => {
    const before = await workspace.state(target.text)
    assertReplaceable(before, target, undefined)
    if (before === null) {
      placed.added++
      growth.entries += 1
    } else placed.replaced++
    placed.bytes += size
    growth.bytes += countedBytes('file', size)
    if (before !== null) growth.bytes -= countedBytes('file', before.size)
  })
  const { countedSize, files: has, directories } = await workspace.stats()
  assertWithin(workspace.limits, { bytes: countedSize, entries: has + directories }, growth)
  return { placed, growth: growth.bytes }
}

const moveIn = (workspace: Workspace, staging: string, { path, target }: PlacedFile) =>
  withPlace(workspace.root, target, { create: true }, async (place) => {
    const before = await statEntry(place.real)
    assertReplaceable(before, target, undefined)
    await workspace.assertMayChange()
    const source = join(staging, path.text)
    // Preserves the execute bit, so that a script stays executable.
    if (before !== null && (before.mode & 0o100) !== 0) await chmod(source, 0o700)
    await rename(source, place.real)
  })

async function removeIfThere(workspace: Workspace, path: string): Promise<void> {
  if ((await workspace.state(path)) !== null) await workspace.remove(path)
}
