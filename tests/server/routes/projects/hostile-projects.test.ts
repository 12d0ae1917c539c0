// Hostile requests to the project routes, and the host's private keys hidden from isolated programs.
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { bubblewrapArguments, detectBubblewrap } from '../../../../server/sandbox/bubblewrap.ts'
import { runProcess } from '../../../../server/sandbox/process.ts'
import { describeOnEachServer } from '../../../support/server/server.ts'

describeOnEachServer('projects', (start) => {
  test('text with NUL characters is refused wherever it would be stored or name a file', async () => {
    const { call } = await start()
    const { json } = await call('POST', '/api/projects', { body: { name: 'plain' } })
    const path = `/api/projects/${json.data.id}`
    const nul = 'a\0b'
    for (const [method, place, body] of [
      ['POST', '/api/projects', { name: nul }],
      ['POST', '/api/projects', { name: 'b', description: nul }],
      ['PUT', path, { name: nul }],
      ['POST', `${path}/search`, { query: nul }],
      ['POST', `${path}/search`, { query: 'a', path: nul }],
      ['POST', `${path}/directories`, { path: nul }],
      ['PATCH', `${path}/files/a`, { new_path: nul }],
    ] as const)
      expect((await call(method, place, { body })).status, `${method} ${place}`).toBe(400)
    expect((await call('GET', '/api/projects')).json.data.total).toBe(1)
  })

  test('a multipart boundary that is too long returns 400', async () => {
    const { url } = await start()
    const boundary = 'b'.repeat(300)
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request(
        `${url}/api/projects/upload`,
        {
          method: 'POST',
          headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        },
        (response) => {
          response.resume()
          resolve(response.statusCode)
        },
      )
      sent.on('error', reject)
      sent.end(`--${boundary}--\r\n`)
    })
    expect(status).toBe(400)
  })
})

const bubblewrap = await detectBubblewrap()
test.skipIf(!bubblewrap.available)(
  'an isolated program sees certificates but no private keys',
  async () => {
    if (!bubblewrap.available) return
    const { stdout } = await runProcess({
      command: bubblewrap.path,
      args: [
        ...(await bubblewrapArguments({ workingDirectory: '/tmp', network: 'none' })),
        '/bin/sh',
        '-c',
        'ls /etc/ssl',
      ],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      timeoutMs: 20_000,
      maxOutputBytes: 10_000,
    })
    expect(stdout).not.toContain('private')
  },
)
