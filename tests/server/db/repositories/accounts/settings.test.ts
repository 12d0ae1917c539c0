// Settings, memories, stored long results, sign-ins to MCP servers and repeatable responses.
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createSecretBox } from '../../../../../server/auth/secret-box.ts'
import type { Database } from '../../../../../server/db/database.ts'
import { createMcpGrantRepository } from '../../../../../server/db/repositories/accounts/mcp-grants.ts'
import { createStore, type Store } from '../../../../../server/db/store.ts'
import { newId } from '../../../../../server/lib/ids.ts'
import type { RunId } from '../../../../../server/protocol/ids.ts'
import { createMcpGrantStore } from '../../../../../server/tools/mcp/oauth/stored-grants.ts'
import { describeOnEachDatabase } from '../../../../support/store/databases.ts'
import { somebody } from '../../../../support/store/store-rows.ts'

describeOnEachDatabase('values of the store', (open) => {
  let database: Database
  let store: Store
  beforeAll(async () => {
    database = await open()
    store = createStore(database)
  })

  test('of the responses to repeatable requests, an account keeps the newest: 4 MB of bodies, 5,000 keys, the runs of 1,000', async () => {
    const { id: userId } = await somebody(store)
    const { idempotency } = store
    const row = (at: number): Parameters<typeof idempotency.claim>[0] => ({
      userId,
      key: `key ${at}`,
      fingerprint: 'a request',
      state: 'pending',
      status: null,
      sealedBody: null,
      runId: null,
      instance: 'here',
      createdAt: new Date(1_700_000_000_000 + at * 1_000),
    })
    const sealedBody = 'x'.repeat(1_500_000)
    for (const at of [1, 2, 3]) {
      expect(await idempotency.claim(row(at))).toBeNull()
      await idempotency.finish(row(at), { status: 200, sealedBody })
    }
    const stored = [1, 2, 3].map(async (at) => (await idempotency.claim(row(at)))?.sealedBody)
    expect(await Promise.all(stored)).toEqual([null, sealedBody, sealedBody])

    const many = Array.from({ length: 5_000 }, (_, at) => ({
      ...row(at + 10),
      state: 'finished' as const,
    }))
    await database.write(async (tx) => {
      for (let from = 0; from < many.length; from += 500)
        await tx.insert(database.tables.idempotencyKeys).values(many.slice(from, from + 500))
    })
    await idempotency.claim(row(9_000))
    await idempotency.finish(row(9_000), { status: 204, sealedBody: null })
    const isFree = async (at: number) => (await idempotency.claim(row(at))) === null
    expect([await isFree(3), await isFree(10), await isFree(11)]).toEqual([true, true, false])

    const withRuns = many.map(({ key, ...of }) => ({ ...of, key, runId: newId<RunId>() }))
    await database.write(async (tx) => {
      await tx.delete(database.tables.idempotencyKeys)
      for (let from = 0; from < withRuns.length; from += 500)
        await tx.insert(database.tables.idempotencyKeys).values(withRuns.slice(from, from + 500))
    })
    await idempotency.claim(row(9_000))
    await idempotency.bindRun(row(9_000), newId<RunId>())
    // A key beyond the thousand still says that its work was done, and keeps no conversation; one beyond 5,000 is free.
    const hasRun = async (at: number) => (await idempotency.claim(row(at)))?.runId != null
    expect([await hasRun(4_010), await hasRun(4_011), await hasRun(9_000)]).toEqual([
      false,
      true,
      true,
    ])
    expect([await isFree(10), await isFree(11)]).toEqual([true, false])
  })

  test('a sign-in to an MCP server started on one instance can be finished on another, once, within ten minutes', async () => {
    const [ada, eve] = [await somebody(store), await somebody(store)]
    let now = new Date('2026-01-01T00:00:00Z')
    const instance = () =>
      createMcpGrantStore(
        createMcpGrantRepository(database),
        createSecretBox(Buffer.alloc(32, 7)),
        () => now,
      )
    const pending = {
      server: 'calendar',
      url: 'https://calendar.example.org/mcp',
      issuer: 'https://login.example.org',
      client: { client_id: 'nanoclaw' },
      resource: 'https://calendar.example.org/mcp',
      codeVerifier: 'proves who began',
      redirectUri: 'https://chat.example.org/settings/mcp',
    }
    const [one, other] = [instance(), instance()]
    await one.savePending(ada.id, 'state-1', pending)
    const stored = JSON.stringify(await database.read.select().from(database.tables.mcpSignIns))
    expect(stored).not.toMatch(/state-1|proves|calendar/)
    expect(await other.consumePending(eve.id, 'state-1')).toBeUndefined()
    const taken = await Promise.all([
      other.consumePending(ada.id, 'state-1'),
      one.consumePending(ada.id, 'state-1'),
    ])
    expect(taken.filter((found) => found !== undefined)).toEqual([pending])

    await one.savePending(ada.id, 'state-2', pending)
    now = new Date('2026-01-01T00:10:00Z')
    expect(await other.consumePending(ada.id, 'state-2')).toBeUndefined()
    for (let count = 0; count < 25; count += 1)
      await one.savePending(eve.id, `many-${count}`, pending)
    const rows = await database.read.select().from(database.tables.mcpSignIns)
    expect(rows, 'the newest of one user; those that are over are gone').toHaveLength(20)

    const replaced = createMcpGrantStore(
      createMcpGrantRepository(database),
      createSecretBox(Buffer.alloc(32, 8)),
      () => now,
    )
    expect(await replaced.consumePending(eve.id, 'many-24'), 'another key').toBeUndefined()
  })

  test('a value is returned only if it fits its schema', async () => {
    const Size = z.object({ size: z.int() })
    expect(await store.settings.get('window', Size)).toBeUndefined()
    await store.settings.store('window', { size: 1 })
    await store.settings.store('window', { size: 2 })
    expect(await store.settings.get('window', Size)).toEqual({ size: 2 })
    await store.settings.store('window', 'something else')
    expect(await store.settings.get('window', Size)).toBeUndefined()
  })

  test('concurrent changes of a memory all take effect', async () => {
    const user = await somebody(store)
    await Promise.all(
      ['a', 'b', 'c'].map((fact) =>
        store.settings.changeMemory(user.id, (content) => `${content}${fact}`),
      ),
    )
    expect([...(await store.settings.memory(user.id))].toSorted()).toEqual(['a', 'b', 'c'])
  })

  test('the handle of a long result is valid only in its conversation', async () => {
    const user = await somebody(store)
    const [one, other] = [
      await store.conversations.create(user.id, {}),
      await store.conversations.create(user.id, {}),
    ]
    const content = 'long'.repeat(50_000)
    const handle = await store.toolResults.create({
      conversationId: one.id,
      runId: newId<RunId>(),
      content,
    })
    expect(await store.toolResults.find(one.id, handle)).toBe(content)
    expect(await store.toolResults.find(other.id, handle)).toBeUndefined()
    await store.conversations.remove(user.id, one.id)
    expect(await store.toolResults.find(one.id, handle)).toBeUndefined()
  })
})
