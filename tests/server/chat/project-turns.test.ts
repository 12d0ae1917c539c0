// Exclusive access to a project: a command, a file tool of another conversation and a user change it one at a time.
import { expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer } from '../../support/server/server.ts'

const upstream = await useUpstream()

describeOnEachServer('concurrent changes of one project', (start) => {
  test('run one after another, and no file changes while a command runs', async () => {
    const server = await start({
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      tools: { exec: { enabled: true } },
    })
    const created = await server.call('POST', '/api/projects', { body: { name: 'Busy' } })
    const project = created.json.data.id
    const file = (name: string) => `/api/projects/${project}/files/${name}`
    const textOf = async (name: string): Promise<string | undefined> =>
      (await server.call('GET', file(name))).json.data?.content
    await server.call('PUT', file('a.txt'), { body: { content: 'old' } })

    const send = async (call: { name: string; arguments: object }) => {
      upstream.enqueue(turn.toolCalls([call]), turn.text('Done.'))
      const { json } = await server.call('POST', '/api/conversations', {
        body: { project_id: project, approval: 'auto' },
      })
      return await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
        body: { text: 'Go', stream_mode: 'delta' },
      })
    }
    const command = await send({
      name: 'exec',
      arguments: { command: 'cp a.txt before.txt; echo begun; sleep 2; cp a.txt after.txt' },
    })
    await command.next(({ event }) => event === 'tool_progress')
    // Without exclusive access, both would finish long before the command.
    const person = server.call('PUT', file('a.txt'), { body: { content: 'of a person' } })
    const other = await send({
      name: 'file_write',
      arguments: { path: 'b.txt', content: 'of a model' },
    })
    await Promise.all([command.all(), person, other.all()])
    expect(await Promise.all(['before.txt', 'after.txt', 'a.txt', 'b.txt'].map(textOf))).toEqual([
      'old',
      'old',
      'of a person',
      'of a model',
    ])
    const { json } = await server.call('GET', `/api/projects/${project}/checkpoints`)
    const changes = json.data.items.map(
      ({ tool, files }: { tool: string; files: { path: string }[] }) =>
        `${tool}: ${files.map(({ path }) => path).join(' ')}`,
    )
    // The checkpoint of the command contains its own changes only.
    expect(changes.slice(2)).toEqual(['exec: after.txt before.txt', 'editor_write: a.txt'])
    expect(changes.slice(0, 2).sort()).toEqual(['editor_write: a.txt', 'file_write: b.txt'])
    upstream.expectDone()
  })
})
