// The committed migrations match the table definitions and upgrade a database of the first version.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { eq } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import type { DatabaseSettings, Dialect } from '../../../server/db/database.ts'
import { createStore } from '../../../server/db/store.ts'
import { SqliteClient } from '../../../server/lib/sqlite-driver.ts'
import type { MessageId, ProjectId, RunId } from '../../../server/protocol/ids.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { onConnection } from '../../support/store/explain.ts'
import { onServer, withDatabase } from '../../support/store/postgres-server.ts'
import { say, somebody } from '../../support/store/store-rows.ts'

const root = resolve(import.meta.dirname, '../../..')
const databases = useDatabases()

test('`npm run db:generate` has nothing to generate', async () => {
  const script = resolve(root, 'scripts/generate-migrations.ts')
  const checked = promisify(execFile)(process.execPath, ['--import', 'tsx', script, '--check'], {
    cwd: root,
  })
  await expect(checked).resolves.toMatchObject({ stderr: '' })
})

const leftovers: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const remove of leftovers) await remove()
})

/** A database with the tables of the first `migrations` migrations only, without rows. */
async function olderVersion(dialect: Dialect, migrations: number): Promise<DatabaseSettings> {
  const migrationsFolder = join(root, 'migrations', dialect)
  const applied = readMigrationFiles({ migrationsFolder }).slice(0, migrations)
  const table = '__drizzle_migrations'
  if (dialect === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-migrations-'))
    leftovers.push(async () => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'nanoclaw.db')
    const client = new SqliteClient(file)
    for (const { sql } of applied) for (const statement of sql) client.exec(statement)
    client.exec(
      `create table ${table} (id integer primary key, hash text not null, created_at numeric)`,
    )
    const note = client.prepare(`insert into ${table} (hash, created_at) values (?, ?)`)
    for (const { hash, folderMillis } of applied) note.run(hash, folderMillis)
    client.close()
    return { dialect, file }
  }
  const { url } = inject('postgres')
  const name = `nanoclaw_first_${randomUUID().replaceAll('-', '')}`
  await onServer(url, `create database ${name}`)
  leftovers.push(() => onServer(url, `drop database ${name} with (force)`))
  const place = withDatabase(url, name)
  const createTable = `create table ${table} (id serial primary key, hash text not null, created_at bigint)`
  const insertRows = applied.map(
    ({ hash, folderMillis }) =>
      `insert into ${table} (hash, created_at) values ('${hash}', ${folderMillis})`,
  )
  await onServer(
    place,
    [...applied.flatMap(({ sql }) => sql), createTable, ...insertRows].join(';'),
  )
  return { dialect, connection: { url: place } }
}

/** Statements that turn off foreign key checks. */
const unchecked = {
  sqlite: 'pragma foreign_keys = off',
  postgres: 'set session_replication_role = replica',
}

