// A project on disk with its row in a real database, for tests of code that works on project files.
import { mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { createCheckpointRepository } from '../../../server/db/repositories/projects/checkpoints.ts'
import { createProjectRepository } from '../../../server/db/repositories/projects/projects.ts'
import { createStorageRepository } from '../../../server/db/repositories/projects/storage.ts'
import { createOutsideContentRepository } from '../../../server/db/repositories/runs/outside-contents.ts'
import { newId } from '../../../server/lib/ids.ts'
import { NO_OTHERS } from '../../../server/lib/local-limits.ts'
import type { ProjectId, UserId } from '../../../server/protocol/ids.ts'
import type { BubblewrapState } from '../../../server/sandbox/bubblewrap.ts'
import { createCheckpoints } from '../../../server/workspace/checkpoints/checkpoints.ts'
import type { PruneRule } from '../../../server/workspace/checkpoints/prune.ts'
import { createKeyedMutex, type KeyedMutex } from '../../../server/workspace/keyed-mutex.ts'
import { createStorageQuota, unlimitedStorage } from '../../../server/workspace/storage-quota.ts'
import { createWorkerPool } from '../../../server/workspace/worker/worker-pool.ts'
import type { WorkspaceLimits } from '../../../server/workspace/workspace.ts'
import { createWorkspaces, type Workspaces } from '../../../server/workspace/workspaces.ts'

const NO_BUBBLEWRAP: BubblewrapState = { available: false, reason: 'not used by this test' }

const MEGABYTE = 1024 * 1024

/** Shared by all projects of this process: starting its thread is half the work of a short test. It ends when idle. */
const pool = createWorkerPool(1)

/** Inserts a user and a project that other rows can reference. */
export async function insertProject(
  database: Database,
): Promise<{ userId: UserId; projectId: ProjectId }> {
  const userId = newId<UserId>()
  const projectId = newId<ProjectId>()
  const now = new Date()
  await database.write(async (tx) => {
    await tx.insert(database.tables.users).values({
      id: userId,
      username: userId,
      usernameKey: userId,
      role: 'user',
      isActive: true,
      tokenVersion: 0,
      createdAt: now,
    })
    await tx.insert(database.tables.projects).values({
      id: projectId,
      userId,
      name: projectId,
      description: null,
      createdAt: now,
      updatedAt: now,
    })
  })
  return { userId, projectId }
}

/** Creates the workspace services on `database`, with a temporary folder that is removed after the test. */
export async function openProject(
  database: Database,
  options: {
    root?: string
    rule?: PruneRule
    limits?: WorkspaceLimits
    /** Quota per user, in bytes; unlimited if omitted. */
    storage?: number
    /** Default: that of a single process. */
    mutex?: KeyedMutex
  } = {},
) {
  const root = options.root ?? (await mkdtemp(join(tmpdir(), 'project-')))
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 3 }))
  const { storage: limit } = options
  const histories = createStorageRepository(database)
  const storage =
    limit === undefined
      ? unlimitedStorage
      : createStorageQuota({
          records: histories,
          limit: () => limit,
          measure: async (userId, projectId) =>
            (await workspaces.open(userId, projectId).stats()).countedSize,
          recovered: async () => {},
          claimed: NO_OTHERS,
          storedTexts: NO_OTHERS,
        })
  const workspaces: Workspaces = await createWorkspaces({
    root,
    storage,
    limits: options.limits ?? {
      fileRead: 5 * MEGABYTE,
      fileWrite: 20 * MEGABYTE,
      project: 1024 * MEGABYTE,
    },
  })
  const { mutex = createKeyedMutex(10_000) } = options
  const records = createCheckpointRepository(database)
  const projects = createProjectRepository(database)
  const checkpoints = createCheckpoints({
    records,
    projects,
    histories,
    outsideContents: createOutsideContentRepository(database),
    workspaces,
    mutex,
    pool,
    rule: options.rule ?? { keep: 200, maxAgeDays: 30, maxBytes: 1024 * MEGABYTE },
    log: { warn() {} },
  })
  const { userId, projectId } = await insertProject(database)
  const workspace = workspaces.open(userId, projectId)
  // Creates the project's folder.
  await workspace.state('')
  return {
    root,
    bubblewrap: NO_BUBBLEWRAP,
    pool,
    mutex,
    records,
    projects,
    histories,
    workspaces,
    checkpoints,
    userId,
    projectId,
    workspace,
  }
}

/** Maps every path below a folder to its content, including link targets and execute bits, to compare states. */
export async function treeOf(folder: string, prefix = ''): Promise<Record<string, string>> {
  const tree: Record<string, string> = {}
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = prefix + entry.name
    const real = join(folder, entry.name)
    if (entry.isDirectory())
      Object.assign(tree, { [`${path}/`]: '' }, await treeOf(real, `${path}/`))
    else if (entry.isSymbolicLink()) tree[path] = `-> ${await readlink(real)}`
    else
      tree[path] = `${(await stat(real)).mode & 0o100 ? 'x ' : ''}${await readFile(real, 'utf8')}`
  }
  return tree
}
