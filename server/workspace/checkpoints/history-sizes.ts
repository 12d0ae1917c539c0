// How many bytes the stored earlier contents of each project take on the disk.
import { LRUCache } from 'lru-cache'
import { atMost } from '../../lib/lru-limit.ts'
import type { ProjectId } from '../../protocol/ids.ts'
import type { WorkerPool } from '../worker/worker-pool.ts'
import { SNAPSHOT_TIMEOUT_MS } from './record/record-change.ts'

/** How long a measured size is used, because other instances change projects, and old checkpoints are removed. */
const TTL_MS = 10 * 60_000
const MAX_PROJECTS = 10_000

/** The size of each project's history, measured at most once between two changes. */
export interface HistorySizes {
  of(projectId: ProjectId): Promise<number>
  /** Call it when the project has changed. */
  forget(projectId: ProjectId): void
}

/** Measured in a worker thread and cached for a while, by project. */
export function createHistorySizes(
  pool: WorkerPool,
  contentsOf: (projectId: ProjectId) => string,
): HistorySizes {
  const sizes = new LRUCache<ProjectId, number>({ ...atMost(MAX_PROJECTS), ttl: TTL_MS })
  return {
    async of(projectId) {
      const known = sizes.get(projectId)
      if (known !== undefined) return known
      const input = { contents: contentsOf(projectId) }
      const { bytes } = await pool.run('measure_contents', input, {
        timeoutMs: SNAPSHOT_TIMEOUT_MS,
        owner: null,
      })
      sizes.set(projectId, bytes)
      return bytes
    },
    forget: (projectId) => {
      sizes.delete(projectId)
    },
  }
}
