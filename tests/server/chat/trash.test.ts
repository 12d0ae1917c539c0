// The trash over HTTP on both databases: deleting and restoring, bulk changes, and temporary conversations.
import { beforeEach, expect, test } from 'vitest'
import { purgeDeleted } from '../../../server/administration/retention.ts'
import { createStore } from '../../../server/db/store.ts'
import type { ConversationId } from '../../../server/protocol/ids.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer } from '../../support/server/server.ts'
import { useTwoAccounts } from '../../support/server/two-accounts.ts'
import { describeOnEachDatabase, silentLog } from '../../support/store/databases.ts'
import { chatRun, say, somebody } from '../../support/store/store-rows.ts'

const upstream = await useUpstream()

describeOnEachServer('the trash', (start) => {
  const accounts = useTwoAccounts(start, {
    models: [{ id: 'scripted', api_url: upstream.url }],
    titles: 'off',
    // Without a page, a temporary conversation is removed after a twentieth of this.
    limits: { temporary_minutes: 0.6 },
  })
  const { call } = accounts
  beforeEach(() => {
    upstream.program(({ messages }) => {
      const question = String(messages.findLast(({ role }) => role === 'user')?.content)
      return question.includes('endless')
        ? turn.cut(turn.text('The pelican flies and flies and flies.'), 4, 'stall')
        : turn.text('The pelican landed.')
    })
  })
  const create = async (body: object = {}): Promise<string> =>
    (await call('POST', '/api/conversations', body)).json.data.id
  const ask = (id: string, text = 'Where is the pelican?') =>
    call('POST', `/api/conversations/${id}/messages`, { text, stream: false })
  const listed = async (query = ''): Promise<string[]> =>
    (await call('GET', `/api/conversations?limit=100${query}`)).json.data.items.map(
      ({ id }: { id: string }) => id,
    )
  const found = async (q: string): Promise<string[]> =>
    (await call('GET', `/api/search?q=${q}`)).json.data.items.map(
      (hit: { conversation_id: string }) => hit.conversation_id,
    )

  test('a deleted conversation is only in the trash, and is complete after it is restored', async () => {
    const id = await create({ title: 'A heron at dawn' })
    await ask(id)
    const share = await call('POST', `/api/conversations/${id}/share`, {})
    const shared = `/api/shared/${share.json.data.token}`
    expect((await call('DELETE', `/api/conversations/${id}`)).json).toMatchObject({ code: 0 })

    expect(await listed()).not.toContain(id)
    const [item] = (await call('GET', '/api/conversations?trashed=true')).json.data.items
    expect(item).toMatchObject({ id, title: 'A heron at dawn', message_count: 2 })
    expect(Date.parse(item.deleted_at)).toBeGreaterThan(0)
    expect(await found('heron')).toEqual([])
    expect((await call('GET', '/api/shares')).json.data.items).toEqual([])
    const refused = [
      await call('GET', `/api/conversations/${id}`),
      await call('PATCH', `/api/conversations/${id}`, { title: 'Other' }),
      await call('DELETE', `/api/conversations/${id}`),
      await call('GET', `/api/conversations/${id}/messages`),
      await call('GET', `/api/conversations/${id}/export?format=json`),
      await ask(id),
      await call('GET', shared),
      await call('POST', `/api/conversations/${id}/restore`, {}, accounts.bob),
    ]
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 404))

    const restored = await call('POST', `/api/conversations/${id}/restore`)
    expect(restored.json.data).toMatchObject({ id, deleted_at: null, message_count: 2 })
    expect(await listed('&trashed=true')).not.toContain(id)
    expect(await listed()).toContain(id)
    expect(await found('heron')).toEqual([id])
    expect((await call('GET', shared)).status).toBe(200)
    const { items } = (await call('GET', `/api/conversations/${id}/messages`)).json.data
    expect(items.map(({ text }: { text: string }) => text)).toEqual([
      'Where is the pelican?',
      'The pelican landed.',
    ])
    expect((await ask(id, 'And now?')).status).toBe(200)
  })

  test('permanent deletion leaves nothing to restore, inside or outside the trash', async () => {
    const [kept, trashed] = [await create(), await create()]
    await call('DELETE', `/api/conversations/${trashed}`)
    for (const id of [kept, trashed]) {
      expect((await call('DELETE', `/api/conversations/${id}?permanent=true`)).status).toBe(200)
      expect((await call('POST', `/api/conversations/${id}/restore`)).status).toBe(404)
      expect((await call('DELETE', `/api/conversations/${id}?permanent=true`)).status).toBe(404)
    }
    const [theirs] = [await create()]
    const path = `/api/conversations/${theirs}`
    expect((await call('DELETE', `${path}?permanent=true`, undefined, accounts.bob)).status).toBe(
      404,
    )
    expect((await call('DELETE', `${path}?permanent=perhaps`)).status).toBe(400)
    expect((await call('GET', path)).status).toBe(200)
  })

  test('deleting stops the run, which cannot be resumed until the conversation is restored', async () => {
    const id = await create()
    const stream = await openEvents(`${accounts.server.url}/api/conversations/${id}/messages`, {
      body: { text: 'An endless answer.', stream_mode: 'delta' },
      headers: { authorization: `Bearer ${accounts.ann}` },
    })
    const run = await stream.next(({ event }) => event === 'run')
    await stream.next(({ event }) => event === 'step_delta')
    await call('DELETE', `/api/conversations/${id}`)
    await stream.next(({ event }) => event === 'done' || event === 'error')
    const resume = `/api/runs/${run.data.run_id}/resume`
    expect((await call('POST', resume)).status).toBe(404)
    await call('POST', `/api/conversations/${id}/restore`)
    const { active_run_id: active } = (await call('GET', `/api/conversations/${id}`)).json.data
    expect(active).toBeNull()
  })

  test('the trash is listed last deleted first, page by page', async () => {
    const before = await listed('&trashed=true')
    const ids: string[] = []
    for (let made = 0; made < 5; made += 1) ids.unshift(await create())
    for (const id of ids.toReversed()) await call('DELETE', `/api/conversations/${id}`)
    const pages: string[] = []
    let cursor = ''
    do {
      const { data } = (await call('GET', `/api/conversations?trashed=true&limit=2${cursor}`)).json
      pages.push(...data.items.map(({ id }: { id: string }) => id))
      cursor = data.next_cursor === null ? '' : `&cursor=${data.next_cursor}`
    } while (cursor !== '')
    expect(pages).toEqual([...ids, ...before])
  })

  test("a bulk change affects the user's conversations and not those of others", async () => {
    const mine = [await create(), await create()]
    const theirs = (await call('POST', '/api/conversations', {}, accounts.bob)).json.data.id
    const bulk = async (action: string, ids = [...mine, theirs, ...mine]) =>
      (await call('POST', '/api/conversations/bulk', { ids, action })).json.data
    const state = async () =>
      (await call('GET', `/api/conversations/${mine[0]}`)).json.data ?? 'deleted'
    expect(await bulk('pin')).toEqual({ changed: mine, not_found: [theirs] })
    await call('PUT', '/api/conversations/pins', { ids: mine })
    await bulk('pin')
    expect(await state()).toMatchObject({ pinned: true, pin_position: 0 })
    await bulk('unpin')
    expect(await state()).toMatchObject({ pinned: false, pin_position: null })
    await bulk('archive')
    expect(await state()).toMatchObject({ pinned: false, archived: true })
    await bulk('unarchive')
    expect(await state()).toMatchObject({ archived: false })
    expect(await bulk('delete')).toEqual({ changed: mine, not_found: [theirs] })
    expect(await state()).toBe('deleted')
    expect(await bulk('restore')).toEqual({ changed: mine, not_found: [theirs] })
    expect(await listed()).toEqual(expect.arrayContaining(mine))
    await bulk('delete_permanently')
    expect(await bulk('restore', mine)).toEqual({ changed: [], not_found: mine })
    const wrong = { ids: mine, action: 'paint' }
    expect((await call('POST', '/api/conversations/bulk', wrong)).status).toBe(400)
    const untouched = await call('GET', `/api/conversations/${theirs}`, undefined, accounts.bob)
    expect(untouched.json.data).toMatchObject({ pinned: false, archived: false })
  })

  test('a temporary conversation is in no list or search, and is removed after its run once its user has no page open', async () => {
    const events = await fetch(`${accounts.server.url}/api/events`, {
      headers: { authorization: `Bearer ${accounts.bob}` },
    })
    // Held until the end: the garbage collection of a response closes its connection.
    const page = events.body?.getReader()
    const theirs = (await call('POST', '/api/conversations', { temporary: true }, accounts.bob))
      .json.data.id
    const statusOf = async (id: string, token?: string) =>
      (await call('GET', `/api/conversations/${id}`, undefined, token)).status
    const text = 'Where is the pelican?'
    await call(
      'POST',
      `/api/conversations/${theirs}/messages`,
      { text, stream: false },
      accounts.bob,
    )
    const id = await create({ temporary: true, title: 'A secret cormorant' })
    expect((await call('GET', `/api/conversations/${id}`)).json.data.temporary).toBe(true)
    expect(await listed()).not.toContain(id)
    expect(await found('cormorant')).toEqual([])
    const answered = await ask(id)
    expect(answered.json.data.message.text).toBe('The pelican landed.')
    await expect.poll(() => statusOf(id), { timeout: 60_000 }).toBe(404)
    expect(await statusOf(theirs, accounts.bob)).toBe(200)
    await page?.cancel()
    await expect.poll(() => statusOf(theirs, accounts.bob), { timeout: 60_000 }).toBe(404)
    const { run } = answered.json.data
    expect((await call('GET', `/api/runs/${run.id}`)).status).toBe(404)
    expect(await listed('&trashed=true')).not.toContain(id)
  })
})

