// Who may open a link, without HTTP: sharing turned off later, and how many links one network may open.
import { expect, test } from 'vitest'
import { createPasswords } from '../../../server/auth/passwords.ts'
import { createSecretBox } from '../../../server/auth/secret-box.ts'
import type { Database } from '../../../server/db/database.ts'
import { createStore } from '../../../server/db/store.ts'
import { createLocalLimits } from '../../../server/lib/local-limits.ts'
import { COMMAND_LINE } from '../../../server/protocol/admin/audit.ts'
import { documentLanguage } from '../../../server/sharing/document-texts.ts'
import { createShares } from '../../../server/sharing/shares.ts'
import { unlimitedStorage } from '../../../server/workspace/storage-quota.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { say, somebody } from '../../support/store/store-rows.ts'

describeOnEachDatabase('links of shares', (open) => {
  async function shared() {
    const database = await open()
    const store = createStore(database)
    const { id: userId } = await somebody(store)
    const { id } = await store.conversations.create(userId, { title: 'Shared' })
    await say(database, id, 'Hello', null)
    const shares = (enabled: boolean, through: Database = database) =>
      createShares({
        storage: unlimitedStorage,
        frozenApps: { present: async () => [], copy: async function* () {} },
        ...{ database: through, store, isEnabled: () => enabled, now: () => new Date() },
        limits: createLocalLimits(),
        ...{ box: createSecretBox(Buffer.alloc(32, 7)), passwords: createPasswords() },
      })
    const on = shares(true)
    const share = await on.create(userId, id, {}, COMMAND_LINE)
    const token = on.tokenOf(share) ?? ''
    return { on, off: shares(false), through: shares, database, store, share, token, userId, id }
  }

  test('turning sharing off makes an existing link 404, and turning it on again brings it back', async () => {
    const { on, off, token } = await shared()
    const visit = { token, address: '192.0.2.1' }
    expect((await on.open(visit)).title).toBe('Shared')
    for (const isFile of [false, true])
      await expect(off.open({ ...visit, isFile })).rejects.toMatchObject({
        reason: 'share_not_found',
      })
    expect((await on.open(visit)).title).toBe('Shared')
  })

  test('renewing a share keeps its token', async () => {
    const { on, token, userId, id } = await shared()
    expect(on.tokenOf(await on.create(userId, id, { password: 'open sesame' }, COMMAND_LINE))).toBe(
      token,
    )
  })

  test('a copy whose process died half-way counts as storage, and is removed without the copies that are shown', async () => {
    const { through, database, store, share, userId, id } = await shared()
    const { id: other } = await store.conversations.create(userId, { title: 'Never shared' })
    await say(database, other, 'Hello', null)
    const texts = async () => (await store.storage.texts(userId)).shares.bytes
    const before = await texts()
    /** Dies after `writes`: the last of them has stored a message of the copy. */
    const dies = (conversationId: typeof id, writes: number) =>
      new Promise<void>((died) => {
        let left = writes
        const dying: Database = {
          ...database,
          write: (work) => (left-- > 0 ? database.write(work) : new Promise(() => died())),
        }
        void through(true, dying).create(userId, conversationId, {}, COMMAND_LINE)
      })
    await dies(id, 1)
    await dies(other, 2)
    expect(await texts()).toBeGreaterThan(before)

    await store.shares.removeUnfinished(new Date(share.createdAt.getTime() - 1_000))
    expect(await texts()).toBeGreaterThan(before)
    await store.shares.removeUnfinished(new Date(Date.now() + 1_000))
    expect(await texts()).toBe(before)
    expect(await store.shares.find(userId, other)).toBeUndefined()
    const shown: string[] = []
    for await (const json of store.shares.readMessages(share)) shown.push(json)
    expect(shown).toHaveLength(1)
  })

  test('one network can open a limited number of links a minute, existing or not, and other networks are not affected', async () => {
    const { on, token } = await shared()
    const from = (address: string, one = token) => on.open({ token: one, address })
    for (let count = 0; count < 119; count += 1)
      await expect(from('192.0.2.1', `guess-${count}`)).rejects.toMatchObject({
        reason: 'share_not_found',
      })
    await from('192.0.2.1')
    await expect(from('192.0.2.1')).rejects.toMatchObject({
      ...{ reason: 'share_views_exhausted', status: 429 },
      retryAfter: expect.any(Number),
    })
    await on.open({ token, address: '192.0.2.1', isFile: true })
    await from('198.51.100.7')
  })
})

test.each([
  [undefined, 'en'],
  ['zh', 'zh-CN'],
  ['zh-TW,en;q=0.9', 'zh-TW'],
  ['en;q=0.3, zh-Hans;q=0.8', 'zh-CN'],
  ['fr;q=0.4, ja', 'ja'],
  ['is, zh;q=0.5', 'zh-CN'],
  ['pt-PT', 'pt-BR'],
  ['is, sv', 'en'],
  ['zh;q=0, en', 'en'],
  ['en, zh', 'en'],
  [';;q=x,,', 'en'],
])('the language for the header %j is %s', (header, language) => {
  expect(documentLanguage(header)).toBe(language)
})
