// The files of a conversation without a project: made with the first change, kept, trashed, deleted and restored with it.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually } from '../../support/eventually.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer } from '../../support/server/server.ts'
import { useTwoAccounts } from '../../support/server/two-accounts.ts'

const upstream = await useUpstream()

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
  const accounts = useTwoAccounts(start, {
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
