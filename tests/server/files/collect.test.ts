// Garbage collection: removes what is unused for long enough, keeps what is in use, has just arrived, or is another database's.
import { mkdtempSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { createStore } from '../../../server/db/store.ts'
import {
  collectGarbage,
  NEW_BLOB_MS,
  TRASH_MS,
  UNUSED_BLOB_MS,
  UNUSED_FILE_MS,
} from '../../../server/files/collect.ts'
import { blobPath, openDiskBlobs } from '../../../server/files/disk-blobs.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { fileRow } from '../../support/store/files.ts'
import { say, somebody } from '../../support/store/store-rows.ts'

const HOUR_MS = 60 * 60 * 1000

async function* bytes(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}

describeOnEachDatabase('garbage collection of files', (open) => {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-collect-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  /** A blob store with the contents `names`, and a collection at a time from now. */
  async function prepare(names: readonly string[]) {
    const blobs = await openDiskBlobs(mkdtempSync(join(folder, 'blobs-')))
    const stored: Record<string, string> = {}
    for (const name of names) stored[name] = (await blobs.store(bytes(name))).sha256
    const logged: object[] = []
    const log = { info: (details: object) => void logged.push(details), warn() {} }
    return {
      blobs,
      stored,
      logged,
      async left(): Promise<string[]> {
        const found: string[] = []
        for await (const { sha256 } of blobs.list())
          found.push(names.find((name) => stored[name] === sha256) ?? sha256)
        return found.sort()
      },
      collect(database: Database, ms: number) {
        const { files, unusedBlobs: unused, settings } = createStore(database)
        const now = () => new Date(Date.now() + ms)
        return collectGarbage({ files, unused, settings, blobs, log, now })
      },
    }
  }

  test('an unused blob is removed only after the collection has seen it unused for days and it was in the trash for days', async () => {
    const database = await open()
    const store = createStore(database)
    const user = await somebody(store)
    const { blobs, stored, logged, left, collect } = await prepare([
      'used',
      'thumbnail',
      'unused',
      'orphan',
    ])
    const used = fileRow(user.id, {
      sha256: stored.used ?? '',
      thumbnailSha256: stored.thumbnail ?? null,
    })
    const unused = fileRow(user.id, { sha256: stored.unused ?? '' })
    const { id } = await store.conversations.create(user.id, {})
    await database.write(async (tx) => {
      await store.files.insert(tx, used)
      await store.files.insert(tx, unused)
    })
    await say(database, id, 'look', null, {
      files: [{ name: 'a', content: 'x', extension: 'txt' }],
    })
    const { attachments } = database.tables
    await database.write(async (tx) => {
      await tx.update(attachments).set({ fileId: used.id })
    })
    const none = { files: 0, seen: 0, discarded: 0, removed: 0 }

    expect(await collect(database, 0)).toEqual(none)
    const seenAt = NEW_BLOB_MS + HOUR_MS
    expect(await collect(database, seenAt)).toEqual({ ...none, seen: 1 })
    // However long the server was off in between, it has seen the other one unused only now.
    const again = seenAt + UNUSED_FILE_MS
    expect(await collect(database, again)).toEqual({ ...none, files: 1, seen: 1 })
    expect(await left()).toEqual(['orphan', 'thumbnail', 'unused', 'used'])
    expect(await collect(database, seenAt + UNUSED_BLOB_MS + 1)).toEqual({ ...none, discarded: 1 })
    expect(await left()).toEqual(['thumbnail', 'unused', 'used'])
    expect((await buffer(await blobs.open(stored.orphan ?? ''))).toString()).toBe('orphan')
    expect(await left()).toContain('orphan')

    const late = again + UNUSED_BLOB_MS + 1
    expect(await collect(database, late)).toMatchObject({ seen: 1, discarded: 1, removed: 0 })
    expect(await collect(database, Date.now() + TRASH_MS)).toMatchObject({ removed: 1 })
    expect(await left()).not.toContain('unused')
    await expect(blobs.open(stored.unused ?? '')).rejects.toMatchObject({
      reason: 'file_content_missing',
    })
    expect(await left()).toEqual(expect.arrayContaining(['thumbnail', 'used']))
    expect(logged).toContainEqual(expect.objectContaining({ discarded: 1, trash_days: 7 }))
    // A small file counts as much as its row.
    expect(await store.storage.used(user.id)).toBe(256)
    expect(await store.files.remove(user.id, used.id)).toBe('used')
  })

  test('a database without files removes no blob, however often it collects', async () => {
    const { left, collect } = await prepare(['one', 'two'])
    const empty = await open()
    for (let day = 1; day <= 40; day += 1) await collect(empty, day * 24 * HOUR_MS)
    expect(await left()).toEqual(['one', 'two'])
  })

  test("a restored or another database with files starts counting anew, and two that alternate never remove each other's", async () => {
    const { stored, left, collect } = await prepare(['first', 'second'])
    const databases: Database[] = []
    for (const name of ['first', 'second']) {
      const database = await open()
      const store = createStore(database)
      const { id: userId } = await somebody(store)
      const row = fileRow(userId, { sha256: stored[name] ?? '' })
      const { id } = await store.conversations.create(userId, {})
      await database.write((tx) => store.files.insert(tx, row))
      await say(database, id, 'look', null, {
        files: [{ name: 'a', content: 'x', extension: 'txt' }],
      })
      await database.write(async (tx) => {
        await tx.update(database.tables.attachments).set({ fileId: row.id })
      })
      databases.push(database)
    }
    for (let round = 1; round <= 30; round += 1)
      for (const database of databases) await collect(database, round * 24 * HOUR_MS)
    expect(await left()).toEqual(['first', 'second'])
  })

  test('a blob that was stored again after it was seen unused stays for as long as a new one', async () => {
    const database = await open()
    const store = createStore(database)
    const { id: userId } = await somebody(store)
    const { blobs, stored, left, collect } = await prepare(['kept', 'again'])
    const used = fileRow(userId, {
      sha256: stored.kept ?? '',
      createdAt: new Date(Date.now() + 365 * 24 * HOUR_MS),
    })
    await database.write((tx) => store.files.insert(tx, used))
    expect(await collect(database, 2 * HOUR_MS)).toMatchObject({ seen: 1 })
    const day = new Date(Date.now() + 24 * HOUR_MS)
    utimesSync(blobPath(join(blobs.incoming, '..', '..'), stored.again ?? ''), day, day)
    const due = 2 * HOUR_MS + UNUSED_BLOB_MS + 1
    expect(await collect(database, due)).toMatchObject({ seen: 1, discarded: 0 })
    expect(await left()).toContain('again')
    expect(await collect(database, due + UNUSED_BLOB_MS + 1)).toMatchObject({ discarded: 1 })
  })

  test("a user cannot access another user's files", async () => {
    const database = await open()
    const store = createStore(database)
    const [user, other] = [await somebody(store), await somebody(store)]
    const file = fileRow(user.id, {})
    await database.write((tx) => store.files.insert(tx, file))
    expect(await store.files.find(other.id, file.id)).toBeUndefined()
    expect(await store.files.remove(other.id, file.id)).toBe('missing')
    expect(await store.files.remove(user.id, file.id)).toBe('removed')
  })
})
