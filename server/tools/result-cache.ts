// Successful results of cacheable tools, reused across runs; bounded in number, size and age.
import { LRUCache } from 'lru-cache'
import { atMost } from '../lib/lru-limit.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import type { Artifact } from '../protocol/runs/step.ts'

export interface CachedResult {
  /** JSON text of the result's data, whole. */
  data: string
  artifact?: Artifact
  /** It holds text from outside. */
  untrusted?: boolean
}

export interface CacheKey {
  userId: UserId
  projectId: ProjectId | null
  /** From `callKey`. */
  key: string
}

export interface ResultCache {
  get(entry: CacheKey): CachedResult | undefined
  /**
   * `state` is what `projectState` returned before the call began: a result that was read while the project changed
   * is not cached.
   */
  set(entry: CacheKey, result: CachedResult, state: number): void
  /** A number that changes whenever this server changes something in the project. */
  projectState(projectId: ProjectId | null): number
  /** Drops all results of a project. Must be called after each change of its files, whoever made it. */
  dropProject(projectId: ProjectId): void
}

const MAX_ENTRIES = 1000
const MAX_CHARACTERS = 32_000_000
const MAX_ENTRY_CHARACTERS = 2_000_000
const MAX_KNOWN_PROJECTS = 10_000

/** @param options.ttlSeconds how long a result may be reused; 0 disables the cache. */
export function createResultCache(options: { ttlSeconds: number }): ResultCache {
  const entries = new LRUCache<string, CachedResult & { projectId: ProjectId | null }>({
    max: MAX_ENTRIES,
    maxSize: MAX_CHARACTERS,
    maxEntrySize: MAX_ENTRY_CHARACTERS,
    sizeCalculation: (entry) =>
      1 +
      entry.data.length +
      (entry.artifact === undefined ? 0 : JSON.stringify(entry.artifact).length),
    ttl: Math.max(1, options.ttlSeconds * 1000),
  })
  const states = new LRUCache<ProjectId, number>(atMost(MAX_KNOWN_PROJECTS))
  let changes = 0

  const projectState = (projectId: ProjectId | null): number =>
    projectId === null ? 0 : (states.get(projectId) ?? 0)
  const keyOf = ({ userId, projectId, key }: CacheKey): string =>
    JSON.stringify([userId, projectId, key])

  return {
    get: (entry) => entries.get(keyOf(entry)),
    set: (entry, result, state) => {
      if (options.ttlSeconds <= 0 || projectState(entry.projectId) !== state) return
      entries.set(keyOf(entry), { ...result, projectId: entry.projectId })
    },
    projectState,
    dropProject: (projectId) => {
      changes += 1
      states.set(projectId, changes)
      for (const [key, entry] of entries.entries())
        if (entry.projectId === projectId) entries.delete(key)
    },
  }
}
