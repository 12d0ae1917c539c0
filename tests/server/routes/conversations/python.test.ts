// Programs that people run without the model: output, files, limits, and that they end with their request.
import { expect, test } from 'vitest'
import { eventually } from '../../../support/eventually.ts'
import { useServers } from '../../../support/server/server.ts'
import { useTwoAccounts } from '../../../support/server/two-accounts.ts'

const { start } = useServers()
const accounts = useTwoAccounts(
  // Without kernel isolation, as some machines have none. Endless programs run for 30 s unless they are stopped.
  (config) => start({ config }),
  { code_execution: { isolation: 'wasm', default_strictness: 'lenient' }, titles: 'off' },
)

const conversationOf = async (token = accounts.ann, fields: object = {}): Promise<string> =>
  (await accounts.call('POST', '/api/conversations', fields, token)).json.data.id
const run = (id: string, body: object, token = accounts.ann) =>
  accounts.call('POST', `/api/conversations/${id}/python`, body, token)

test('a program runs with the files of the project and returns its output and files; nothing is stored', async () => {
  const project = (await accounts.call('POST', '/api/projects', { name: 'Sales' })).json.data.id
  await accounts.call('PUT', `/api/projects/${project}/files/sales.csv`, { content: '12\n30\n' })
  const id = await conversationOf(accounts.ann, { project_id: project })
  const code = [
    'rows = [int(line) for line in open("/workspace/sales.csv")]',
    'open("/output/plot.svg", "w").write("<svg/>")',
    'print(len(rows), "rows")',
    'sum(rows)',
  ].join('\n')
  const ran = await run(id, { code, files: ['*.csv'] })
  expect(ran.status).toBe(200)
  expect(ran.json.data).toEqual({
    status: 'completed',
    stdout: '2 rows\n',
    stderr: '',
    result: 42,
    error: null,
    duration_ms: expect.any(Number),
    files: [
      {
        name: 'plot.svg',
        mime: 'image/svg+xml',
        size: 6,
        data: `data:image/svg+xml;base64,${Buffer.from('<svg/>').toString('base64')}`,
      },
    ],
    omitted_files: 0,
  })
  const raised = (await run(id, { code: 'print("before")\n1 / 0' })).json.data
  expect(raised).toMatchObject({ status: 'raised', stdout: 'before\n', files: [] })
  expect(raised.error).toContain('ZeroDivisionError')
  expect((await accounts.call('GET', `/api/conversations/${id}`)).json.data.message_count).toBe(0)
})

test('only the owner of a conversation runs programs in it, of a bounded size, and only where the tool and time are theirs', async () => {
  const id = await conversationOf()
  expect((await run(id, { code: '1' }, accounts.bob)).json).toMatchObject({
    reason: 'conversation_not_found',
  })
  expect((await run(id, { code: 'x'.repeat(200_001) })).status).toBe(400)
  expect((await run(id, { code: '1', files: ['a.csv'] })).json).toMatchObject({
    error: 'no_project',
  })

  const bobs = await conversationOf(accounts.bob)
  const bob = (await accounts.call('GET', '/api/auth/profile', undefined, accounts.bob)).json.data
  const user = `/api/admin/users/${bob.id}`
  await accounts.call('PATCH', user, { quota: { program_seconds_per_day: 0 } })
  expect((await run(bobs, { code: '1' }, accounts.bob)).json).toMatchObject({
    code: 429,
    reason: 'program_seconds_used_up',
  })
  await accounts.call('PATCH', user, { quota: { program_seconds_per_day: null } })
  const group = { name: 'No programs', tools: ['calculator'] }
  const { json } = await accounts.call('POST', '/api/admin/groups', group)
  await accounts.call('PUT', `/api/admin/groups/${json.data.id}/members/${bob.id}`)
  expect((await run(bobs, { code: '1' }, accounts.bob)).json).toMatchObject({
    code: 403,
    reason: 'python_unavailable',
  })
})

test('a user runs four programs at once, and each ends when its request is closed', async () => {
  const id = await conversationOf()
  const left = new AbortController()
  const endless = Array.from({ length: 5 }, () =>
    fetch(`${accounts.server.url}/api/conversations/${id}/python`, {
      method: 'POST',
      headers: { authorization: `Bearer ${accounts.ann}`, 'content-type': 'application/json' },
      body: JSON.stringify({ code: 'while True:\n    pass' }),
      signal: left.signal,
    }).then(
      (response) => `refused with ${response.status}`,
      () => 'closed',
    ),
  )
  expect(await Promise.race(endless)).toBe('refused with 429')
  const closedAt = performance.now()
  left.abort()
  expect((await Promise.all(endless)).sort()).toEqual([
    ...Array<string>(4).fill('closed'),
    'refused with 429',
  ])
  // This request needs a slot, but no interpreter.
  await eventually(async () =>
    expect((await run(id, { code: '1', files: ['a.csv'] })).json).toMatchObject({
      error: 'no_project',
    }),
  )
  // Otherwise they would have run until their time limit of 30 s.
  expect(performance.now() - closedAt).toBeLessThan(25_000)
})
