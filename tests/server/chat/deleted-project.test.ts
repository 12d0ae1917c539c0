// Deleting a project while runs work in it: the runs end, its folder stays gone, and no model sees a database error.

import { mkdtempSync, rmSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const root = mkdtempSync(join(tmpdir(), 'deleted-project-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }))

const upstream = await useUpstream()

/** Texts of database errors about a missing row. */
const DATABASE_TEXT = /constraint|foreign key|sqlite|postgres|relation "|insert into/i

describeOnEachServer('a project deleted while runs work in it', (start) => {
  let server: TestServer
  let workspaces: string
  beforeAll(async () => {
    workspaces = join(root, String(Math.random()))
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      workspace_root: workspaces,
      tools: { exec: { enabled: true } },
    })
  })

  /** Folders with this name in the folders of users; those that the server keeps for itself are left out. */
  const foldersNamed = async (id: string): Promise<string[]> => {
    const users = (await readdir(workspaces)).filter((name) => !name.startsWith('.'))
    const inside = await Promise.all(users.map((user) => readdir(join(workspaces, user))))
    return inside.flat().filter((name) => name === id)
  }
  const converse = async (project: string, text: string) => {
    const { json } = await server.call('POST', '/api/conversations', {
      body: { project_id: project, approval: 'auto_medium' },
    })
    const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
      body: { text, stream_mode: 'delta' },
    })
    const run = await stream.next(({ event }) => event === 'run')
    return { conversation: json.data.id, runId: run.data.run_id, stream }
  }

  test('ends runs that execute a command, write or wait for approval, and its folder does not reappear', async () => {
    const created = await server.call('POST', '/api/projects', { body: { name: 'Doomed' } })
    const project = created.json.data.id
    await server.call('PUT', `/api/projects/${project}/files/a.txt`, { body: { content: 'a' } })
    let count = 0
    upstream.program(({ messages }) => {
      const wish = String(messages.findLast(({ role }) => role === 'user')?.content)
      if (wish.includes('command'))
        return turn.toolCalls([
          {
            name: 'exec',
            arguments: {
              command: 'echo begun; while sleep 0.02; do mkdir -p "$PWD"; echo x >> busy.txt; done',
            },
          },
        ])
      if (wish.includes('wait'))
        return turn.toolCalls([{ name: 'file_delete', arguments: { path: 'a.txt' } }])
      // The next write starts as soon as the last one has returned.
      count++
      return turn.toolCalls([
        { name: 'file_write', arguments: { path: `${count}.txt`, content: 'text' } },
      ])
    })
    const waiting = await converse(project, 'wait')
    await waiting.stream.next(({ event }) => event === 'approval_required')
    const writing = await converse(project, 'write')
    await writing.stream.next(({ data }) => data.type === 'tool_result')
    const command = await server.call('POST', '/api/conversations', {
      body: { project_id: project, approval: 'auto' },
    })
    const commanding = await openEvents(
      `${server.url}/api/conversations/${command.json.data.id}/messages`,
      { body: { text: 'command', stream_mode: 'delta' } },
    )
    await commanding.next(({ event }) => event === 'tool_progress')

    expect(await foldersNamed(project)).toEqual([project])
    expect((await server.call('DELETE', `/api/projects/${project}`)).status).toBe(200)
    expect(await foldersNamed(project)).toEqual([])
    const endings = await Promise.all(
      [waiting.stream, writing.stream, commanding].map(async (stream) => {
        const events = await stream.all()
        for (const { data } of events) expect(JSON.stringify(data)).not.toMatch(DATABASE_TEXT)
        return events.at(-1)
      }),
    )
    for (const ending of endings)
      expect(ending).toMatchObject({
        event: 'error',
        data: { code: 'project_deleted', content: expect.stringContaining('was deleted') },
      })
    for (const { runId } of [waiting, writing]) {
      const { json } = await server.call('GET', `/api/runs/${runId}`)
      expect(json.data).toMatchObject({ pending_approvals: [] })
      expect(json.data.status).toBe('failed')
    }
    for (const { messages } of upstream.requests)
      expect(JSON.stringify(messages)).not.toMatch(DATABASE_TEXT)

    // A later message in one of the conversations gets the failure, and nothing recreates the folder.
    upstream.reset()
    upstream.enqueue(
      turn.toolCalls([{ name: 'file_write', arguments: { path: 'late.txt', content: 'late' } }]),
      turn.text('I could not.'),
    )
    const later = await openEvents(
      `${server.url}/api/conversations/${writing.conversation}/messages`,
      { body: { text: 'again', stream_mode: 'delta' } },
    )
    expect((await later.all()).at(-1)?.event).toBe('done')
    expect(JSON.stringify(upstream.requests.at(-1)?.messages)).not.toMatch(DATABASE_TEXT)
    expect(await foldersNamed(project)).toEqual([])
    expect(server.logged()).not.toMatch(/foreign key/i)
  })
})
