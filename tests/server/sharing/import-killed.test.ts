// An import of a conversation whose process dies half-way: nobody takes what is left for a complete conversation.
import { expect, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { createStore } from '../../../server/db/store.ts'
import { ExportedConversation } from '../../../server/protocol/conversations/export.ts'
import { importJson } from '../../../server/sharing/import-json.ts'
import { unlimitedStorage } from '../../../server/workspace/storage-quota.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { somebody } from '../../support/store/store-rows.ts'

/** Longer than what one transaction stores. */
const LONG = 'word '.repeat(50_000)

/** The messages of this import have no attachments. */
const neverCalled = async (): Promise<never> => {
  throw new Error('no attachment was expected')
}

describeOnEachDatabase('an import that dies half-way', (open) => {
  test('is in no list, and the next start removes it', async () => {
    const database = await open()
    const store = createStore(database)
    const { id: userId } = await somebody(store)
    const given = ExportedConversation.parse({
      format: 'nanoclaw',
      version: 1,
      conversation: {
        title: 'Long',
        model: null,
        system_prompt: null,
        temperature: null,
        max_tokens: null,
        thinking_enabled: false,
        pinned: false,
        archived: false,
        tags: [],
        leaf_id: 'm3',
        created_at: '2026-11-22T12:00:00.000Z',
        updated_at: '2026-11-22T12:00:00.000Z',
      },
      messages: [0, 1, 2, 3].map((at) => ({
        id: `m${at}`,
        parent_id: at === 0 ? null : `m${at - 1}`,
        role: at % 2 === 0 ? 'user' : 'assistant',
        text: LONG,
        token_count: 1,
        model: null,
        status: 'completed',
        error: null,
        created_at: '2026-11-22T12:00:00.000Z',
        attachments: [],
        steps: [],
      })),
    })
    let died = (): void => {}
    const untilDead = new Promise<void>((resolve) => {
      died = resolve
    })
    let left = 3
    const dying: Database = {
      ...database,
      write: (work) => {
        left -= 1
        if (left >= 0) return database.write(work)
        died()
        return new Promise(() => {})
      },
    }
    const files = { addInline: neverCalled, remove: neverCalled }
    void importJson(
      { database: dying, store, files, storage: unlimitedStorage, hasModel: async () => true },
      userId,
      given,
    )
    await untilDead

    expect((await store.conversations.list(userId, { limit: 10 })).items).toEqual([])
    const due = await store.trash.dueTemporary(new Date(Date.now() + 1_000), null)
    expect(due).toMatchObject([{ userId }])
  })
})
