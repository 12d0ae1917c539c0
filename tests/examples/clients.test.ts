// The example clients of examples/, run against a real server, so that they cannot rot.
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { type TestServer, useServers } from '../support/server.ts'

const { start } = useServers()
let server: TestServer
beforeAll(async () => {
  server = await start()
})

const run = (program: string, file: string): Promise<string | null> =>
  new Promise((done, fail) => {
    const child = spawn(
      program,
      [resolve(import.meta.dirname, '../../examples', file), 'What is 12 * 34?'],
      {
        env: { PATH: process.env.PATH ?? '', NANOCLAW_URL: server.url },
      },
    )
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
