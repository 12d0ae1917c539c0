// Models that an administrator added, their keys sealed.
import { asc, eq } from 'drizzle-orm'
import { ModelSettings } from '../../protocol/catalog.ts'
import type { Database } from '../database.ts'

/** A stored model. Its settings never hold the key: that is sealed apart, null where there is none. */
export type StoredModel = {
  settings: Omit<ModelSettings, 'api_key'>
  sealedApiKey: string | null
  createdAt: Date
}

export type ModelRepository = ReturnType<typeof createModelRepository>

const Settings = ModelSettings.omit({ api_key: true })

export function createModelRepository(database: Database) {
  const { read, tables } = database
  const { models } = tables

  return {
    /** In the order in which they were added. Settings of an older version that no longer hold are left out. */
    async list(): Promise<StoredModel[]> {
      const rows = await read.select().from(models).orderBy(asc(models.createdAt), asc(models.id))
      return rows.flatMap(({ settings, sealedApiKey, createdAt }) => {
        const parsed = Settings.safeParse(settings)
        return parsed.success ? [{ settings: parsed.data, sealedApiKey, createdAt }] : []
      })
    },

    /**
     * Adds a model or replaces the one of the same id.
     * @param sealedApiKey undefined keeps the key that is there.
     */
    put: (settings: Omit<ModelSettings, 'api_key'>, sealedApiKey: string | null | undefined) =>
      database.write(async (tx): Promise<void> => {
        const stored = Settings.parse(settings)
        await tx
          .insert(models)
          .values({
            id: settings.id,
            settings: stored,
            sealedApiKey: sealedApiKey ?? null,
            createdAt: new Date(),
          })
          .onConflictDoUpdate({
            target: models.id,
            set: { settings: stored, ...(sealedApiKey === undefined ? {} : { sealedApiKey }) },
          })
      }),

    /** false when there is no such model. */
    remove: (id: string): Promise<boolean> =>
      database.write(async (tx) => {
        const [found] = await tx.select({ id: models.id }).from(models).where(eq(models.id, id))
        await tx.delete(models).where(eq(models.id, id))
        return found !== undefined
      }),
  }
}
