// Backups are consistent while other clients write, and a restore brings everything back.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backupDatabase, restoreDatabase } from '../../../server/db/backup.ts'
import { connect } from '../../../server/db/connect.ts'
import { createStore } from '../../../server/db/store.ts'
import type { MessageId } from '../../../server/protocol/ids.ts'
import { silentLog, useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { onConnection } from '../../support/store/explain.ts'
import { say, somebody } from '../../support/store/store-rows.ts'

describe.each(DIALECTS)('backup and restore (%s)', (dialect) => {
  const databases = useDatabases()
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nanoclaw-backup-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('a backup contains everything acknowledged before it, although five clients write meanwhile', async () => {
    const settings = await databases.settings(dialect)
    const database = await databases.connect(settings)
    const store = createStore(database)
    const user = await somebody(store)
    const { id } = await store.conversations.create(user.id, {})
    const acknowledged: MessageId[] = []
    let writing = true
    const writers = Array.from({ length: 5 }, async () => {
      while (writing) acknowledged.push(await say(database, id, 'hello', null))
    })
    while (acknowledged.length < 200) await say(database, id, 'one more', null)
    const before = [...acknowledged]
    const target = join(folder, 'busy')
    const report = await backupDatabase(settings, target)
    writing = false
    await Promise.all(writers)
    expect(report).toEqual({ file: target, bytes: statSync(target).size })
    expect(statSync(target).mode & 0o777).toBe(0o600)

    const elsewhere = await databases.settings(dialect)
    await restoreDatabase(elsewhere, target, folder)
    const restored = await databases.connect(elsewhere)
    const { messages, conversations } = restored.tables
    const rows = await restored.read.select({ id: messages.id }).from(messages)
    const present = new Set(rows.map((row) => row.id))
    expect(before.filter((message) => !present.has(message))).toEqual([])
    // The backup is one snapshot: the stored count matches the rows.
    const [conversation] = await restored.read.select().from(conversations)
    expect(conversation?.messageCount).toBe(rows.length)
  })

  test('a restore brings everything back, and new rows get free numbers', async () => {
    const settings = await databases.settings(dialect)
    const database = await connect(settings, { log: silentLog })
    const store = createStore(database)
    const user = await somebody(store)
    const project = await store.projects.create(user.id, { name: 'p', description: 'ü\n"x"' })
    const { id } = await store.conversations.create(user.id, { projectId: project.id })
    const message = await say(database, id, 'line\nbreak \u2028 and ✓', null, {
      files: [{ name: 'a', extension: 'txt', content: '{"b": 1}' }],
    })
    await store.settings.store('order', { z: 1, a: { nested: [1.5, null, 'x\ny'] } })
    const document = await store.documents.create({
      projectId: project.id,
      userId: user.id,
      name: 'n',
      mime: 'text/plain',
      size: 3,
    })
    await store.documents.index(document, [
      { heading: null, page: 1, text: 'walrus', tokens: 'walrus' },
    ])
    const everything = async (from: typeof settings) => {
      const tables = Object.keys(database.tables).map((key) =>
        key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      )
      const found: Record<string, unknown> = {}
      for (const table of tables) found[table] = await onConnection(from, `select * from ${table}`)
      return found
    }
    const before = await everything(settings)
    await database.close()
    const target = join(folder, 'whole')
    await backupDatabase(settings, target)

    const elsewhere = await databases.settings(dialect)
    const old = await connect(elsewhere, { log: silentLog })
    await somebody(createStore(old), 'replaced')
    await old.close()
    await restoreDatabase(elsewhere, target, folder)
    expect(await everything(elsewhere)).toEqual(before)
    const restored = await databases.connect(elsewhere)
    const again = createStore(restored)
    await say(restored, id, 'more', message)
    expect(await again.documents.search(project.id, ['walrus'], 5)).toHaveLength(1)
    expect(await again.users.findByName('replaced')).toBeUndefined()
  })

  test('a restore is refused while a server is running, and changes nothing', async () => {
    const settings = await databases.settings(dialect)
    const database = await databases.connect(settings)
    const user = await somebody(createStore(database))
    const target = join(folder, 'running')
    await backupDatabase(settings, target)
    await expect(restoreDatabase(settings, target, folder)).rejects.toThrow(/in use/)
    expect((await createStore(database).users.find(user.id))?.id).toBe(user.id)
  })

  test('an existing target, a missing source and a damaged source are refused', async () => {
    const settings = await databases.settings(dialect)
    await (await connect(settings, { log: silentLog })).close()
    const target = join(folder, 'there')
    await backupDatabase(settings, target)
    await expect(backupDatabase(settings, target)).rejects.toThrow(/already exists/)
    await expect(restoreDatabase(settings, join(folder, 'missing'), folder)).rejects.toThrow(
      /Backup .* not found/,
    )
    const broken = join(folder, 'broken')
    const whole = readFileSync(target)
    writeFileSync(broken, whole.subarray(0, Math.floor(whole.length / 2)))
    await expect(restoreDatabase(settings, broken, folder)).rejects.toMatchObject({
      name: 'AppError',
    })
    writeFileSync(broken, 'a letter\n')
    await expect(restoreDatabase(settings, broken, folder)).rejects.toMatchObject({
      name: 'AppError',
    })
    expect(await onConnection(settings, 'select * from users')).toEqual([])
    expect((await readdir(folder)).filter((name) => name.includes('unfinished'))).toEqual([])
  })
})