describeOnEachDatabase('the purge', (open) => {
  test('removes only old trash and temporary conversations that no run needs, and goes on after one that it cannot remove', async () => {
    const database = await open()
    const store = createStore(database)
    const { id: userId } = await somebody(store)
    const day = 24 * 60 * 60 * 1000
    const now = new Date()
    const create = async (temporary = false) =>
      (await store.conversations.create(userId, { temporary })).id
    const inTrash = async (days: number): Promise<ConversationId> => {
      const id = await create()
      const deletedAt = new Date(now.getTime() - days * day)
      await database.write((tx) => store.trash.add(tx, id, deletedAt))
      return id
    }
    const [stuck, old, recent] = [await inTrash(31), await inTrash(31), await inTrash(29)]
    const ordinary = await create()
    const [unused, answering] = [await create(true), await create(true)]
    const message = await say(database, answering, 'Hello?', null)
    await database.write((tx) => store.runs.insert(tx, chatRun(userId, answering, message)))

    const removed: ConversationId[] = []
    const allRemoved = new Promise<void>((resolve) => {
      const stop = purgeDeleted({
        endLostAccess: async () => {},
        isSole: true,
        auditDays: 365,
        inspectorDays: 14,
        store,
        workspaces: { remove: async () => {} },
        chat: {
          async removeConversation(owner, id) {
            if (id === stuck) throw new Error('EACCES: permission denied')
            await store.conversations.remove(owner, id)
            removed.push(id)
            if (id === unused) {
              stop()
              resolve()
            }
          },
        },
        log: silentLog,
        // Two hours later, when an unused temporary conversation is due for removal.
        now: () => new Date(now.getTime() + 2 * 60 * 60 * 1000),
      })
    })
    await allRemoved
    expect(removed).toEqual([old, unused])
    const left = await store.trash.restore(userId, [stuck, old, recent])
    expect(left.toSorted()).toEqual([stuck, recent].toSorted())
    for (const id of [recent, ordinary, answering])
      expect(await store.conversations.find(userId, id)).toBeDefined()
  })
})
