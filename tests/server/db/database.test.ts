// The read connection and the write connection: what a transaction guarantees, on both databases.
import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { newId } from '../../../server/lib/ids.ts'
import type { UserId } from '../../../server/protocol/ids.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'

const person = (username: string) => ({
  id: newId<UserId>(),
  username,
  usernameKey: username.toLowerCase(),
  role: 'user' as const,
  isActive: true,
  tokenVersion: 0,
  createdAt: new Date(),
})

const usernames = async ({ read, tables: { users } }: Database): Promise<string[]> =>
  (await read.select({ username: users.username }).from(users).orderBy(users.username)).map(
    (row) => row.username,
  )

describeOnEachDatabase('the read and the write connection', (open) => {
  test('a read after a write returns what was stored, including times, booleans and JSON', async () => {
    const database = await open()
    const { users, settings } = database.tables
    const somebody = person('Ada')
    await database.write(async (tx) => {
      await tx.insert(users).values(somebody)
      await tx.insert(settings).values({ key: 'order', value: { z: 1, a: [true, null, 'ü'] } })
    })
    const [found] = await database.read.select().from(users).where(eq(users.id, somebody.id))
    expect(found).toMatchObject({ ...somebody, passwordHash: null, email: null })
    const [stored] = await database.read.select().from(settings)
    expect(JSON.stringify(stored?.value)).toBe('{"z":1,"a":[true,null,"ü"]}')
  })

  test('a write that throws stores nothing', async () => {
    const database = await open()
    await expect(
      database.write(async (tx) => {
        await tx.insert(database.tables.users).values(person('lost'))
        throw new Error('changed my mind')
      }),
    ).rejects.toThrow('changed my mind')
    expect(await usernames(database)).toEqual([])
  })

  test('a failed statement fails its transaction even if the error is caught', async () => {
    const database = await open()
    const { users } = database.tables
    const twin = person('twin')
    await database.write(async (tx) => {
      await tx.insert(users).values(twin)
    })
    await expect(
      database.write(async (tx) => {
        await tx.insert(users).values(person('before'))
        await tx
          .insert(users)
          .values(person('TWIN'))
          .catch(() => {})
      }),
    ).rejects.toThrow()
    expect(await usernames(database)).toEqual(['twin'])
  })

  test('a unique violation is recognised, other errors are not', async () => {
    const database = await open()
    const { users } = database.tables
    const twin = person('twin')
    const twice = database.write(async (tx) => {
      await tx.insert(users).values(twin)
      await tx.insert(users).values({ ...person('other'), usernameKey: 'twin' })
    })
    const error: unknown = await twice.catch((caught: unknown) => caught)
    expect(database.isUniqueViolation(error)).toBe(true)
    expect(String(error)).not.toContain(twin.id)
    expect(database.isUniqueViolation(new Error('other'))).toBe(false)
  })

  test('a write inside a write is refused instead of waiting for itself', async () => {
    const database = await open()
    await expect(database.write(() => database.write(async () => {}))).rejects.toThrow(
      'A write inside a write',
    )
    await expect(database.write(async () => 'free again')).resolves.toBe('free again')
  })

  test('a hundred concurrent writes, upserts and reads lose nothing', async () => {
    const database = await open()
    const { users, settings } = database.tables
    const counted = async (n: number) => {
      await database.write(async (tx) => {
        await tx.insert(users).values(person(`user-${n}`))
      })
      await database.write(async (tx) => {
        await tx.lock('counter')
        const [row] = await tx.select().from(settings).where(eq(settings.key, 'counter'))
        const value = Number(row?.value ?? 0) + 1
        await tx
          .insert(settings)
          .values({ key: 'counter', value })
          .onConflictDoUpdate({ target: settings.key, set: { value } })
      })
      await database.read.select({ n: sql<number>`count(*)`.mapWith(Number) }).from(users)
    }
    await Promise.all(Array.from({ length: 100 }, (_, n) => counted(n)))
    expect(await usernames(database)).toHaveLength(100)
    const [row] = await database.read.select().from(settings)
    expect(row?.value).toBe(100)
  })

  test('text with U+0000 is stored the same way on both databases', async () => {
    const database = await open()
    const { memories, users } = database.tables
    const somebody = person('nul')
    await database.write(async (tx) => {
      await tx.insert(users).values(somebody)
      await tx
        .insert(memories)
        .values({ userId: somebody.id, content: 'a\0b', updatedAt: new Date() })
    })
    const [row] = await database.read.select().from(memories)
    expect(row?.content).toBe('a\uFFFDb')
  })

  test('closing twice is harmless', async () => {
    const database = await open()
    await database.ping()
    await database.close()
    await database.close()
  })
})
