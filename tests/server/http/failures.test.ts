// Every failure that a person sees has a reason in the protocol's lists; a response carries it with its parameters.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { appError, errorText } from '../../../server/errors.ts'
import { type App, createApp } from '../../../server/http/app.ts'
import { STORED_FAILURES } from '../../../server/protocol/failures/stored.ts'
import { FAILURES } from '../../../server/protocol/failures.ts'

/** Files that may throw an error without a listed reason, and who reads its text instead of a person at the page. */
const WITHOUT_REASON: Readonly<Record<string, string>> = {
  'auth/secret-keys.ts': 'the operator, at the start: the key of the installation is unusable',
  'auth/token-keys.ts': 'the operator, at the start: the file of keys is unusable',
  'commands/backup-bucket.ts': 'the operator, of the command `restore --bucket`',
  'commands/backup.ts': 'the operator, of the commands `backup` and `restore`',
  'commands/export.ts': 'the operator, of the command `export`',
  'commands/move.ts': 'the operator, of the command `move`',
  'commands/reset-push-key.ts': 'the operator, of the command `admin reset-push-key`',
  'commands/rollback.ts': 'the operator, of the command `rollback`',
  'commands/rotate-keys.ts': 'the operator, of the command `admin rotate-keys`',
  'commands/service.ts': 'the operator, of the command `service`',
  'commands/stopped-server.ts': 'the operator, of a command without a database',
  'db/backup.ts': 'the operator, of the commands `backup` and `restore`',
  'db/inspect.ts': 'the operator, of `doctor` and at the start',
  'db/migrate.ts': 'the operator, at the start: a newer version created the database',
  'db/move/backup-source.ts': 'the operator, of the commands `backup` and `restore`',
  'db/move/move.ts': 'the operator, of the command `move`',
  'db/move/postgres-end.ts': 'the operator, of the command `move`',
  'db/move/sqlite-end.ts': 'the operator, of the command `move`',
  'db/postgres/backup.ts': 'the operator, of the commands `backup` and `restore`',
  'db/postgres/errors.ts': 'the operator, at the start',
  'db/sqlite/connect.ts': 'the operator, at the start',
  'errors.ts': 'nobody: it defines `appError`',
  'files/backup-bucket.ts':
    'the operator, of scheduled backups and of the command `restore --bucket`',
  'files/backup-folder.ts': 'the operator, of the commands `backup` and `restore`',
  'files/backup.ts': 'the operator, of the commands `backup` and `restore`',
  'owner/owner.ts': 'the operator, at the start: another process owns the store',
  'owner/held-folders.ts': 'the operator, at the start: another process uses the folders',
  'owner/installation.ts': 'the operator, at the start',
  'owner/places.ts': 'the operator, at the start: a restore was interrupted',
  'owner/sqlite-lock.ts': 'the operator, at the start',
  'openai-api/run-failure.ts': 'a run that failed, with the text that it was stored with',
  'tools/builtin/files/files-write.ts': 'the model, as the result of its call',
  'tools/builtin/files/project-access.ts': 'the model, as the result of its call',
  'tools/builtin/programs/python-program.ts': 'the model, as the result of its call',
  'tools/builtin/programs/run-python.ts':
    'programs that use the API: the page names files only in a project',
  'tools/project-files.ts': 'the model, as the result of its call',
  'workspace/worker/worker-pool.ts': 'nobody new: it hands on the reason of a worker thread',
}
const base = resolve(import.meta.dirname, '../../../server')
const sources = readdirSync(base, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
)
const textOf = (file: string) => readFileSync(join(base, file), 'utf8')

describe('the list of failures', () => {
  test('errors of requests and of runs have a reason from the list', () => {
    const without = sources.filter((file) => textOf(file).includes('new AppError('))
    expect(without.toSorted()).toEqual(Object.keys(WITHOUT_REASON).toSorted())
  })

  test('every reason of the list is used somewhere', () => {
    const code = sources
      .filter((file) => !file.startsWith('protocol/failures/'))
      .map(textOf)
      .join('\n')
    const reasons = [...Object.keys(FAILURES), ...Object.keys(STORED_FAILURES)]
    expect(reasons.filter((reason) => !code.includes(`'${reason}'`))).toEqual([])
  })
})

describe('a failed request', () => {
  let app: App
  let origin = ''
  beforeAll(async () => {
    app = createApp({ bodyLimit: 10_000 })
    app.post('/api/names', { schema: { body: z.object({ name: z.string() }) } }, async () => ({}))
    app.post(
      '/api/limits',
      {
        schema: {
          body: z.object({
            name: z.string().max(3),
            tags: z.array(z.string()).max(1),
            count: z.number().min(1),
            url: z.url(),
            code: z.string().regex(/^a$/),
            given: z.string(),
          }),
        },
      },
      async () => ({}),
    )
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

  test('says what is wrong with each field in words that a page can translate', async () => {
    const body = { name: 'long', tags: ['a', 'b'], count: 0, url: 'here', code: 'b' }
    expect(await failed('/api/limits', json(JSON.stringify(body)))).toMatchObject({
      reason: 'request_field_invalid',
      details: [
        { path: 'name', fault: 'too_long', limit: 3 },
        { path: 'tags', fault: 'too_many', limit: 1 },
        { path: 'count', fault: 'too_small', limit: 1 },
        { path: 'url', fault: 'url' },
        { path: 'code', fault: 'form' },
        { path: 'given', fault: 'missing' },
      ],
    })
  })

  test('returns the reason and the parameters of its text', async () => {
    expect(await failed('/api/full')).toMatchObject({
      code: 413,
      error: 'payload_too_large',
      reason: 'memory_too_long',
      params: { limit: 10, length: 12 },
      message: 'The memory is limited to 10 characters; this text has 12. Shorten it.',
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

test('any thrown value has a text for the log without potentially secret values', () => {
  expect(errorText(new Error('no'))).toBe('no')
  expect(errorText('plain')).toBe('plain')
  expect(errorText({ error: 'invalid_grant' })).toBe('invalid_grant')
  const unnamed = errorText({ body: { id_token: 'secret' }, status: 400 })
  expect(unnamed).toBe('an error without a text (body, status)')
  expect(errorText({})).toBe('an error without a text')
})
