// The example clients of examples/, run against a real server, so that they keep working.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { freePort } from '../support/server/free-port.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

const examples = resolve(import.meta.dirname, '../../examples')

const { start } = useServers()
let server: TestServer
beforeAll(async () => {
  server = await start({ config: { network: { allow_private: ['127.0.0.1'] } } })
})

const run = (program: string, file: string): Promise<string | null> =>
  new Promise((done, fail) => {
    const child = spawn(program, [resolve(examples, file), 'What is 12 * 34?'], {
      env: { PATH: process.env.PATH ?? '', NANOCLAW_URL: server.url },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk
      })
    child.on('error', (error) =>
      'code' in error && error.code === 'ENOENT' ? done(null) : fail(error),
    )
    child.on('close', (status) => (status === 0 ? done(output) : fail(new Error(output))))
  })

test.each([
  ['bash', 'chat.sh'],
  [process.execPath, 'chat.mjs'],
  ['python3', 'chat.py'],
])('%s %s shows the tool call and the answer', async (program, file) => {
  const output = await run(program, file)
  if (output === null) return console.warn(`${program} is not installed: ${file} was not tried`)
  expect(output).toContain('calculator')
  expect(output).toContain('408')
})

test('the webhook receiver prints a genuine event and refuses one signed with another secret', async () => {
  const freeUrl = `http://127.0.0.1:${await freePort()}`
  const created = await server.call('POST', '/api/webhooks', {
    body: { url: freeUrl, events: ['run.ended'] },
  })
  const { id, secret } = created.json.data
  const child = spawn(process.execPath, [resolve(examples, 'webhook.mjs')], {
    env: { PATH: process.env.PATH ?? '', WEBHOOK_SECRET: secret, PORT: new URL(freeUrl).port },
  })
  try {
    const [listening] = await once(child.stdout, 'data')
    expect(String(listening)).toContain(freeUrl)
    const printed = once(child.stdout, 'data')
    const sent = await server.call('POST', `/api/webhooks/${id}/test`)
    expect(sent.json.data).toMatchObject({ status: 'delivered', error: null })
    expect(String(await printed)).toContain('webhook.test')
    const other = await server.call('POST', '/api/webhooks', {
      body: { url: freeUrl, events: ['run.ended'] },
    })
    const forged = await server.call('POST', `/api/webhooks/${other.json.data.id}/test`)
    expect(forged.json.data).toMatchObject({ status: 'pending', params: { status: 401 } })
  } finally {
    child.kill()
  }
})
