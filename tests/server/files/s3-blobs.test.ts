// The blob store in a bucket, against a real server: contents, ranges, garbage collection, backup, and the whole product on it.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import S3rver from 's3rver'
import sharp from 'sharp'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { checkBlobs } from '../../../server/doctor/checks/blobs.ts'
import { backupBlobs, restoreBlobs } from '../../../server/files/backup.ts'
import { createS3Blobs } from '../../../server/files/s3-blobs.ts'
import type { S3Settings } from '../../../server/files/s3-client.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { useServers } from '../../support/server/server.ts'
import { exportBundle, importFile } from '../../support/server/transfers.ts'
import { uploadFile } from '../../support/server/uploads.ts'

const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-s3-'))
const service = new S3rver({
  address: '127.0.0.1',
  port: 0,
  silent: true,
  directory: join(folder, 'buckets'),
  configureBuckets: [{ name: 'nanoclaw', configs: [] }],
})
let settings: S3Settings
beforeAll(async () => {
  const { port } = await service.run()
  settings = {
    endpoint: `http://127.0.0.1:${port}`,
    bucket: 'nanoclaw',
    region: 'us-east-1',
    // The keys of this server.
    accessKeyId: 'S3RVER',
    secretAccessKey: 'S3RVER',
    prefix: 'files/',
  }
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

const { start } = useServers()
const upstream = await useUpstream()

async function* pieces(text: string, count = 1): AsyncGenerator<Buffer> {
  for (let at = 0; at < count; at += 1) yield Buffer.from(text)
}
const open = (prefix: string) => createS3Blobs({ ...settings, prefix }, folder)
const listed = async (blobs: ReturnType<typeof open>): Promise<string[]> => {
  const found: string[] = []
  for await (const { sha256 } of blobs.list()) found.push(sha256)
  return found.sort()
}
const later = (): Date => new Date(Date.now() + 60_000)

test('content is stored once under its hash, and read completely or in part', async () => {
  const blobs = open('one/')
  const stored = await blobs.store(pieces('0123456789', 100_000))
  expect(stored.size).toBe(1_000_000)
  expect(await blobs.store(pieces('0123456789', 100_000))).toEqual(stored)
  const empty = await blobs.store(pieces('', 0))
  expect((await buffer(await blobs.open(stored.sha256))).length).toBe(1_000_000)
  const part = await buffer(await blobs.open(stored.sha256, { start: 13, end: 17 }))
  expect(part.toString()).toBe('3456')
  expect((await buffer(await blobs.open(empty.sha256))).length).toBe(0)
  expect(await listed(blobs)).toEqual([stored.sha256, empty.sha256].sort())
  await expect(blobs.open('0'.repeat(64))).rejects.toMatchObject({ reason: 'file_content_missing' })
  await expect(open('').has('../x')).rejects.toThrow(/no SHA-256/)
})

test('content and notes are stored by the dispatcher of a proxy, too', async () => {
  const before = getGlobalDispatcher()
  onTestFinished(() => setGlobalDispatcher(before))
  // One of the package; Node's own is more lenient.
  setGlobalDispatcher(new Agent())
  const blobs = open('proxied/')
  const stored = await blobs.store(pieces('0123456789', 10))
  await blobs.discard(stored.sha256, later())
  await blobs.restore(stored.sha256)
  expect((await buffer(await blobs.open(stored.sha256))).length).toBe(100)
  await blobs.writeNote('mark', 'here')
  expect(await blobs.readNote('mark')).toBe('here')
})

test('only content that was not stored again since is moved to the trash', async () => {
  const blobs = open('two/')
  const { sha256 } = await blobs.store(pieces('old'))
  expect(await blobs.discard(sha256, new Date(Date.now() - 60_000))).toBe(false)
  expect(await blobs.discard(sha256, later())).toBe(true)
  expect(await blobs.discard(sha256, later())).toBe(false)
  expect(await listed(blobs)).toEqual([])

  // From the trash, it is found when something reads it.
  expect((await buffer(await blobs.open(sha256))).toString()).toBe('old')
  expect(await listed(blobs)).toEqual([sha256])
  expect(await blobs.discard(sha256, later())).toBe(true)
  for await (const found of blobs.trash()) expect(found.sha256).toBe(sha256)
  await blobs.removeDiscarded(sha256)
  expect(await blobs.has(sha256)).toBe(false)
})

test('content that one instance is removing is stored by another only afterwards, and stays', async () => {
  const holders = new Map<string, string>()
  /** The claims of an instance; `whenAsked` is called before the removal. */
  const instance = (name: string, whenAsked: () => Promise<void> = async () => {}) => {
    const claims = {
      isShared: true,
      claim: async (work: string) => {
        const isFree = (holders.get(work) ?? name) === name
        if (isFree) holders.set(work, name)
        return isFree
      },
      finish: async (work: string) => {
        if (holders.get(work) === name) holders.delete(work)
      },
      holds: async (work: string) => {
        await whenAsked()
        return holders.get(work) === name
      },
    }
    return createS3Blobs({ ...settings, prefix: 'turns/' }, folder, claims)
  }
  const second = instance('b')
  let again: Promise<unknown> = Promise.resolve()
  const first = instance('a', async () => {
    again = second.store(pieces('again'))
  })
  const { sha256 } = await first.store(pieces('again'))
  expect(await first.discard(sha256, later())).toBe(true)
  await again
  expect(await second.has(sha256)).toBe(true)

  // An instance that pauses before the removal, so that another one takes its turn, removes nothing.
  const paused = instance('c', async () => {
    holders.clear()
    await second.store(pieces('again'))
  })
  expect(await paused.discard(sha256, later())).toBe(false)
  expect(await second.has(sha256)).toBe(true)

  // In one process, too.
  const alone = open('turns/')
  await Promise.all([alone.discard(sha256, later()), alone.store(pieces('again'))])
  expect(await alone.has(sha256)).toBe(true)
  expect(holders.size).toBe(0)
})

test('content whose source fails is not stored', async () => {
  const blobs = open('three/')
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.from('half')
    throw new Error('the client left')
  }
  await expect(blobs.store(broken())).rejects.toThrow('the client left')
  expect(await listed(blobs)).toEqual([])
})

test('a backup of a bucket is restored into another one', async () => {
  const [from, to] = [open('four/'), open('five/')]
  const { sha256 } = await from.store(pieces('kept'))
  const backup = join(folder, 'backup.files')
  expect(await backupBlobs(from, backup)).toEqual({ bytes: 4 })
  expect(await backupBlobs(from, backup)).toEqual({ bytes: 0 })
  await restoreBlobs(backup, to)
  expect((await buffer(await to.open(sha256))).toString()).toBe('kept')
})

test('a server stores files in the bucket and serves them in parts, and the doctor finds missing ones', async () => {
  const database = join(folder, 'nanoclaw.db')
  const server = await start({
    config: {
      db_sqlite_file: database,
      s3: {
        endpoint: settings.endpoint,
        bucket: settings.bucket,
        region: settings.region,
        access_key_id: settings.accessKeyId,
        secret_access_key: settings.secretAccessKey,
        prefix: settings.prefix,
      },
    },
  })
  const { data } = (await uploadFile(server.url, 'note.txt', 'a heron at dawn')).json
  expect(await listed(open(settings.prefix))).toEqual([data.sha256])
  const part = await fetch(`${server.url}/api/files/${data.id}`, {
    headers: { range: 'bytes=2-6' },
  })
  expect([part.status, await part.text()]).toEqual([206, 'heron'])
  await server.close()

  const check = (s3: S3Settings) =>
    checkBlobs({ dialect: 'sqlite', file: database }, { folder, s3 })
  expect(await check(settings)).toMatchObject([{ state: 'ok', detail: '1, all stored' }])
  await open(settings.prefix).discard(data.sha256, later())
  expect(await check(settings)).toMatchObject([{ state: 'ok' }])
  await open(settings.prefix).removeDiscarded(data.sha256)
  expect(await check(settings)).toMatchObject([
    { state: 'warn', detail: expect.stringContaining('missing in the bucket nanoclaw') },
  ])
  const wrong = await check({ ...settings, secretAccessKey: 'wrong' })
  expect(JSON.stringify(wrong)).not.toContain('all stored')
  expect(await check({ ...settings, bucket: 'elsewhere' })).toMatchObject([
    { state: 'fail', params: { reason: 'there is no such bucket' } },
  ])
})

/** The service behind an address at which it can be down or refuse the key. */
async function startFront() {
  const front: { endpoint: string; refuses: { status: number; code: string } | null } = {
    endpoint: '',
    refuses: null,
  }
  const { port } = new URL(settings.endpoint)
  const server = createServer((incoming, response) => {
    if (front.refuses !== null) {
      incoming.resume()
      response.writeHead(front.refuses.status, { 'content-type': 'application/xml' })
      response.end(`<Error><Code>${front.refuses.code}</Code></Error>`)
      return
    }
    const { method, url, headers } = incoming
    const forwarded = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  front.endpoint = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  return front
}

test('while the bucket does not respond, uploads, downloads, shares, answers and exports say so, and work again afterwards', async () => {
  const front = await startFront()
  const server = await start({
    config: {
      titles: 'off',
      models: [{ id: 'seeing', api_url: upstream.url, vision: true }],
      s3: {
        endpoint: front.endpoint,
        bucket: settings.bucket,
        region: settings.region,
        access_key_id: settings.accessKeyId,
        secret_access_key: settings.secretAccessKey,
        prefix: 'down/',
      },
    },
  })
  const picture = await sharp({ create: { width: 9, height: 9, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  const file = (await uploadFile(server.url, 'dot.png', picture)).json.data
  const call = async (method: string, path: string, body?: object) =>
    await server.call(method, path, { body })
  const { id } = (await call('POST', '/api/conversations', {})).json.data
  const ask = async () =>
    (
      await call('POST', `/api/conversations/${id}/messages`, {
        text: 'What is it?',
        stream: false,
        attachments: [{ file_id: file.id }],
      })
    ).json
  upstream.enqueue(turn.text('Red.'))
  await ask()
  const bundle = await exportBundle(server, '')
  const { token } = (await call('POST', `/api/conversations/${id}/share`, { include: ['files'] }))
    .json.data
  const shared = async () => await fetch(`${server.url}/api/shared/${token}/files/0`)
  expect((await shared()).status).toBe(200)

  front.refuses = { status: 503, code: 'ServiceUnavailable' }
  const named = { code: 503, error: 'store_unavailable', reason: 'blobs_unavailable' }
  expect((await uploadFile(server.url, 'note.txt', 'a heron')).json).toMatchObject(named)
  expect(await (await fetch(`${server.url}/api/files/${file.id}`)).json()).toMatchObject(named)
  expect(await (await shared()).json()).toMatchObject(named)
  const { data } = await ask()
  expect(data.run).toMatchObject({ status: 'failed', error: { reason: 'blobs_unavailable' } })
  expect((await exportBundle(server, '')).job).toMatchObject({
    status: 'failed',
    reason: 'blobs_unreachable',
  })
  await call('DELETE', `/api/conversations/${id}?permanent=true`)
  const imported = await importFile(server, '', { name: 'all.zip', content: bundle.bytes })
  expect(imported).toMatchObject({ status: 'failed', reason: 'blobs_unreachable' })

  front.refuses = null
  expect((await uploadFile(server.url, 'note.txt', 'a heron')).status).toBe(200)
  expect((await exportBundle(server, '')).job).toMatchObject({ status: 'completed' })

  front.refuses = { status: 403, code: 'InvalidAccessKeyId' }
  const s3 = { ...settings, endpoint: front.endpoint }
  expect(await checkBlobs({ dialect: 'sqlite', file: '/none' }, { folder, s3 })).toMatchObject([
    {
      state: 'fail',
      code: 'bucket_broken',
      params: { reason: 'it does not accept the key, or the key has no access to the bucket' },
    },
  ])
})
