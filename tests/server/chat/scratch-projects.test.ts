// The files of a conversation without a project: made with the first change, kept, trashed, deleted and restored with it.
import { mkdtempSync } from 'node:fs'
import { readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually } from '../../support/eventually.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer } from '../../support/server/server.ts'
import { useTwoAccounts } from '../../support/server/two-accounts.ts'
import { createTeam, toolMessages } from './agent-team.ts'

const upstream = await useUpstream()
const team = createTeam(upstream)
const MB = 1024 * 1024

const usersIn = async (root: string): Promise<string[]> =>
  (await readdir(root)).filter((name) => !name.startsWith('.'))

const ToolSent = z.object({ function: z.object({ name: z.string() }) })

const write = (path: string, content: string) => ({
  name: 'file_write',
  arguments: { path, content },
})
const calls = (...list: { name: string; arguments: object }[]) => [
  turn.toolCalls(list),
  turn.text('Done.'),
]

describeOnEachServer('files of a conversation without a project', (start) => {
  const root = mkdtempSync(join(tmpdir(), 'scratch-projects-'))
  afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 3 }))
  const accounts = useTwoAccounts(start, {
    workspace_root: root,
    // Without a page, a temporary conversation is removed after a twentieth of this.
    limits: { temporary_minutes: 0.6 },
    models: [{ id: 'scripted', api_url: upstream.url }],
    titles: 'off',
    tools: { exec: { enabled: true } },
  })
  const { call } = accounts
  const begin = async (more: object = {}) =>
    (await call('POST', '/api/conversations', { approval: 'auto', ...more })).json.data.id as string
  const read = async (id: string) => (await call('GET', `/api/conversations/${id}`)).json.data
  /** Answers with what the model received. */
  const send = async (id: string, turns: Parameters<typeof upstream.enqueue>, more = {}) => {
    const before = upstream.requests.length
    upstream.enqueue(...turns)
    const body = { text: 'Go on.', stream: false, ...more }
    const { status, json } = await call('POST', `/api/conversations/${id}/messages`, body)
    expect({ status, json }).toMatchObject({ status: 200 })
    return JSON.stringify(upstream.requests.slice(before).map(({ body }) => body.messages))
  }
  const scratchOf = async (id: string): Promise<string> => (await read(id)).scratch_project_id
  const fileNames = async (project: string) => {
    const { status, json } = await call('GET', `/api/projects/${project}/files`)
    return status === 200 ? json.data.files.map(({ name }: { name: string }) => name) : status
  }

  test('begin with the first change: a call that reads makes none and says so', async () => {
    const id = await begin()
    const said = await send(id, calls({ name: 'file_list', arguments: {} }))
    expect(said).toContain('This conversation has no files yet')
    expect(await scratchOf(id)).toBeNull()

    const written = await send(id, calls(write('notes.md', 'Hello')))
    expect(written).toContain('This conversation has no project. The file tools work on its own')
    const project = await scratchOf(id)
    expect(await fileNames(project)).toEqual(['notes.md'])
    expect((await call('GET', `/api/projects/${project}`)).json.data).toMatchObject({
      scratch: true,
    })
    // The next message knows the files, and the same project is used again.
    const next = await send(id, calls({ name: 'file_read', arguments: { path: 'notes.md' } }))
    expect(next).toContain('Top-level entries of the conversation: \\"notes.md\\"')
    expect(await scratchOf(id)).toBe(project)
    const { items } = (await call('GET', `/api/projects/${project}/checkpoints`)).json.data
    expect(items).toMatchObject([{ tool: 'file_write' }])
    expect(
      (await call('POST', `/api/projects/${project}/checkpoints/${items[0].id}/restore`)).status,
    ).toBe(200)
    expect(await fileNames(project)).toEqual([])
  })

  test('are made once by calls of the same moment, and read by later ones of the same answer', async () => {
    const id = await begin()
    const said = await send(id, [
      turn.toolCalls([write('a.txt', 'A'), write('b.txt', 'B'), write('c/d.txt', 'D')]),
      turn.toolCalls([{ name: 'file_read', arguments: { path: 'c/d.txt' } }]),
      turn.text('Done.'),
    ])
    expect(said).not.toContain('"success\\":false')
    expect(await fileNames(await scratchOf(id))).toEqual(['a.txt', 'b.txt'])
  })

  test('are in no list, and nobody else finds them or uses them elsewhere', async () => {
    const id = await begin()
    await send(id, calls(write('secret.txt', 'x')))
    const project = await scratchOf(id)
    const { items } = (await call('GET', '/api/projects')).json.data
    expect(items.map((item: { id: string }) => item.id)).not.toContain(project)
    const found = await call('GET', '/api/files/search?q=secret')
    expect(JSON.stringify(found.json)).not.toContain(project)
    for (const [method, path, body] of [
      ['GET', `/api/projects/${project}`, undefined],
      ['GET', `/api/projects/${project}/files`, undefined],
      ['GET', `/api/projects/${project}/files/secret.txt`, undefined],
      ['POST', `/api/projects/${project}/keep`, { name: 'Mine' }],
      ['DELETE', `/api/projects/${project}`, undefined],
    ] as const)
      expect((await call(method, path, body, accounts.bob)).status).toBe(404)

    const other = await begin()
    expect(
      (await call('PATCH', `/api/conversations/${other}`, { project_id: project })).status,
    ).toBe(404)
    expect((await call('POST', '/api/conversations', { project_id: project })).status).toBe(404)
    expect((await call('PUT', `/api/projects/${project}`, { name: 'New' })).status).toBe(409)
    const schedule = { name: 'S', text: 'T', when: { every: '1d' }, project_id: project }
    expect((await call('POST', '/api/schedules', schedule)).status).toBe(409)
  })

  test('become an ordinary project with the conversation in it', async () => {
    const id = await begin()
    await send(id, calls(write('plan.md', 'P')))
    const project = await scratchOf(id)
    await call('POST', '/api/projects', { name: 'Taken' })
    const keep = (name: string) => call('POST', `/api/projects/${project}/keep`, { name })
    expect(await keep('Taken')).toMatchObject({ status: 409, json: { error: 'name_taken' } })
    expect((await keep('Kept')).json.data).toMatchObject({ name: 'Kept', scratch: false })
    expect(await read(id)).toMatchObject({ project_id: project, scratch_project_id: null })
    const { items } = (await call('GET', '/api/projects')).json.data
    expect(items.map((item: { name: string }) => item.name)).toContain('Kept')
    expect((await keep('Again')).status).toBe(409)
    const said = await send(id, [turn.text('Yes.')])
    expect(said).toContain('named \\"Kept\\"')
  })

  test('go to the trash, come back and are deleted with the conversation', async () => {
    const id = await begin()
    await send(id, calls(write('t.txt', 'T')))
    const project = await scratchOf(id)
    await call('DELETE', `/api/conversations/${id}`)
    expect(await fileNames(project)).toBe(404)
    await call('POST', `/api/conversations/${id}/restore`)
    expect(await fileNames(project)).toEqual(['t.txt'])
    await call('DELETE', `/api/conversations/${id}`)
    await call('DELETE', `/api/conversations/${id}?permanent=true`)
    expect(await fileNames(project)).toBe(404)
  })

  test('work with approvals, and a conversation that moves to a project uses the files of that', async () => {
    const id = await begin({ approval: 'ask' })
    const answered = send(id, calls(write('asked.txt', 'A')))
    const waiting = await eventually(async () => {
      const { items } = (await call('GET', '/api/approvals')).json.data
      const own = items.find((item: { conversation_id: string }) => item.conversation_id === id)
      expect(own).toBeDefined()
      return own
    })
    expect(await scratchOf(id)).toBeNull()
    expect(waiting).toMatchObject({
      name: 'file_write',
      project_id: null,
      preview: { path: 'asked.txt', added: 1 },
    })
    const decision = { id_ref: waiting.id_ref, decision: 'approve' }
    expect((await call('POST', `/api/runs/${waiting.run_id}/approvals`, decision)).status).toBe(200)
    await answered
    await eventually(async () => expect((await read(id)).active_run_id).toBeNull())
    expect(await fileNames(await scratchOf(id))).toEqual(['asked.txt'])

    const { json } = await call('POST', '/api/projects', { name: `Other ${id}` })
    await call('PATCH', `/api/conversations/${id}`, { project_id: json.data.id })
    await send(id, calls(write('there.txt', 'T')), { approval: 'auto' })
    expect(await fileNames(json.data.id)).toEqual(['there.txt'])
    const before = await scratchOf(id)
    await call('PATCH', `/api/conversations/${id}`, { project_id: null })
    const said = await send(id, calls({ name: 'file_list', arguments: {} }))
    expect(said).toContain('asked.txt')
    expect(await scratchOf(id)).toBe(before)
  })

  test('are those of the whole conversation: what a sub-agent writes is among them', async () => {
    const id = await begin()
    await accounts.server.server.toolsReady
    team.parentAsksFor([{ name: 'writer', instruction: 'write it' }])
    team.subAgents((request) =>
      toolMessages(request).length === 0
        ? turn.toolCalls([write('by-agent.md', 'S')])
        : turn.text('Written.'),
    )
    await send(id, [])
    expect(await fileNames(await scratchOf(id))).toEqual(['by-agent.md'])
  })

  test('are removed with a temporary conversation', async () => {
    const id = await begin({ temporary: true })
    let finish = (): void => {}
    const until = new Promise<void>((resolve) => {
      finish = resolve
    })
    // The conversation stays at least as long as its answer.
    const answered = send(id, [
      turn.toolCalls([write('soon-gone.txt', 'T')]),
      turn.text('Done.', { until }),
    ])
    const project = await eventually(async () => {
      const found = await scratchOf(id)
      expect(await fileNames(found)).toEqual(['soon-gone.txt'])
      return found
    })
    const [user = ''] = await usersIn(root)
    expect(await readdir(join(root, user))).toContain(project)
    finish()
    await answered
    await eventually(async () => {
      expect(await fileNames(project)).toBe(404)
      expect(await readdir(join(root, user))).not.toContain(project)
    })
  })

  test('are written without a question where a grant of the conversation covers the call, also as a project', async () => {
    const id = await begin({ approval: 'ask' })
    const grant = {
      tool: 'file_write',
      match: { path: { glob: 'notes/*.md' }, content: { any: true } },
    }
    const place = { scope: 'conversation', scope_id: id }
    expect((await call('POST', '/api/grants', { ...grant, ...place })).status).toBe(200)
    await send(id, calls(write('notes/a.md', 'A')))
    const project = await scratchOf(id)
    const other = { scope: 'project', scope_id: project }
    expect((await call('POST', '/api/grants', { ...grant, ...other })).status).toBe(404)

    await call('POST', `/api/projects/${project}/keep`, { name: `Granted ${id}` })
    await send(id, calls(write('notes/b.md', 'B')))
    const { json } = await call('GET', `/api/projects/${project}/files?path=notes`)
    expect(json.data.files.map(({ name }: { name: string }) => name)).toEqual(['a.md', 'b.md'])
  })

  test('have at most 100 MB together, until they are a project', async () => {
    const id = await begin()
    await send(id, calls(write('folder/a.txt', 'A')))
    const project = await scratchOf(id)
    const [user = ''] = await usersIn(root)
    const large = join(root, user, project, 'large.bin')
    await writeFile(large, '')
    await truncate(large, 100 * MB)
    // The size is counted again after a folder was deleted.
    await call('DELETE', `/api/projects/${project}/files/folder`)
    expect(await send(id, calls(write('b.txt', 'B')))).toContain('100 MB')
    const put = () => call('PUT', `/api/projects/${project}/files/b.txt`, { content: 'B' })
    expect(await put()).toMatchObject({ status: 413, json: { error: 'project_full' } })
    await call('POST', `/api/projects/${project}/keep`, { name: `Large ${id}` })
    expect((await put()).status).toBe(200)
  })

  test('hold what Python programs write, in the folder output, with a checkpoint', async () => {
    const id = await begin()
    const code =
      "open('/output/sums.csv', 'w').write('a,b')\nopen('/output/more.txt', 'w').write('x')"
    const said = await send(id, calls({ name: 'execute_python', arguments: { code } }))
    expect(said).toContain('output/sums.csv')
    const project = await scratchOf(id)
    const { json } = await call('GET', `/api/projects/${project}/files/output/sums.csv`)
    expect(json.data.content).toBe('a,b')
    const { items } = (await call('GET', `/api/projects/${project}/checkpoints`)).json.data
    expect(items).toMatchObject([{ tool: 'execute_python', file_count: 2 }])
    const again = "print(open('/workspace/output/sums.csv').read())"
    const read = { name: 'execute_python', arguments: { code: again, files: ['output/*'] } }
    expect(await send(id, calls(read))).toContain('a,b')
  })

  describe('for programs', () => {
    const complete = async (nanoclaw: object | undefined) => {
      const before = upstream.requests.length
      upstream.enqueue(turn.text('Hi.'))
      await call('POST', '/v1/chat/completions', {
        model: 'scripted',
        messages: [{ role: 'user', content: 'Hello' }],
        nanoclaw,
      })
      const tools = upstream.requests.slice(before).flatMap(({ body }) => body.tools ?? [])
      return tools.map((tool) => ToolSent.parse(tool).function.name)
    }

    test('exist only where the program asks for them', async () => {
      expect(await complete(undefined)).not.toContain('file_write')
      expect(await complete({ files: true })).toContain('file_write')
    })
  })
})