describe.each(DIALECTS)('a database of an earlier version (%s)', (dialect) => {
  test('is migrated with its data, and its vectors are dropped so that they are computed again', async () => {
    const settings = await olderVersion(dialect, 1)
    const vector = `insert into passage_vectors (passage_id, project_id, model, vector) values (1, 'p', 'm', 'AAAA')`
    await onConnection(settings, `insert into settings (key, value) values ('kept', '"yes"')`)
    await runScript(settings, `${unchecked[dialect]}; ${vector}`)
    const files = JSON.stringify([
      { path: 'd', change: 'added', before: null, after: { kind: 'directory' } },
      { path: 'd/a', change: 'added', before: null, after: { kind: 'file', hash: 'h', size: 1 } },
    ])
    const checkpoint = `insert into checkpoints (id, project_id, user_id, tool, files, created_at) values ('c', 'p', 'u', 'exec', '${files}', ${{ sqlite: '0', postgres: 'now()' }[dialect]})`
    const owners = [
      `insert into users (id, username, username_key, role, is_active, token_version, created_at) values ('u', 'u', 'u', 'user', ${{ sqlite: '1, 0, 0', postgres: 'true, 0, now()' }[dialect]})`,
      `insert into projects (id, user_id, name, created_at, updated_at) values ('p', 'u', 'p', ${{ sqlite: '0, 0', postgres: 'now(), now()' }[dialect]})`,
    ]
    await runScript(settings, [...owners, checkpoint].join(';'))

    const database = await databases.connect(settings)
    const store = createStore(database)
    expect(await store.settings.get('kept', z.string())).toBe('yes')
    expect(await onConnection(settings, 'select * from passage_vectors')).toEqual([])
    expect(await onConnection(settings, 'select * from sub_agent_events')).toEqual([])
    const [kept] = await store.checkpoints.list('p' as ProjectId, { limit: 1 })
    expect(kept).toMatchObject({ fileCount: 1, sample: [{ path: 'd/a', change: 'added' }] })
    const pages: string[] = []
    for await (const page of store.checkpoints.pages('c'))
      pages.push(...page.map(({ path }) => path))
    expect(pages).toEqual(['d/a', 'd'])
    const user = await somebody(store)
    const conversation = await store.conversations.create(user.id, {})
    await say(database, conversation.id, 'Still here.', null)
    await database.close()

    const again = createStore(await databases.connect(settings))
    expect(await again.conversations.find(user.id, conversation.id)).toMatchObject({
      messageCount: 1,
    })
  })

  test('keeps the documents of its projects, which are found in their project only', async () => {
    const settings = await olderVersion(dialect, 58)
    const [time, yes] = dialect === 'sqlite' ? ['0', '1'] : ['now()', 'true']
    const script = [
      `insert into users (id, username, username_key, role, is_active, token_version, created_at) values ('u', 'u', 'u', 'user', ${yes}, 0, ${time})`,
      ...['p-1', 'p-2'].flatMap((id, at) => [
        `insert into projects (id, user_id, name, created_at, updated_at) values ('${id}', 'u', '${id}', ${time}, ${time})`,
        `insert into documents (id, project_id, user_id, name, mime, size, status, passages, created_at) values ('d${at}', '${id}', 'u', 'a.md', 'text/markdown', 1, 'ready', 1, ${time})`,
        `insert into passages (id, document_id, project_id, position, text, tokens) values (${at + 1}, 'd${at}', '${id}', 0, 'Walrus of ${id}', 'walrus of')`,
      ]),
    ].join(';')
    await runScript(settings, script)

    const database = await databases.connect(settings)
    const { documents } = createStore(database)
    for (const id of ['p-1', 'p-2'] as ProjectId[])
      expect(await documents.search(id, ['walrus'], 5)).toMatchObject([{ text: `Walrus of ${id}` }])
    await database.write(async (tx) => {
      await tx.delete(database.tables.passages).where(eq(database.tables.passages.id, 1))
    })
    expect(await documents.search('p-1' as ProjectId, ['walrus'], 5)).toEqual([])
    expect(await documents.search('p-2' as ProjectId, ['walrus'], 5)).toHaveLength(1)
    await database.close()
  })

  test('keeps its attachments, which have no files yet', async () => {
    const settings = await olderVersion(dialect, 11)
    const [yes, now] = { sqlite: ['1', '0'], postgres: ['true', 'now()'] }[dialect]
    const no = dialect === 'sqlite' ? '0' : 'false'
    await runScript(
      settings,
      [
        `insert into users (id, username, username_key, role, is_active, token_version, created_at) values ('u', 'u', 'u', 'user', ${yes}, 0, ${now})`,
        `insert into conversations (id, user_id, title, title_key, thinking_enabled, disabled_mcp_servers, approval_grants, tainted, pinned, archived, message_count, titled, created_at, updated_at) values ('c', 'u', 't', 't', ${no}, '[]', '[]', ${no}, ${no}, ${no}, 1, ${no}, ${now}, ${now})`,
        `insert into messages (id, conversation_id, role, text, token_count, status, created_at) values ('m', 'c', 'user', 'q', 0, 'completed', ${now})`,
        `insert into attachments (message_id, position, kind, name, extension, content, size) values ('m', 0, 'text', 'a.txt', 'txt', 'kept', 4)`,
      ].join(';'),
    )
    const store = createStore(await databases.connect(settings))
    expect(await store.attachments.findInline()).toMatchObject({
      userId: 'u',
      messageId: 'm',
      content: { name: 'a.txt', content: 'kept' },
    })
    expect(await store.attachments.contents('m' as MessageId, [0])).toMatchObject([
      { position: 0, content: 'kept' },
    ])
  })

  test('keeps its approval requests and questions, and what an ended run had left waits no longer', async () => {
    const settings = await olderVersion(dialect, 53)
    const { no, now } = {
      sqlite: { no: '0', now: '1000' },
      postgres: { no: 'false', now: 'now()' },
    }[dialect]
    const run = (id: string, end: string) =>
      `insert into runs (id, kind, conversation_id, user_id, message_id, status, model, options, attempt, iteration, prompt_tokens, completion_tokens, last_event, stop_requested, created_at, ended_at)
         values ('${id}', 'chat', 'c', 'u', 'm', 'failed', 'x', '{}', 1, 0, 0, 0, 0, ${no}, ${now}, ${end})`
    const approval = (id: string, status: string) =>
      `insert into approvals (run_id, id_ref, position, name, arguments, risk_level, status, created_at)
         values ('${id}', '${status}', 0, 'send', '{}', 'medium', '${status}', ${now})`
    const input = (id: string, idRef: string, answer: string) =>
      `insert into run_inputs (run_id, id_ref, call_id, round, position, question, answer, created_at)
         values ('${id}', '${idRef}', 'call', 0, 0, '{}', ${answer}, ${now})`
    const answer = `'{"action":"cancel"}'`
    await runScript(
      settings,
      [
        unchecked[dialect],
        run('active', 'null'),
        run('ended', now),
        ...['active', 'ended'].flatMap((id) => [
          approval(id, 'pending'),
          approval(id, 'approved'),
          input(id, 'open', 'null'),
          input(id, 'answered', answer),
        ]),
      ].join(';'),
    )
    const database = await databases.connect(settings)
    const store = createStore(database)
    const statesOf = async (id: RunId) => {
      const asked = await store.runs.approvals(id)
      const { runInputs } = database.tables
      const questions = await database.read.select().from(runInputs).where(eq(runInputs.runId, id))
      for (const { userId, id: own } of [...asked, ...questions])
        expect([userId, own]).toEqual(['u', expect.stringMatching(/^[-0-9a-f]{32,}$/)])
      return [
        asked.map(({ status }) => status).sort(),
        questions.map(({ status }) => status).sort(),
        questions.map(({ closedAt }) => closedAt !== null),
        questions.filter((question) => question.answer !== null).length,
      ]
    }
    expect(await statesOf('active' as RunId)).toEqual([
      ['approved', 'pending'],
      ['answered', 'pending'],
      [false, false],
      1,
    ])
    expect(await statesOf('ended' as RunId)).toEqual([
      ['approved', 'void'],
      ['answered', 'void'],
      [true, true],
      0,
    ])
  })

  test('keeps what was approved for a conversation, and for the rest of a run that has not ended', async () => {
    const settings = await olderVersion(dialect, 57)
    const { yes, no, now } = {
      sqlite: { yes: '1', no: '0', now: '1000' },
      postgres: { yes: 'true', no: 'false', now: 'now()' },
    }[dialect]
    const run = (id: string, state: object | null, end: string) =>
      `insert into runs (id, kind, conversation_id, user_id, message_id, status, model, options, attempt, iteration, prompt_tokens, completion_tokens, last_event, state, stop_requested, created_at, ended_at)
         values ('${id}', 'chat', 'of ${id}', 'u', 'm', 'failed', 'x', '{}', 1, 0, 0, 0, 0, ${state === null ? 'null' : `'${JSON.stringify(state)}'`}, ${no}, ${now}, ${end})`
    await runScript(
      settings,
      [
        unchecked[dialect],
        `insert into users (id, username, username_key, role, is_active, token_version, created_at) values ('u', 'u', 'u', 'user', ${yes}, 0, ${now})`,
        ...['waiting', 'new', 'plain', 'ended'].map(
          (id) =>
            `insert into conversations (id, user_id, title, title_key, thinking_enabled, disabled_mcp_servers, approval_grants, tainted, pinned, archived, message_count, titled, created_at, updated_at)
               values ('of ${id}', 'u', 't', 't', ${no}, '[]', '${id === 'waiting' ? '["file_write"]' : '[]'}', ${no}, ${no}, ${no}, 0, ${no}, ${now}, ${now})`,
        ),
        run('waiting', { grants: ['exec', 'mcp__mail__send@0123'], title: 't' }, 'null'),
        run('new', null, 'null'),
        run('plain', { title: 't' }, 'null'),
        run('ended', { grants: ['exec'] }, now),
      ].join(';'),
    )
    const database = await databases.connect(settings)
    const { grants } = database.tables
    const kept = await database.read.select().from(grants).orderBy(grants.tool)
    const whole = {
      userId: 'u',
      conversationId: 'of waiting',
      match: null,
      evenTainted: false,
      uses: 0,
    }
    expect(kept).toMatchObject([
      { ...whole, runId: 'waiting', tool: 'exec', toolPrint: null },
      { ...whole, runId: null, tool: 'file_write', toolPrint: null },
      { ...whole, runId: 'waiting', tool: 'mcp__mail__send', toolPrint: '0123' },
    ])
  })

  test('keeps its runs and sub-agents, with their current names', async () => {
    const settings = await olderVersion(dialect, 7)
    const { yes, no, now } = {
      sqlite: { yes: '1', no: '0', now: '0' },
      postgres: { yes: 'true', no: 'false', now: 'now()' },
    }[dialect]
    const run = (id: string, state: object, error: object | null) =>
      `insert into runs (id, kind, conversation_id, user_id, message_id, status, model, options, attempt, round, prompt_tokens, completion_tokens, last_event, state, error, stop_requested, created_at)
         values ('${id}', 'chat', 'of ${id}', 'u', 'm', 'failed', 'x', '{}', 1, 4, 0, 0, 0, '${JSON.stringify(state)}', ${error === null ? 'null' : `'${JSON.stringify(error)}'`}, ${no}, ${now})`
    const quota = {
      content: 'The quota is used up (429).',
      code: 'model_rate_limited',
      retryable: false,
      params: { model: 'x', status: 429, reason: 'quota' },
    }
    const title = 'Say "roundLimit": 3'
    const events = [
      { type: 'round', text: '{"type":"round"}', reasoning: '', calls: [] },
      { type: 'answered', id: 'a', success: true, content: '\u0000' },
    ]
    await runScript(
      settings,
      [
        unchecked[dialect],
        `insert into users (id, username, username_key, role, is_active, token_version, created_at) values ('u', 'u', 'u', 'user', ${yes}, 0, ${now})`,
        ...['resumed', 'plain'].map(
          (id) =>
            `insert into conversations (id, user_id, title, title_key, thinking_enabled, disabled_mcp_servers, approval_grants, tainted, pinned, archived, message_count, titled, created_at, updated_at)
               values ('of ${id}', 'u', '', '', ${no}, '[]', '[]', ${no}, ${no}, ${no}, 0, ${no}, ${now}, ${now})`,
        ),
        run('resumed', { grants: [], title, roundLimit: 9 }, quota),
        run('plain', { grants: [] }, { content: 'Lost.', code: 'internal', retryable: false }),
        ...events.map(
          (event) =>
            `insert into sub_agent_events (run_id, call_id, position, event) values ('resumed', 'call', 0, '${JSON.stringify(event)}')`,
        ),
      ].join(';'),
    )

    const store = createStore(await databases.connect(settings))
    expect(await store.runs.find('resumed' as RunId)).toMatchObject({
      iteration: 4,
      state: { grants: [], title, iterationLimit: 9 },
      error: {
        content: quota.content,
        code: 'model_rate_limited',
        reason: 'model_rate_limited_quota',
        params: { model: 'x', status: 429 },
      },
    })
    expect(await store.runs.find('plain' as RunId)).toMatchObject({
      state: { grants: [] },
      error: { content: 'Lost.', code: 'internal', retryable: false },
    })
    const stored = await onConnection(settings, 'select event from sub_agent_events order by id')
    const read = z.array(z.object({ event: z.union([z.string(), z.json()]) })).parse(stored)
    expect(
      read.map(({ event }) => (typeof event === 'string' ? JSON.parse(event) : event)),
    ).toEqual([
      { type: 'iteration', text: '{"type":"round"}', reasoning: '', calls: [] },
      { type: 'result', id: 'a', success: true, content: '\u0000' },
    ])
  })
})

/** Runs several statements on one connection. */
async function runScript(settings: DatabaseSettings, script: string): Promise<void> {
  if (settings.dialect === 'sqlite') {
    const client = new SqliteClient(settings.file)
    client.exec(script)
    client.close()
  } else if ('url' in settings.connection) await onServer(settings.connection.url, script)
}
