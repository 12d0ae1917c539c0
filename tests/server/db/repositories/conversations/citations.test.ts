// The stored results in which quotes are looked for.
import { expect, test } from 'vitest'
import { createStore } from '../../../../../server/db/store.ts'
import { newId } from '../../../../../server/lib/ids.ts'
import type { MessageId } from '../../../../../server/protocol/ids.ts'
import { describeOnEachDatabase } from '../../../../support/store/databases.ts'
import { addUser } from '../../../../support/store/rows.ts'

describeOnEachDatabase('the results of a conversation', (open) => {
  test('are found by their handle as it is written, and by the id of their call with what the page shows', async () => {
    const database = await open()
    const { citations, conversations } = createStore(database)
    const userId = await addUser(database)
    const { id: conversationId } = await conversations.create(userId, { title: 'T' })
    const other = await conversations.create(userId, { title: 'Other' })
    const messageId = newId<MessageId>()
    const { messages, steps } = database.tables
    const shared = { messageId, closed: true, skipped: false }
    const result = (handle: string) => JSON.stringify({ success: true, data: { handle } })
    const calls = [
      ['one', 'fetch_page', result('res_1')],
      ['two', 'result_read', result('res_1')],
      ['three', 'exec', result('resX1')],
      ['four', 'exec', result('RES_1')],
    ] as const
    await database.write(async (tx) => {
      await tx.insert(messages).values({
        id: messageId,
        conversationId,
        role: 'assistant',
        text: '',
        tokenCount: 0,
        status: 'completed',
        createdAt: new Date(),
      })
      for (const [index, [idRef, name, content]] of calls.entries()) {
        const call = { ...shared, idRef, name }
        await tx
          .insert(steps)
          .values({ ...call, position: 2 * index, type: 'tool_call', content: '{"url":"x"}' })
        const artifact = idRef === 'one' ? { display: 'A “page”' } : null
        await tx
          .insert(steps)
          .values({ ...call, position: 2 * index + 1, type: 'tool_result', content, artifact })
      }
    })
    expect(await citations.toolsByHandle(conversationId, 'res_1')).toEqual([
      'fetch_page',
      'result_read',
    ])
    expect(await citations.toolsByHandle(other.id, 'res_1')).toEqual([])
    expect(await citations.byId(conversationId, 'one')).toEqual([
      {
        name: 'fetch_page',
        arguments: '{"url":"x"}',
        content: result('res_1'),
        display: 'A “page”',
      },
    ])
    expect(await citations.byId(conversationId, 'three')).toMatchObject([{ display: 'exec' }])
  })
})
