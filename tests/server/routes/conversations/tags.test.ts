// Tags of conversations over real HTTP, on both databases.
import { beforeAll, expect, test } from 'vitest'
import { describeOnEachServer, type TestServer } from '../../../support/server/server.ts'

describeOnEachServer('tags', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start()
  })
  const create = async (title: string, tags: unknown) =>
    await server.call('POST', '/api/conversations', { body: { title, tags } })
  const listed = async (query: string): Promise<string[]> =>
    (await server.call('GET', `/api/conversations?${query}`)).json.data.items.map(
      ({ title }: { title: string }) => title,
    )

  test('filter the list, are counted, and are removed with the conversation', async () => {
    const { id } = (await create('one', [' 旅行 ', 'work', 'Work'])).json.data
    await create('two', ['it\'s a \\ "tag" %'])
    await create('three', ['旅行'])
    expect(await listed(`tag=${encodeURIComponent('旅行')}`)).toEqual(['three', 'one'])
    expect(await listed(`tag=${encodeURIComponent('it\'s a \\ "tag" %')}`)).toEqual(['two'])
    expect(await listed('tag=nothing')).toEqual([])
    const patched = await server.call('PATCH', `/api/conversations/${id}`, {
      body: { tags: ['旅行', 'home'] },
    })
    expect(patched.json.data.tags).toEqual(['旅行', 'home'])
    const tags = async () => (await server.call('GET', '/api/tags')).json.data.items
    expect(await tags()).toEqual(
      [
        { tag: '旅行', count: 2 },
        { tag: 'home', count: 1 },
        { tag: 'it\'s a \\ "tag" %', count: 1 },
      ].sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1)),
    )
    await server.call('DELETE', `/api/conversations/${id}`)
    expect(await listed(`tag=${encodeURIComponent('旅行')}`)).toEqual(['three'])
    expect((await tags()).map(({ tag }: { tag: string }) => tag)).not.toContain('home')
  })

  test.each([
    [['']],
    [['x'.repeat(51)]],
    [Array.from({ length: 21 }, (_, at) => String(at))],
    ['work'],
  ])('the tags %j return 400', async (tags) => {
    expect((await create('bad', tags)).status).toBe(400)
  })
})
