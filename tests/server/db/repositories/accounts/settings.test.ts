// Settings, memories and stored long results.
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createStore, type Store } from '../../../../../server/db/store.ts'
import { newId } from '../../../../../server/lib/ids.ts'
import type { RunId } from '../../../../../server/protocol/ids.ts'
import { describeOnEachDatabase } from '../../../../support/store/databases.ts'
import { somebody } from '../../../../support/store/store-rows.ts'

describeOnEachDatabase('values of the store', (open) => {
  let store: Store
  beforeAll(async () => {
    store = createStore(await open())
  })

  test('a value is returned only if it fits its schema', async () => {
    const Size = z.object({ size: z.int() })
    expect(await store.settings.get('window', Size)).toBeUndefined()
    await store.settings.put('window', { size: 1 })
    await store.settings.put('window', { size: 2 })
    expect(await store.settings.get('window', Size)).toEqual({ size: 2 })
    await store.settings.put('window', 'something else')
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

  test('the handle of a long result is valid in its conversation only', async () => {
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
