// Python in a conversation, from the files of a project to an image in the answer, and stopping a program.
import { beforeAll, expect, test } from 'vitest'
import { scripted } from '../../support/provider/scripted.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'

const upstream = await useUpstream()

let server: TestServer
const { start } = useServers()

beforeAll(async () => {
  server = await start({ config: scripted(upstream) })
})

const isResult = ({ event, data }: { event: string; data: { type?: string } }) =>
  event === 'process_step' && data.type === 'tool_result'

async function send(settings: object) {
  const { json } = await server.call('POST', '/api/conversations', { body: settings })
  return openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
    body: { text: 'Go', stream_mode: 'delta' },
  })
}

test('the list of tools names the active isolation', async () => {
  const { json } = await server.call('GET', '/api/tools')
  const tool = json.data.tools.find(
    (listed: { function: { name: string } }) => listed.function.name === 'execute_python',
  )
  expect(tool).toMatchObject({ category: 'code', risk_level: 'low' })
  expect(tool.isolation).toMatch(/^(kernel|wasm)$/)
})

test('a program reads a CSV file of the project and returns an image to the user', async () => {
  const project = await server.call('POST', '/api/projects', { body: { name: 'Prices' } })
  const { id } = project.json.data
  const written = await server.call('PUT', `/api/projects/${id}/files/data/prices.csv`, {
    body: { content: 'price\n1\n2\n6\n' },
  })
  expect(written.status).toBe(200)
  upstream.enqueue(
    turn.toolCalls([
      {
        name: 'execute_python',
        arguments: {
          code: `import csv, statistics
rows = list(csv.DictReader(open('/workspace/data/prices.csv')))
open('/output/plot.svg', 'w').write('<svg xmlns="http://www.w3.org/2000/svg"/>')
print('rows:', len(rows))
statistics.mean(float(row['price']) for row in rows)`,
          files: ['data/*.csv'],
        },
      },
    ]),
    turn.text('Three on average.'),
  )
  const stream = await send({ project_id: id })
  const { data } = await stream.next(isResult)
  expect(JSON.parse(data.content)).toMatchObject({
    success: true,
    data: { stdout: 'rows: 3\n', result: 3, files: [{ name: 'plot.svg', mime: 'image/svg+xml' }] },
  })
  expect(data.artifact.files[0].data).toMatch(/^data:image\/svg\+xml;base64,/)
  const events = await stream.all()
  expect(
    events.filter(({ event }) => event === 'tool_progress').map(({ data }) => data.progress),
  ).toContainEqual({ kind: 'output', stream: 'stdout', text: 'rows: 3\n' })
  expect(events.at(-1)?.event).toBe('done')
})

test('an endless loop streams its output, does not disturb another chat, and ends when the run is stopped', async () => {
  upstream.enqueue(
    turn.toolCalls([
      {
        name: 'execute_python',
        arguments: { code: 'print("on")\nwhile True:\n    pass' },
      },
    ]),
    turn.text('The other chat.'),
  )
  const looping = await send({})
  const run = await looping.next(({ event }) => event === 'run')
  await looping.next(
    ({ event, data }) => event === 'tool_progress' && data.progress.text === 'on\n',
  )
  const other = await (await send({})).all()
  expect(other.at(-1)).toMatchObject({ event: 'done', data: { finish_reason: 'stop' } })
  const stopped = await server.call('POST', `/api/runs/${run.data.run_id}/stop`)
  expect(stopped.json.data).toMatchObject({ status: 'stopped' })
  expect((await looping.all()).at(-1)).toMatchObject({
    event: 'done',
    data: { finish_reason: 'stopped' },
  })
})

test('a program that asks for more than the default strictness waits for approval', async () => {
  upstream.enqueue(
    turn.toolCalls([
      { name: 'execute_python', arguments: { code: 'import os\n1', strictness: 'lenient' } },
    ]),
    turn.text('Fine.'),
  )
  const stream = await send({})
  const { data } = await stream.next(({ event }) => event === 'approval_required')
  expect(data).toMatchObject({ name: 'execute_python', risk_level: 'high' })
  expect(data.preview.code).toBe('import os\n1')
  const response = await server.call('POST', `/api/runs/${data.run_id}/approvals`, {
    body: { id_ref: data.id_ref, decision: 'approve' },
  })
  expect(response.status).toBe(200)
  const result = await stream.next(isResult)
  expect(JSON.parse(result.data.content)).toMatchObject({ success: true, data: { result: 1 } })
  await stream.all()
})
