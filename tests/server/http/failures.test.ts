// Every refusal of a request has a reason in the protocol's list, and the response carries it with its parameters.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { appError } from '../../../server/errors.ts'
import { type App, createApp } from '../../../server/http/app.ts'
import { failures } from '../../../server/protocol/failures/failures.ts'

/** May throw without a listed reason: texts of providers, for models, and for operators at a start or a command. */
const WITHOUT_REASON = [
  'agent/loop.ts',
  'auth/secret-box.ts',
  'chat/start-run.ts',
  'db/backup.ts',
  'db/inspect.ts',
  'db/migrate.ts',
  'db/postgres/backup.ts',
  'db/postgres/connect.ts',
  'db/sqlite/connect.ts',
  'errors.ts',
  'llm/catalog.ts',
  'llm/failure.ts',
  'owner/',
  'runs/end/end-broken.ts',
  'runs/worker.ts',
  'tools/',
  'workspace/worker/worker-pool.ts',
]
const base = resolve(import.meta.dirname, '../../../server')
const sources = readdirSync(base, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
)
const textOf = (file: string) => readFileSync(join(base, file), 'utf8')

describe('the list of failures', () => {
  test('errors of requests have a reason from the list', () => {
    const without = sources.filter(
      (file) =>
        !WITHOUT_REASON.some((allowed) => file.startsWith(allowed)) &&
        textOf(file).includes('new AppError('),
    )
    expect(without).toEqual([])
  })

  test('every reason of the list is used somewhere', () => {
    const code = sources
      .filter((file) => !file.startsWith('protocol/failures/'))
      .map(textOf)
      .join('\n')
    expect(Object.keys(failures).filter((reason) => !code.includes(`'${reason}'`))).toEqual([])
  })
})

describe('a failed request', () => {
  let app: App
  let origin = ''
  beforeAll(async () => {
    app = createApp({ bodyLimit: 10_000 })
    app.post('/api/names', { schema: { body: z.object({ name: z.string() }) } }, async () => ({}))
    app.get('/api/full', async () => {
      throw appError('memory_too_long', { limit: 10, length: 12 })
    })
    app.get('/api/broken', async () => {
      throw new Error('canary')
    })
    app.get('/api/disk', async () => {
      throw Object.assign(new Error('canary'), { code: 'ENOSPC' })
    })
    origin = await app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(() => app.close())

  const failed = async (path: string, init?: RequestInit): Promise<unknown> =>
    (await fetch(origin + path, init)).json()
  const json = (body: string): RequestInit => ({
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })

  test('returns the reason and the parameters of its text', async () => {
    expect(await failed('/api/full')).toMatchObject({
      code: 413,
      error: 'payload_too_large',
      reason: 'memory_too_long',
      params: { limit: 10, length: 12 },
      message: 'The memory can have at most 10 characters; this text has 12.',
    })
  })

  test.each([
    ['an address without a route', '/api/nowhere', undefined, 'nothing_here'],
    ['a body that is not JSON', '/api/names', json('{'), 'body_not_json'],
    ['a field of the wrong type', '/api/names', json('{"name":1}'), 'request_field_invalid'],
    ['a fault of the server', '/api/broken', undefined, 'internal'],
    ['a full disk', '/api/disk', undefined, 'store_full'],
  ])('has a reason for %s', async (_case, path, init, reason) => {
    expect(await failed(path, init)).toMatchObject({ reason })
  })
})
