// Hostile Python in one conversation while another streams undisturbed: every program ends, no process remains.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startUpstream, type Upstream } from '../../support/provider/upstream.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { openEvents } from '../../support/server/events.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'

const { start } = useServers()
let upstream: Upstream
let server: TestServer

beforeAll(async () => {
  upstream = await startUpstream()
  const model = (id: string) => ({ id, api_url: upstream.url, api_key: 'key-of-the-tests' })
  server = await start({
    config: {
      models: [model('calm'), model('hostile')],
      titles: 'off',
      // No warm interpreters: they would look like leftover processes.
      code_execution: { pool_size: 0, default_strictness: 'lenient' },
    },
  })
})
afterAll(() => upstream.close())

/** Programs that must fail before their time limit get the longest one, as the machine may be busy. */
const hostile = [
  ['an endless loop', 'while True:\n    pass', 'strict', /time limit/],
  ['endless output', 'while True:\n    print("x" * 1000)', 'strict', /time limit/],
  ['a memory bomb', 'x = []\nwhile True:\n    x.append("x" * 10**7)', 'lenient', /memory/i],
  ['endless recursion', 'def f():\n    return f()\nf()', 'lenient', /RecursionError/],
  ['a huge integer', 'x = 9 ** (9 ** 8)\nstr(x)', 'strict', /time limit|ValueError|MemoryError/],
] as const

const send = async (model: string) => {
  const { json } = await server.call('POST', '/api/conversations', { body: { model } })
  return openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
    body: { text: 'Go.', stream_mode: 'delta' },
  })
}

/** Interpreter processes that this process has started for programs. */
async function interpreters(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'ppid=,args='])
  return stdout
    .split('\n')
    .filter((line) => line.trim().startsWith(`${process.pid} `) && line.includes('"mode":"serve"'))
}

test('while hostile programs run, another chat streams undisturbed, each program reports why it ended, and no process is left', async () => {
  upstream.enqueueFor(
    { model: 'hostile' },
    turn.toolCalls(
      hostile.map(([name, code, strictness]) => ({
        id: name.replaceAll(' ', '-'),
        name: 'execute_python',
        arguments: { code, strictness },
      })),
    ),
    turn.text('None of them worked.'),
  )
  const words = Array.from({ length: 80 }, (_, index) => `word-${index} `).join('')
  upstream.enqueueFor({ model: 'calm' }, turn.text(words, { chunkSize: 8, delayMs: 30 }))

  const troubled = await send('hostile')
  // Wait until a hostile program is running before the calm conversation begins.
  await troubled.next(
    ({ event, data }) => event === 'tool_progress' && data.progress?.state === 'running',
  )
  const calm = await send('calm')
  let text = ''
  for (let seen = 0; !/word-79 $/.test(text); ) {
    await calm.next(({ id }) => id > seen)
    for (const { id, event, data } of calm.events) {
      if (id <= seen) continue
      seen = id
      if (event === 'step_delta') text += data.delta
    }
  }
  expect(text).toBe(words)

  const events = await troubled.all()
  expect(events.at(-1)?.event).toBe('done')
  for (const [name, , , says] of hostile) {
    const result = events.find(
      ({ data }) => data.type === 'tool_result' && data.id_ref === name.replaceAll(' ', '-'),
    )
    const answer = JSON.parse(result?.data.content ?? '{}')
    expect(answer, name).toMatchObject({ success: false, error: expect.stringMatching(says) })
  }
  expect(await interpreters()).toEqual([])
})
