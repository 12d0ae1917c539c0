// Accounts, API keys and revoked tokens.
import { beforeAll, expect, test } from 'vitest'
import { createApiKeys } from '../../../../../server/auth/api-keys.ts'
import { createStore, type Store } from '../../../../../server/db/store.ts'
import { AppError } from '../../../../../server/errors.ts'
import { newId } from '../../../../../server/lib/ids.ts'
import { COMMAND_LINE } from '../../../../../server/protocol/admin/audit.ts'
import type { UserId } from '../../../../../server/protocol/ids.ts'
import { describeOnEachDatabase } from '../../../../support/store/databases.ts'
import { admitAll, somebody } from '../../../../support/store/store-rows.ts'

const nothingElse = async (): Promise<void> => {}
const named = (name: string) => ({ name, scopes: null, programTools: null, expiresAt: null })

describeOnEachDatabase('accounts', (open) => {
  let store: Store
  beforeAll(async () => {
    store = createStore(await open())
  })

  test('one of several users who register first at the same time becomes administrator', async () => {
    const fresh = createStore(await open())
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, n) => somebody(fresh, `person-${n}`)),
    )
    expect(made.filter(({ role }) => role === 'admin')).toHaveLength(1)
    expect(await fresh.users.count()).toBe(8)
  })

  test('names and addresses are unique regardless of case', async () => {
    await store.users.register(
      { username: 'Zoë', passwordHash: 'x', email: 'Zoe@example.org' },
      admitAll,
    )
    await expect(
      store.users.register({ username: 'ZOË', passwordHash: 'x' }, admitAll),
    ).rejects.toMatchObject({ code: 'name_taken', status: 409 })
    await expect(
      store.users.register(
        { username: 'other', passwordHash: 'x', email: 'zoe@EXAMPLE.org' },
        admitAll,
      ),
    ).rejects.toMatchObject({ code: 'name_taken' })
    expect((await store.users.findByName('zOË'))?.email).toBe('Zoe@example.org')
  })

  test('a registration is allowed or refused with the current number of accounts', async () => {
    await somebody(store)
    const before = await store.users.count()
    await expect(
      store.users.register({ username: 'late', passwordHash: 'x' }, async (_tx, count) => {
        expect(count).toBe(before)
        throw new AppError('registration_closed', 'Closed.')
      }),
    ).rejects.toMatchObject({ code: 'registration_closed' })
    expect(await store.users.count()).toBe(before)
  })

  test('the default user of single mode is created once, also for concurrent requests', async () => {
    const fresh = createStore(await open())
    const [one, two] = await Promise.all([
      fresh.users.ensureDefault('default'),
      fresh.users.ensureDefault('default'),
    ])
    expect(one.id).toBe(two.id)
    expect(one).toMatchObject({ role: 'admin', passwordHash: null })
  })

  test('a new password increments the token version, and other changes do not', async () => {
    const user = await somebody(store)
    expect((await store.users.update(user.id, { avatar: 'a' }))?.tokenVersion).toBe(0)
    expect((await store.users.update(user.id, { passwordHash: 'new' }))?.tokenVersion).toBe(1)
    expect(await store.users.find(user.id)).toMatchObject({ avatar: 'a', passwordHash: 'new' })
    expect(await store.users.update(newId<UserId>(), { avatar: 'b' })).toBeUndefined()
  })

  test('the last active administrator can be neither disabled nor demoted', async () => {
    const fresh = createStore(await open())
    const admin = await somebody(fresh)
    await expect(fresh.users.update(admin.id, { isActive: false })).rejects.toMatchObject({
      status: 409,
    })
    await expect(fresh.users.update(admin.id, { role: 'user' })).rejects.toMatchObject({
      status: 409,
    })
    const second = await somebody(fresh)
    await fresh.users.update(second.id, { role: 'admin' })
    expect((await fresh.users.update(admin.id, { isActive: false }))?.isActive).toBe(false)
  })

  test('a revoked token finds no account, and another token of the account does', async () => {
    const user = await somebody(store)
    await store.users.revokeToken('ended', new Date(Date.now() + 60_000), nothingElse)
    await store.users.revokeToken('ended', new Date(Date.now() + 60_000), nothingElse)
    expect(await store.users.findForSession(user.id, 'ended', '')).toBeUndefined()
    expect((await store.users.findForSession(user.id, 'open', ''))?.user.id).toBe(user.id)
  })

  test('a key is found by its hash, listed and removed by its owner only', async () => {
    const [owner, other] = [await somebody(store), await somebody(store)]
    const key = await store.apiKeys.create({
      userId: owner.id,
      name: 'laptop',
      prefix: 'nc-abcd',
      hash: newId<string>(),
      scopes: null,
      programTools: null,
      expiresAt: null,
      atMost: 1,
      mayCreate: () => {},
      after: nothingElse,
    })
    if (key === null) throw new Error('there was room for a key')
    expect((await store.apiKeys.findByHash(key.hash))?.user.id).toBe(owner.id)
    expect(await store.apiKeys.list(other.id)).toEqual([])
    expect(await store.apiKeys.remove(other.id, key.id, nothingElse)).toBe(false)
    const now = new Date()
    await store.apiKeys.touch(key.id, now)
    await store.apiKeys.touch(key.id, new Date(now.getTime() + 1_000))
    expect(await store.apiKeys.list(owner.id)).toEqual([{ ...key, lastUsedAt: now }])
    await store.apiKeys.touch(key.id, new Date(now.getTime() + 61_000))
    expect((await store.apiKeys.findByHash(key.hash))?.key.lastUsedAt?.getTime()).toBe(
      now.getTime() + 61_000,
    )
    expect(await store.apiKeys.remove(owner.id, key.id, nothingElse)).toBe(true)
    expect(await store.apiKeys.findByHash(key.hash)).toBeUndefined()
  })

  test('a request authenticated before a password change cannot create a key after it', async () => {
    const fresh = createStore(await open())
    const keys = createApiKeys(fresh)
    await somebody(fresh, 'administrator')
    const before = await somebody(fresh)
    await keys.create(before, named('while the password is the old one'), COMMAND_LINE)
    // Both at the same time, then another attempt afterwards.
    const [early] = await Promise.allSettled([
      keys.create(before, named('at the same moment'), COMMAND_LINE),
      fresh.users.update(before.id, { passwordHash: 'new', revokeKeys: true }),
    ])
    const late = keys.create(before, named('afterwards'), COMMAND_LINE)
    await expect(late).rejects.toMatchObject({ code: 'unauthorized' })
    expect(await keys.list(before.id), early.status).toEqual([])
    const after = await fresh.users.find(before.id)
    if (after === undefined) throw new Error('the account is there')
    await keys.create(after, named('with the new password'), COMMAND_LINE)
    await fresh.users.update(before.id, { isActive: false })
    await expect(keys.create(after, named('disabled'), COMMAND_LINE)).rejects.toMatchObject({
      code: 'unauthorized',
    })
  })

  test('the pages of the accounts list each account once, newest first', async () => {
    const fresh = createStore(await open())
    for (let n = 0; n < 5; n += 1) await somebody(fresh, `person-${n}`)
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await fresh.users.list({ limit: 2, cursor })
      seen.push(...page.items.map(({ username }) => username))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(seen.toSorted()).toEqual(['person-0', 'person-1', 'person-2', 'person-3', 'person-4'])
    await expect(fresh.users.list({ limit: 2, cursor: 'AAAA' })).rejects.toMatchObject({
      code: 'bad_cursor',
    })
  })
})
