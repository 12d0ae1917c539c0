// Attachments of earlier versions become files in the background; interrupted work continues where it stopped.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Dialect } from '../../../server/db/database.ts'
import { createStore } from '../../../server/db/store.ts'
import { createAttachmentReader } from '../../../server/files/attachment-contents.ts'
import { collectGarbage, UNUSED_BLOB_MS } from '../../../server/files/collect.ts'
import { openDiskBlobs } from '../../../server/files/disk-blobs.ts'
import { createFileService } from '../../../server/files/files.ts'
import { createAttachmentMover } from '../../../server/files/move-attachments.ts'
import type { Attachment } from '../../../server/protocol/conversations/message.ts'
import type { MessageId } from '../../../server/protocol/ids.ts'
import { builtProgram } from '../../support/built-programs.ts'
import { silentLog, useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { say, somebody } from '../../support/store/store-rows.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const DAMAGED = Buffer.from('\x89PNG\r\n\x1a\nno more', 'latin1').toString('base64')
const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-move-'))
afterAll(() => rmSync(folder, { recursive: true }))

const given: Attachment[] = [
  { name: 'a.txt', extension: 'txt', content: '\ufeffhéllo' },
  { name: 'dot.png', mime: 'image/png', data: PIXEL },
  { name: 'damaged.png', mime: 'image/png', data: DAMAGED },
  { name: 'empty', extension: undefined, content: '' },
]

const wholeText = async (content: { readPieces(): AsyncIterable<string> }): Promise<string> => {
  let text = ''
  for await (const piece of content.readPieces()) text += piece
  return text
}

describe.each(DIALECTS)('attachments become files (%s)', (dialect) => {
  const databases = useDatabases()

  async function prepare(kind: Dialect, messages: number) {
    const settings = await databases.settings(kind)
    const database = await databases.connect(settings)
    const store = createStore(database)
    const user = await somebody(store)
    const { id } = await store.conversations.create(user.id, {})
    let parent: MessageId | null = null
    const ids: MessageId[] = []
    for (let at = 0; at < messages; at += 1) {
      parent = await say(database, id, `message ${at}`, parent, { files: given })
      ids.push(parent)
    }
    return { settings, database, store, user, ids, conversationId: id }
  }

  async function expectMoved(
    { store, ids }: Pick<Awaited<ReturnType<typeof prepare>>, 'store' | 'ids'>,
    place: string,
  ): Promise<void> {
    const blobs = await openDiskBlobs(place)
    const reader = createAttachmentReader(store.attachments, blobs)
    for (const id of ids)
      for (const [position, file] of given.entries()) {
        const found = await reader.find(id, position)
        expect(found).toMatchObject({ name: file.name, fileId: expect.any(String) })
        const content = 'data' in file ? file.data : file.content
        expect(found && (await wholeText(found.content))).toBe(content)
      }
    expect(await store.attachments.findInline()).toBeUndefined()
  }

  test('all content stays the same, and a failing database only delays the work', async () => {
    const prepared = await prepare(dialect, 2)
    const { database, store, user } = prepared
    const place = mkdtempSync(join(folder, 'blobs-'))
    const blobs = await openDiskBlobs(place)
    const files = createFileService({
      database,
      files: store.files,
      searchIndex: store.search.index,
      blobs,
      incoming: blobs.incoming,
      maxBytes: 1_000_000,
      storage: { claim: async () => {}, release() {} },
      log: silentLog,
    })
    let left = 3
    let failed = (): void => {}
    const untilFailed = new Promise<void>((resolve) => {
      failed = resolve
    })
    const failing = {
      write: async <T>(work: Parameters<typeof database.write<T>>[0]): Promise<T> => {
        left -= 1
        if (left < 0) failed()
        if (left < 0) throw new Error('the database is away')
        return database.write(work)
      },
    }
    const first = createAttachmentMover({ store, database: failing, files, log: silentLog })
    const running = first.run()
    await untilFailed
    await first.stop()
    await running
    await createAttachmentMover({ store, database, files, log: silentLog }).run()
    await expectMoved(prepared, place)
    expect(await store.storage.used(user.id)).toBeGreaterThan(0)
    const later = () => new Date(Date.now() + UNUSED_BLOB_MS + 60_000)
    const { files: rows, unusedBlobs: unused, settings } = store
    const collecting = { files: rows, unused, settings, blobs, log: silentLog, now: later }
    expect(await collectGarbage(collecting)).toMatchObject({ files: 0, discarded: 0 })
    await expectMoved(prepared, place)
  })

  test('reading content while it is moved returns all of it, once', async () => {
    const { database, store, conversationId } = await prepare(dialect, 0)
    const long = 'ein längerer Text\n'.repeat(40_000)
    const id = await say(database, conversationId, 'files', null, {
      files: [{ name: 'long.txt', extension: 'txt', content: long }, ...given],
    })
    const blobs = await openDiskBlobs(mkdtempSync(join(folder, 'read-')))
    const files = createFileService({
      database,
      files: store.files,
      searchIndex: store.search.index,
      blobs,
      incoming: blobs.incoming,
      maxBytes: 1_000_000,
      storage: { claim: async () => {}, release() {} },
      log: silentLog,
    })
    const reader = createAttachmentReader(store.attachments, blobs)
    const before = await Promise.all([0, 1, 2].map((position) => reader.find(id, position)))
    const readLong = before[0]?.content.readPieces()[Symbol.asyncIterator]()
    const first = await readLong?.next()
    await createAttachmentMover({ store, database, files, log: silentLog }).run()
    let text: string = first?.value
    for (let next = await readLong?.next(); next?.done === false; next = await readLong?.next())
      text += next.value
    expect(text === long).toBe(true)
    expect(before[1] && (await wholeText(before[1].content))).toBe('\ufeffhéllo')
    expect(before[2] && (await wholeText(before[2].content))).toBe(PIXEL)
  })

  test.runIf(dialect === 'sqlite')('kill -9 during the move loses nothing', async () => {
    const prepared = await prepare('sqlite', 3)
    const { settings, database } = prepared
    if (settings.dialect !== 'sqlite') throw new Error('only for SQLite')
    await database.close()
    const place = mkdtempSync(join(folder, 'killed-'))
    const start = () =>
      spawn(
        process.execPath,
        [...builtProgram('store/attachment-mover-process'), settings.file, place],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
    for (const afterMoves of [1, 3, 5]) {
      const mover = start()
      let moves = 0
      for await (const chunk of mover.stdout) {
        moves += String(chunk).split('moving').length - 1
        if (moves >= afterMoves) mover.kill('SIGKILL')
      }
      if (mover.exitCode === null && mover.signalCode === null) await once(mover, 'close')
      expect(mover.signalCode).toBe('SIGKILL')
    }
    const last = start()
    let said = ''
    for await (const chunk of last.stdout) said += String(chunk)
    expect(said).toContain('done')
    const store = createStore(await databases.connect(settings))
    await expectMoved({ store, ids: prepared.ids }, place)
  })
})
