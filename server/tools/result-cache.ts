// Successful results of cacheable tools, reused across runs; bounded in number, size and age.
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { atMost } from '../lib/lru-limit.ts'
import type { SharedTexts } from '../lib/shared-texts.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { Artifact } from '../protocol/runs/step.ts'

/** The stored result of a call, reused for equal calls. */
const CachedResult = z.object({
  /** The result's data as JSON text, not shortened. */
  data: z.string(),
  artifact: Artifact.exactOptional(),
  /** Whether it contains text from outside. */
  untrusted: z.boolean().exactOptional(),
})
/** The stored result of a call, reused for equal calls. */
export type CachedResult = z.infer<typeof CachedResult>

/** What identifies a cached result. */
export interface CacheKey {
  userId: UserId
  projectId: ProjectId | null
  /** The return value of `callKey`. */
  key: string
}

/** A text that changes whenever anything in the project changes; null if it is unknown, so that nothing can be reused. */
export type ProjectState = string | null

/** Caches results of calls that only read, for a limited time. */
export interface ResultCache {
  /** Returns the result that was cached in this state of the project. */
  get(entry: CacheKey, state: ProjectState): Promise<CachedResult | undefined>
  /**
   * `state` is what `projectState` returned before the call began, so that a result that was read during a change is not
   * found.
   */
  set(entry: CacheKey, result: CachedResult, state: ProjectState): void
  /** Never rejects. */
  projectState(projectId: ProjectId | null): Promise<ProjectState>
  /** Drops all results of a project. Call it after each change of its files through this process. */
  dropProject(projectId: ProjectId): void
}

/** How instances reuse each other's results. */
export interface SharedResults extends SharedTexts {
  /** Changes with each stored change of the project, by any instance. Rejects if the store does not respond. */
  stateOf(projectId: ProjectId): Promise<string>
}

const MAX_ENTRIES = 1000
const MAX_CHARACTERS = 32_000_000
const MAX_ENTRY_CHARACTERS = 2_000_000
const MAX_KNOWN_PROJECTS = 10_000

/**
 * The results of all instances; undefined in a single process. Results are usually redacted when they are stored: these leave
 * the process before.
 */
export const sharedResults = (
  texts: SharedTexts | undefined,
  { stateOf, redact }: Pick<SharedResults, 'stateOf'> & { redact(text: string): string },
): SharedResults | undefined =>
  texts && {
    stateOf,
    get: texts.get,
    set: (key, text, lifetimeMs) => texts.set(key, redact(text), lifetimeMs),
  }

/** @param options.ttlSeconds how long a result may be reused; 0 disables the cache. */
export function createResultCache({
  ttlSeconds,
  shared,
}: {
  ttlSeconds: number
  /** Absent in a single process. */
  shared?: SharedResults | undefined
}): ResultCache {
  const entries = new LRUCache<string, CachedResult & { projectId: ProjectId | null }>({
    max: MAX_ENTRIES,
    maxSize: MAX_CHARACTERS,
    maxEntrySize: MAX_ENTRY_CHARACTERS,
    sizeCalculation: (entry) =>
      1 +
      entry.data.length +
      (entry.artifact === undefined ? 0 : JSON.stringify(entry.artifact).length),
    ttl: Math.max(1, ttlSeconds * 1000),
  })
  /** How often this process has changed each project. */
  const counts = new LRUCache<ProjectId, number>(atMost(MAX_KNOWN_PROJECTS))
  let changes = 0
  const countOf = (projectId: ProjectId | null): number =>
    projectId === null ? 0 : (counts.get(projectId) ?? 0)
  const keyOf = ({ userId, projectId, key }: CacheKey, state: string): string =>
    JSON.stringify([userId, projectId, state, key])
  const localKeyOf = (entry: CacheKey, state: string): string =>
    keyOf(entry, `${countOf(entry.projectId)} ${state}`)

  /** What another instance has stored. A text that cannot be parsed counts as missing. */
  async function fromOthers(key: string): Promise<CachedResult | undefined> {
    const text = await shared?.get(key)
    if (text === undefined) return undefined
    try {
      return CachedResult.parse(JSON.parse(text))
    } catch {
      return undefined
    }
  }

  return {
    async get(entry, state) {
      if (ttlSeconds <= 0 || state === null) return undefined
      return entries.get(localKeyOf(entry, state)) ?? (await fromOthers(keyOf(entry, state)))
    },
    set(entry, result, state) {
      if (ttlSeconds <= 0 || state === null) return
      const { data, artifact, untrusted } = result
      const cached: CachedResult = {
        data,
        ...(artifact === undefined ? {} : { artifact }),
        ...(untrusted === undefined ? {} : { untrusted }),
      }
      entries.set(localKeyOf(entry, state), { ...cached, projectId: entry.projectId })
      shared?.set(keyOf(entry, state), JSON.stringify(cached), ttlSeconds * 1000)
    },
    async projectState(projectId) {
      const count = countOf(projectId)
      if (shared === undefined) return String(count)
      if (projectId === null) return ''
      return await shared.stateOf(projectId).catch(() => null)
    },
    dropProject(projectId) {
      changes += 1
      counts.set(projectId, changes)
      for (const [key, entry] of entries.entries())
        if (entry.projectId === projectId) entries.delete(key)
    },
  }
}
