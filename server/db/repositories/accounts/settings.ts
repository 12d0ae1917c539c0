// Single values that the server stores between starts, and each user's memory and preferences.
import { eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { withoutAbsent } from '../../../lib/without-absent.ts'
import { NO_PREFERENCES, type Preferences } from '../../../protocol/accounts/preferences.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'

/** Uses the tables `settings`, `memories` and `preferences`. */
export function createSettingRepository(database: Database) {
  const { read, tables } = database
  const { settings, memories, preferences } = tables
  const memoryStatement = read
    .select()
    .from(memories)
    .where(eq(memories.userId, sql.placeholder('userId')))
    .prepare('memory')

  const preferencesStatement = read
    .select()
    .from(preferences)
    .where(eq(preferences.userId, sql.placeholder('userId')))
    .prepare('preferences')

  return {
    /** Undefined when the value was never set, or does not match `schema`. */
    async get<Schema extends z.ZodType>(
      key: string,
      schema: Schema,
    ): Promise<z.output<Schema> | undefined> {
      const [row] = await read.select().from(settings).where(eq(settings.key, key))
      return row === undefined ? undefined : schema.safeParse(row.value).data
    },

    /** @param value any JSON value. */
    store: (key: string, value: unknown) => database.write((tx) => set(database, tx, key, value)),

    /** Sets a value unless one is stored. */
    create: (key: string, value: unknown): Promise<void> =>
      database.write(async (tx) => {
        await tx.insert(settings).values({ key, value }).onConflictDoNothing()
      }),

    /** Stores a value inside the caller's transaction. */
    set: (tx: Writer, key: string, value: unknown) => set(database, tx, key, value),

    /**
     * Changes a value from its current state, so that two concurrent changes both take effect. `after` is part of the change.
     * Returns the result.
     */
    update: <Schema extends z.ZodType>(
      key: string,
      schema: Schema,
      change: (value: z.output<Schema> | undefined) => z.output<Schema>,
      after?: (tx: Writer) => Promise<void>,
    ) => update(database, key, schema, change, after),

    /** The user's preferences; the defaults if none are stored. */
    async preferences(userId: UserId): Promise<Preferences> {
      const [row] = await preferencesStatement.execute({ userId })
      return { ...NO_PREFERENCES, ...row?.value }
    },

    /** Changes the given fields; two concurrent changes both take effect. Returns the result. */
    changePreferences: (
      userId: UserId,
      changes: { [Key in keyof Preferences]?: Preferences[Key] | undefined },
    ): Promise<Preferences> =>
      database.write(async (tx) => {
        await tx.lock(`preferences ${userId}`)
        const [row] = await tx.select().from(preferences).where(eq(preferences.userId, userId))
        const value = { ...NO_PREFERENCES, ...row?.value, ...withoutAbsent(changes) }
        await tx
          .insert(preferences)
          .values({ userId, value })
          .onConflictDoUpdate({ target: preferences.userId, set: { value } })
        return value
      }),

    /** The user's memory as Markdown; empty when there is none. */
    async memory(userId: UserId): Promise<string> {
      const [row] = await memoryStatement.execute({ userId })
      return row?.content ?? ''
    },

    /**
     * Changes the memory from its current state, so that two concurrent changes both take effect. Returns the new text.
     */
    changeMemory: (userId: UserId, change: (content: string) => string): Promise<string> =>
      database.write(async (tx) => {
        await tx.lock(`memory ${userId}`)
        const [row] = await tx.select().from(memories).where(eq(memories.userId, userId))
        const content = change(row?.content ?? '')
        const values = { content, updatedAt: new Date() }
        await tx
          .insert(memories)
          .values({ userId, ...values })
          .onConflictDoUpdate({ target: memories.userId, set: values })
        return content
      }),
  }
}

function update<Schema extends z.ZodType>(
  database: Database,
  key: string,
  schema: Schema,
  change: (value: z.output<Schema> | undefined) => z.output<Schema>,
  after?: (tx: Writer) => Promise<void>,
): Promise<z.output<Schema>> {
  const { settings } = database.tables
  return database.write(async (tx) => {
    await tx.lock(`setting ${key}`)
    const [row] = await tx.select().from(settings).where(eq(settings.key, key))
    const value = change(row === undefined ? undefined : schema.safeParse(row.value).data)
    await set(database, tx, key, value)
    await after?.(tx)
    return value
  })
}

async function set(database: Database, tx: Writer, key: string, value: unknown): Promise<void> {
  const { settings } = database.tables
  await tx
    .insert(settings)
    .values({ key, value })
    .onConflictDoUpdate({ target: settings.key, set: { value } })
}
