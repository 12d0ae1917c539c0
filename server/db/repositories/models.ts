// Models that an administrator added, with sealed keys.
import { asc, eq } from 'drizzle-orm'
import { ModelSettings } from '../../protocol/models/catalog.ts'
import type { Database, Writer } from '../database.ts'

/**
 * A stored model. Its settings never contain the API key and headers: both are sealed together in `sealedApiKey`, which is null
 * when there are none.
 */
export type StoredModel = {
  settings: Omit<ModelSettings, 'api_key' | 'headers'>
  sealedApiKey: string | null
  createdAt: Date
}

/** Stores the models that administrators added. */
export type ModelRepository = ReturnType<typeof createModelRepository>

const Settings = ModelSettings.omit({ api_key: true, headers: true })

/**
 * Models are cached, because every send reads them several times. Changes by other processes are visible after this time.
 */
const CACHE_TTL_MS = 3_000

/** Uses the table `models`. */
export function createModelRepository(database: Database) {
  const { read, tables } = database
  const { models } = tables
  let cached: { models: Promise<readonly StoredModel[]>; until: number } | undefined

  async function readAll(): Promise<readonly StoredModel[]> {
    const rows = await read.select().from(models).orderBy(asc(models.createdAt), asc(models.id))
    return rows.flatMap(({ settings, sealedApiKey, createdAt }) => {
      const parsed = Settings.safeParse(settings)
      return parsed.success ? [{ settings: parsed.data, sealedApiKey, createdAt }] : []
    })
  }

  async function writeAndInvalidate<T>(work: (tx: Writer) => Promise<T>): Promise<T> {
    try {
      return await database.write(work)
    } finally {
      cached = undefined
    }
  }

  return {
    /** Models in the order in which they were added, without those whose settings are no longer valid. */
    list(): Promise<readonly StoredModel[]> {
      if (cached !== undefined && performance.now() < cached.until) return cached.models
      const found = readAll()
      const fresh = { models: found, until: performance.now() + CACHE_TTL_MS }
      cached = fresh
      found.catch(() => {
        if (cached === fresh) cached = undefined
      })
      return found
    },

    /** Adds a model. Returns null when one with this id already exists. `after` is part of the change, as below. */
    create: async (
      settings: StoredModel['settings'],
      sealedApiKey: string | null,
      after?: (tx: Writer) => Promise<void>,
    ): Promise<StoredModel | null> => {
      const model = { settings: Settings.parse(settings), sealedApiKey, createdAt: new Date() }
      try {
        await writeAndInvalidate(async (tx) => {
          await tx.insert(models).values({ id: settings.id, ...model })
          await after?.(tx)
        })
        return model
      } catch (error) {
        if (database.isUniqueViolation(error)) return null
        throw error
      }
    },

    /**
     * Updates a model from its current state, so that the second of two concurrent updates sees the result of the first.
     * Returns undefined when there is no such model. When `change` throws, nothing is stored.
     */
    change: (
      id: string,
      change: (before: StoredModel) => Pick<StoredModel, 'settings' | 'sealedApiKey'>,
      after?: (tx: Writer) => Promise<void>,
    ): Promise<StoredModel | undefined> =>
      writeAndInvalidate(async (tx) => {
        await tx.lock(`model ${id}`)
        const [row] = await tx.select().from(models).where(eq(models.id, id))
        const settings = Settings.safeParse(row?.settings)
        if (row === undefined || !settings.success) return undefined
        const { sealedApiKey, createdAt } = row
        const changed = change({ settings: settings.data, sealedApiKey, createdAt })
        await tx
          .update(models)
          .set({ settings: Settings.parse(changed.settings), sealedApiKey: changed.sealedApiKey })
          .where(eq(models.id, id))
        await after?.(tx)
        return { ...changed, createdAt }
      }),

    /** False when there is no such model. */
    remove: (id: string, after?: (tx: Writer) => Promise<void>): Promise<boolean> =>
      writeAndInvalidate(async (tx) => {
        const [found] = await tx.select({ id: models.id }).from(models).where(eq(models.id, id))
        if (found === undefined) return false
        await tx.delete(models).where(eq(models.id, id))
        await after?.(tx)
        return true
      }),
  }
}
