// Hostile input to projects and their files, and too much of it at once, is refused and changes nothing.
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { looksBinary } from '../../../server/lib/binary-bytes.ts'
import { newId } from '../../../server/lib/ids.ts'
import type { UserId } from '../../../server/protocol/ids.ts'
import { createUploadSlots } from '../../../server/routes/upload-slots.ts'
import { bubblewrapArguments, detectBubblewrap } from '../../../server/sandbox/bubblewrap.ts'
import { runProcess } from '../../../server/sandbox/process.ts'
import { createWorkerPool } from '../../../server/workspace/worker/worker-pool.ts'
import { describeOnEachServer } from '../../support/server.ts'

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

  test('a multipart boundary that is too long is refused as bad input', async () => {
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

test('one user, and all users together, have only so many uploads under way', async () => {
  const slots = createUploadSlots({ perUser: 2, inAll: 3 })
  const [one, other] = [newId<UserId>(), newId<UserId>()]
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const burst = Array.from({ length: 20 }, () => slots.run(one, () => ended))
  const otherBurst = Array.from({ length: 20 }, () => slots.run(other, () => ended))
  end()
  const outcomes = await Promise.allSettled([...burst, ...otherBurst])
  const codes = outcomes.map((outcome) =>
    outcome.status === 'fulfilled' ? 'served' : outcome.reason.code,
  )
  expect(codes.slice(0, 20)).toEqual(['served', 'served', ...Array(18).fill('too_many_requests')])
  expect(codes.slice(20)).toEqual(['served', ...Array(19).fill('server_busy')])
  expect(await slots.run(one, async () => 'again')).toBe('again')
})

test("one user's slow patterns leave a thread to everybody else", async () => {
  const pool = createWorkerPool(2)
  const stop = new AbortController()
  const find = { fixed: false, caseSensitive: true, limit: 1 }
  const slow = Array.from({ length: 3 }, () =>
    pool.run(
      'find',
      { ...find, pattern: '^(a+)+$', text: `${'a'.repeat(60)}!` },
      { timeoutMs: 600_000, signal: stop.signal, owner: 'greedy' },
    ),
  )
  const ended = Promise.allSettled(slow)
  // The slow ones would take for ever: this one comes to its end beside them or not at all.
  const found = await pool.run(
    'find',
    { ...find, pattern: 'a', text: 'a' },
    { timeoutMs: 600_000, owner: 'other' },
  )
  expect(found.matches).toHaveLength(1)
  stop.abort()
  expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  await pool.close()
})

test('bytes without NUL are known as binary, text in national encodings is not', () => {
  const noise = randomBytes(4_000).map((byte) => (byte === 0 ? 1 : byte))
  expect(looksBinary(noise)).toBe(true)
  expect(looksBinary(Buffer.from('naïve café\r\n\tfin', 'latin1'))).toBe(false)
  expect(looksBinary(Buffer.from([0xc4, 0xe3, 0xba, 0xc3, 0x0a]))).toBe(false)
  expect(looksBinary(Buffer.from('一段文字。'.repeat(2_000)))).toBe(false)
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
