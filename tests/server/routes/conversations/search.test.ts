// The search over real HTTP, on both databases.
import { expect, test } from 'vitest'
import { describeOnEachServer } from '../../../support/server/server.ts'
import { useTwoAccounts } from '../../../support/server/two-accounts.ts'

describeOnEachServer('search', (start) => {
  const accounts = useTwoAccounts(start)
  const { call } = accounts
  const find = (query: string, token?: string) =>
    call('GET', `/api/search?${query}`, undefined, token)

  test('a sent message and its answer are found with their location, by their owner only', async () => {
    const { id } = (
      await accounts.server.call('POST', '/api/conversations', { body: {}, token: accounts.ann })
    ).json.data
    await accounts.server.call('POST', `/api/conversations/${id}/messages`, {
      body: { text: 'What time is it in Zanzibar?', stream: false },
      token: accounts.ann,
    })
    const { status, json } = await find('q=zanzibar&type=message')
    expect(status).toBe(200)
    expect(json.data).toMatchObject({ has_more: false, next_cursor: null, indexed: 1 })
    const mine = json.data.items.find((item: { role: string }) => item.role === 'user')
    expect(mine).toMatchObject({
      type: 'message',
      conversation_id: id,
      message_id: expect.any(String),
      project_id: null,
      snippet: 'What time is it in <mark>Zanzibar</mark>?',
      created_at: expect.stringMatching(/Z$/),
    })
    expect((await find('q=zanzibar', accounts.bob)).json.data.items).toEqual([])
  })

  test('an empty query, an unknown type and an invalid cursor return 400', async () => {
    for (const query of [
      '',
      'q=',
      'q=a&type=other',
      'q=a&cursor=zz',
      'q=a&from=soon',
      'q=a&limit=0',
    ])
      expect((await find(query)).status, query).toBe(400)
  })
})
