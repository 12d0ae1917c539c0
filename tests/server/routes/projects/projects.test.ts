// Projects and their checkpoints over real HTTP.
import { describe, expect, test } from 'vitest'
import { file, useProjectServer } from './use-project-server.ts'

const server = useProjectServer()
const { everything, write, createProject } = server

describe('projects', () => {
  test('are created, listed with their number, shown with statistics, changed, and deleted with their folder', async () => {
    const created = await server.call('POST', '/api/projects', {
      body: { name: 'One', description: 'first', nonsense: true },
    })
    expect(created.status).toBe(200)
    const { id } = created.json.data
    expect(created.json.data).toMatchObject({
      name: 'One',
      description: 'first',
      stats: { files: 0 },
    })
    await write(id, 'src/a.txt', 'abc')
    const shown = await server.call('GET', `/api/projects/${id}`)
    expect(shown.json.data.stats).toEqual({ files: 1, directories: 1, total_size: 3 })
    const renamed = await server.call('PUT', `/api/projects/${id}`, {
      body: { name: '../Two', description: null },
    })
    expect(renamed.json.data).toMatchObject({ name: '../Two', description: null })
    const list = await server.call('GET', '/api/projects?limit=100')
    expect(list.json.data.items.some((item: { id: string }) => item.id === id)).toBe(true)
    expect(list.json.data.total).toBeGreaterThan(0)
    expect((await server.call('DELETE', `/api/projects/${id}`)).json).toEqual({
      code: 0,
      message: 'deleted',
    })
    expect((await server.call('GET', `/api/projects/${id}`)).status).toBe(404)
    const folders = (await everything()).filter((path) => path.endsWith(id))
    expect(folders).toEqual([])
  })

  test('with a name that is taken return 409, also for concurrent requests', async () => {
    const body = { name: 'Twice' }
    const responses = await Promise.all([
      server.call('POST', '/api/projects', { body }),
      server.call('POST', '/api/projects', { body }),
    ])
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('return 4xx for bad bodies and unknown ids', async () => {
    for (const body of [{}, { name: '' }, { name: 'x'.repeat(256) }, { name: 7 }, []])
      expect((await server.call('POST', '/api/projects', { body })).status).toBe(400)
    for (const id of ['nope', '..', '%2e%2e', 'x'.repeat(65)]) {
      const { status } = await server.call('GET', `/api/projects/${encodeURIComponent(id)}/files`)
      expect([400, 404]).toContain(status)
    }
  })
})

describe('checkpoints', () => {
  test('of every change by a user are listed, compared, restored and undone', async () => {
    const id = await createProject()
    const base = `/api/projects/${id}/checkpoints`
    await write(id, 'a.txt', 'one\n')
    await write(id, 'a.txt', 'two\n')
    await server.call('DELETE', file(id, 'a.txt'))
    const { items } = (await server.call('GET', base)).json.data
    expect(items.map(({ tool, files }: { tool: string; files: unknown }) => [tool, files])).toEqual(
      [
        ['editor_delete', [{ path: 'a.txt', change: 'deleted' }]],
        ['editor_write', [{ path: 'a.txt', change: 'modified' }]],
        ['editor_write', [{ path: 'a.txt', change: 'added' }]],
      ],
    )
    const diff = await server.call('GET', `${base}/${items[1].id}/diff`)
    expect(diff.json.data.files[0].diff).toContain('-one\n+two\n')
    const now = await server.call('GET', `${base}/${items[1].id}/diff?against=now`)
    expect(now.json.data.files).toEqual([
      { path: 'a.txt', change: 'deleted', diff: expect.stringContaining('-one\n') },
    ])
    const restored = await server.call('POST', `${base}/${items[1].id}/restore`)
    expect(restored.json.data).toMatchObject({ restored: 1, checkpoint: { tool: 'restore' } })
    expect((await server.call('GET', file(id, 'a.txt'))).json.data.content).toBe('one\n')
    await server.call('POST', `${base}/${restored.json.data.checkpoint.id}/restore`)
    expect((await server.call('GET', file(id, 'a.txt'))).status).toBe(404)
    const page = await server.call('GET', `${base}?limit=2`)
    expect(page.json.data).toMatchObject({ has_more: true })
    const next = await server.call('GET', `${base}?limit=100&cursor=${page.json.data.next_cursor}`)
    expect(next.json.data.items).toHaveLength(3)
    expect((await server.call('GET', `${base}?cursor=nonsense`)).status).toBe(400)
  })

  test('that do not exist, or of an unknown message, return 404', async () => {
    const id = await createProject()
    const base = `/api/projects/${id}/checkpoints`
    expect((await server.call('POST', `${base}/nope/restore`)).status).toBe(404)
    expect((await server.call('GET', `${base}/nope/diff`)).status).toBe(404)
    expect(
      (await server.call('POST', `${base}/restore`, { body: { before_message_id: 'nope' } }))
        .status,
    ).toBe(404)
    expect((await server.call('POST', `${base}/restore`, { body: {} })).status).toBe(400)
  })
})
