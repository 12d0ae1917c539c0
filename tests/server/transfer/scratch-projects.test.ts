// Exports and imports of the files of conversations without a project, on both databases.
import { beforeAll, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'
import { exportBundle, importFile, zipOf } from '../../support/server/transfers.ts'

const upstream = await useUpstream()

describeOnEachServer('exported files of conversations without a project', (start) => {
  let server: TestServer
  let ann = ''
  let bob = ''
  beforeAll(async () => {
    server = await start({
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
    })
    ann = await register(server, 'ann')
    bob = await register(server, 'bob')
  })
  const get = async (path: string, token: string) => {
    const { status, json } = await server.call('GET', path, { token })
    return status === 200 ? json.data : status
  }
  /** A conversation in whose files the model has written. */
  const write = async (title: string, files: Record<string, string>): Promise<string> => {
    const body = { title, approval: 'auto' }
    const { id } = (await server.call('POST', '/api/conversations', { token: ann, body })).json.data
    const calls = Object.entries(files).map(([path, content]) => ({
      name: 'file_write',
      arguments: { path, content },
    }))
    upstream.enqueue(turn.toolCalls(calls), turn.text('Done.'))
    const sent = await server.call('POST', `/api/conversations/${id}/messages`, {
      token: ann,
      body: { text: 'Go on.', stream: false },
    })
    expect(sent).toMatchObject({ status: 200 })
    return id
  }
  const imported = async (title: string) =>
    (await get(`/api/conversations?q=${encodeURIComponent(title)}`, bob)).items[0]

  test('are in the bundle below their conversation, and the importing user gets them there again', async () => {
    const id = await write('Trip to Rome', { 'plan.md': 'Colosseum', 'days/one.md': 'Forum' })
    const path = `/api/conversations/${id}`
    const project = (await get(path, ann)).scratch_project_id
    await write('Other', { 'plan.md': 'Louvre' })
    // Of a project as well, which its conversation uses instead.
    const own = (
      await server.call('POST', '/api/projects', { token: ann, body: { name: 'Travel' } })
    ).json.data.id
    await server.call('PATCH', path, { token: ann, body: { project_id: own } })

    const { bytes, entries } = await exportBundle(server, ann)
    const text = (name: string) => Buffer.from(entries[name] ?? []).toString()
    expect(text(`conversations/${id}/files/plan.md`)).toBe('Colosseum')
    expect(text(`conversations/${id}/files/days/one.md`)).toBe('Forum')
    expect(Object.keys(entries).filter((name) => name.includes(project))).toEqual([])
    const alone = await exportBundle(server, ann, [id])
    expect(Object.keys(alone.entries)).toContain(`conversations/${id}/files/plan.md`)

    const job = await importFile(server, bob, { name: 'all.zip', content: bytes })
    expect(job).toMatchObject({
      status: 'completed',
      report: { conversations: 2, projects: 1, files: 3, skipped_total: 0 },
    })
    for (const [title, content] of [
      ['Trip to Rome', 'Colosseum'],
      ['Other', 'Louvre'],
    ] as const) {
      const { scratch_project_id } = await imported(title)
      const file = await get(`/api/projects/${scratch_project_id}/files/plan.md`, bob)
      expect(file).toMatchObject({ content })
    }
    const { scratch_project_id, project_name } = await imported('Trip to Rome')
    expect(project_name).toBe('Travel')
    expect(scratch_project_id).not.toBe(project)
    expect((await get('/api/projects', bob)).items).toHaveLength(1)

    const again = await importFile(server, bob, { name: 'all.zip', content: bytes })
    expect(again.report).toMatchObject({ conversations: 0, files: 0, projects: 0 })
    expect((await imported('Other')).scratch_project_id).not.toBeNull()
  })

  test('are not taken from an archive in which they leave their conversation or have none', async () => {
    const id = await write('Kept', { 'a.md': 'A' })
    const { entries } = await exportBundle(server, ann, [id])
    const zip = zipOf({
      ...entries,
      [`conversations/${id}/files/../../../b.md`]: 'B',
      'conversations/nobody/files/c.md': 'C',
    })
    const { report } = await importFile(server, bob, { name: 'changed.zip', content: zip })
    expect(report).toMatchObject({ conversations: 1, files: 1, skipped_total: 1 })
    const { scratch_project_id } = await imported('Kept')
    const { files } = await get(`/api/projects/${scratch_project_id}/files`, bob)
    expect(files.map(({ name }: { name: string }) => name)).toEqual(['a.md'])
  })
})
