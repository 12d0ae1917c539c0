// A model changes files of a project: changes are previewed, partly rejected, partly edited by the user, and reverted.
import { beforeAll, describe, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'

const upstream = await useUpstream()

describe('changes of a project in a conversation', () => {
  const { start } = useServers()
  let server: TestServer
  beforeAll(async () => {
    server = await start({
      config: { models: [{ id: 'scripted', api_url: upstream.url }], titles: 'off' },
    })
  })

  test('are approved one by one and undone back to before the message', async () => {
    const form = new FormData()
    form.set('name', 'Story')
    for (const name of ['a.txt', 'b.txt', 'c.txt'])
      form.append('files[]', new Blob([`${name}\n`]), `top/${name}`)
    const uploaded = await fetch(`${server.url}/api/projects/upload`, {
      method: 'POST',
      body: form,
    })
    const { data: project } = (await uploaded.json()) as { data: { id: string } }
    const fileText = async (name: string): Promise<string | undefined> =>
      (await server.call('GET', `/api/projects/${project.id}/files/${name}`)).json.data?.content

    upstream.enqueue(
      turn.toolCalls([
        {
          id: 'edit_a',
          name: 'edit_file',
          arguments: { path: 'a.txt', old: 'a.txt', new: 'edited' },
        },
        { id: 'delete_b', name: 'file_delete', arguments: { path: 'b.txt' } },
        { id: 'write_d', name: 'write_file', arguments: { path: 'd.txt', content: 'model' } },
      ]),
      turn.text('Done.'),
    )
    const created = await server.call('POST', '/api/conversations', {
      body: { project_id: project.id },
    })
    const stream = await openEvents(
      `${server.url}/api/conversations/${created.json.data.id}/messages`,
      { body: { text: 'Change the files', stream_mode: 'delta' } },
    )
    const started = await stream.next(({ event }) => event === 'run')
    const decisions: Record<string, object> = {
      edit_a: { decision: 'approve' },
      delete_b: { decision: 'reject', reason: 'b stays' },
      write_d: { decision: 'approve', arguments: { path: 'd.txt', content: 'person' } },
    }
    for (const [call, decision] of Object.entries(decisions)) {
      const { data } = await stream.next(
        ({ event, data: asked }) => event === 'approval_required' && asked.id_ref === call,
      )
      expect(data.preview.display).toBeTruthy()
      const response = await server.call('POST', `/api/runs/${started.data.run_id}/approvals`, {
        body: { id_ref: call, ...decision },
      })
      expect(response.status).toBe(200)
    }
    expect((await stream.all()).at(-1)?.event).toBe('done')
    expect(await Promise.all(['a.txt', 'b.txt', 'd.txt'].map(fileText))).toEqual([
      'edited\n',
      'b.txt\n',
      'person',
    ])
    const prompt = JSON.stringify(upstream.requests.at(-1)?.messages[0])
    expect(prompt).toContain('Story')

    const base = `/api/projects/${project.id}/checkpoints`
    const { items } = (await server.call('GET', base)).json.data
    expect(items.map(({ tool }: { tool: string }) => tool).sort()).toEqual([
      'file_edit',
      'file_write',
    ])
    for (const item of items)
      expect(item).toMatchObject({
        message_id: started.data.message_id,
        run_id: started.data.run_id,
      })
    const restored = await server.call('POST', `${base}/restore`, {
      body: { before_message_id: started.data.user_message_id },
    })
    expect(restored.json.data).toMatchObject({ restored: 2, checkpoint: { tool: 'restore' } })
    expect(await fileText('a.txt')).toBe('a.txt\n')
    expect(await fileText('d.txt')).toBeUndefined()

    const undo = `${base}/${restored.json.data.checkpoint.id}/restore`
    expect((await server.call('POST', undo)).json.data.restored).toBe(2)
    expect(await fileText('a.txt')).toBe('edited\n')
    upstream.expectDone()
  })
})
