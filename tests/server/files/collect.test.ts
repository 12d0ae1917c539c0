// Garbage collection: removes what is unused and old enough, keeps what is in use or has just arrived.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createStore } from '../../../server/db/store.ts'
import { collectGarbage, UNUSED_BLOB_MS, UNUSED_FILE_MS } from '../../../server/files/collect.ts'
import { openDiskBlobs } from '../../../server/files/disk-blobs.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { fileRow } from '../../support/store/files.ts'
import { say, somebody } from '../../support/store/store-rows.ts'

async function* bytes(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}

describeOnEachDatabase('garbage collection of files', (open) => {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-collect-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  test('unused files and blobs are removed once they are old enough, and used ones, thumbnails and new ones stay', async () => {
    const database = await open()
    const store = createStore(database)
    const blobs = await openDiskBlobs(mkdtempSync(join(folder, 'blobs-')))
    const user = await somebody(store)
    const stored: Record<string, string> = {}
    for (const name of ['used', 'thumbnail', 'unused', 'orphan'])
      stored[name] = (await blobs.put(bytes(name))).sha256
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
    const messageId = await say(database, id, 'look', null, {
      files: [{ name: 'a', content: 'x', extension: 'txt' }],
    })
    const { attachments } = database.tables
    await database.write(async (tx) => {
      await tx.update(attachments).set({ fileId: used.id })
    })
    const left = async (): Promise<string[]> => {
      const found: string[] = []
      for await (const { sha256 } of blobs.list())
        found.push(Object.keys(stored).find((name) => stored[name] === sha256) ?? sha256)
      return found.sort()
    }
    const collectAfter = (ms: number) =>
      collectGarbage({ files: store.files, blobs, now: () => new Date(Date.now() + ms) })

    expect(await collectAfter(0)).toEqual({ files: 0, blobs: 0 })
    expect(await left()).toEqual(['orphan', 'thumbnail', 'unused', 'used'])
    expect(await collectAfter(UNUSED_BLOB_MS + 60_000)).toEqual({ files: 0, blobs: 1 })
    expect(await left()).toEqual(['thumbnail', 'unused', 'used'])
    expect(await collectAfter(UNUSED_FILE_MS + 60_000)).toEqual({ files: 1, blobs: 1 })
    expect(await left()).toEqual(['thumbnail', 'used'])
    expect(await store.storage.used(user.id)).toBe(5)
    expect(await store.files.remove(user.id, used.id)).toBe('used')

    await store.conversations.remove(user.id, id)
    expect(await store.messages.find(id, messageId)).toBeUndefined()
    expect(await collectAfter(UNUSED_FILE_MS + 60_000)).toEqual({ files: 1, blobs: 2 })
    expect(await left()).toEqual([])
    expect(await store.storage.used(user.id)).toBe(0)
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
