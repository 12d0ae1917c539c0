// The knowledge base over HTTP, with real files and databases: upload, indexing, search, citation, deletion.
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { eq } from 'drizzle-orm'
import type { FastifyRequest } from 'fastify'
import { afterEach, expect, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { createStore } from '../../../server/db/store.ts'
import { createApp } from '../../../server/http/app.ts'
import { registerAuthentication } from '../../../server/http/authentication.ts'
import { createUploadSlots } from '../../../server/http/upload-slots.ts'
import { createIngest } from '../../../server/knowledge/ingest.ts'
import { createKnowledge } from '../../../server/knowledge/knowledge.ts'
import { encodeText } from '../../../server/lib/encodings.ts'
import { newId } from '../../../server/lib/ids.ts'
import { createLocalLimits } from '../../../server/lib/local-limits.ts'
import { SOLE_WORKER } from '../../../server/lib/work-claims.ts'
import type { ProjectId, RunId, UserId } from '../../../server/protocol/ids.ts'
import { CallId } from '../../../server/protocol/ids.ts'
import { registerDocumentRoutes } from '../../../server/routes/projects/documents.ts'
import { createSearchKnowledgeTool } from '../../../server/tools/builtin/knowledge/search-knowledge.ts'
import { unlimitedStorage } from '../../../server/workspace/storage-quota.ts'
import { eventually } from '../../support/eventually.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { addProject, addUser } from '../../support/store/rows.ts'
import { noAgents, noSpending } from '../tools/support.ts'

const fixtures = join(import.meta.dirname, '../../fixtures/documents')
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

interface Listed {
  id: string
  name: string
  status: string
  error: string | null
  passages: number
  encoding: string | null
}

async function startServer(database: Database, userId: UserId, folder: string) {
  const store = createStore(database)
  const knowledge = createKnowledge({
    documents: store.documents,
    folder,
    storage: unlimitedStorage,
    openFolder: () => {
      throw new Error('no project has a folder here')
    },
    onChange: () => undefined,
    log: { warn: () => undefined },
  })
  const app = createApp({ bodyLimit: 1_000_000 })
  // The server's own hashes the parts for `Idempotency-Key`.
  app.decorateRequest('recordedParts', function parts(this: FastifyRequest) {
    return this.parts()
  })
  await registerAuthentication(app, {
    mode: 'single',
    defaultUser: { id: userId, username: 'kim', role: 'user', tokenVersion: 0 },
  })
  registerDocumentRoutes(app, {
    uploadSlots: createUploadSlots(createLocalLimits()),
    knowledge,
    store,
    bounds: { document: 500_000 },
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  await knowledge.start()
  cleanups.push(async () => {
    await knowledge.stop()
    await app.close()
  })
  const { port } = app.server.address() as AddressInfo // never null or a path: the server listens on TCP
  const url = (project: ProjectId) => `http://127.0.0.1:${port}/api/projects/${project}/documents`
  return {
    knowledge,
    projects: store.projects,
    url,
    async upload(project: ProjectId, ...files: [string, Uint8Array | string][]) {
      const form = new FormData()
      for (const [name, content] of files) form.append('files[]', new Blob([content]), name)
      const response = await fetch(url(project), { method: 'POST', body: form })
      return { status: response.status, body: await response.json() }
    },
    async list(project: ProjectId): Promise<Listed[]> {
      const response = await fetch(url(project))
      const body = (await response.json()) as { data: { items: Listed[] } } // checked by the server's own schema
      return body.data.items
    },
    async allRead(project: ProjectId): Promise<Map<string, Listed>> {
      const documents = await eventually(async () => {
        const items = await this.list(project)
        expect(items.map(({ status }) => status)).not.toContain('pending')
        return items
      })
      return new Map(documents.map((document) => [document.name, document]))
    },
  }
}

describeOnEachDatabase('documents', (open) => {
  const prepare = async () => {
    const database = await open()
    const userId = await addUser(database)
    const project = await addProject(database, userId)
    const folder = await mkdtemp(join(tmpdir(), 'documents-test-'))
    cleanups.push(() => rm(folder, { recursive: true, force: true }))
    return { database, userId, project, folder, ...(await startServer(database, userId, folder)) }
  }

  test('an upload during startup is neither removed nor mistaken for an unfinished one', async () => {
    const database = await open()
    const userId = await addUser(database)
    const project = await addProject(database, userId)
    const folder = await mkdtemp(join(tmpdir(), 'documents-test-'))
    cleanups.push(() => rm(folder, { recursive: true, force: true }))
    await writeFile(join(folder, 'dead.part'), 'half')
    const { documents } = createStore(database)
    const order: string[] = []
    const knowledge = createKnowledge({
      documents: {
        ...documents,
        pending: async () => {
          const found = await documents.pending()
          order.push('swept')
          return found
        },
        create: (document) => {
          order.push('created')
          return documents.create(document)
        },
      },
      folder,
      storage: unlimitedStorage,
      openFolder: () => {
        throw new Error('no project has a folder here')
      },
      onChange: () => undefined,
      log: { warn: () => undefined },
    })
    cleanups.push(() => knowledge.stop())
    const started = knowledge.start()
    const of = { userId, projectId: project }
    const content = Readable.from([Buffer.from('# Plan')])
    await knowledge.add(of, { name: 'plan.md', mime: 'text/markdown', content, isCut: () => false })
    await started
    expect(order).toEqual(['swept', 'created'])
    expect(await readdir(folder)).not.toContain('dead.part')
  })

  test('beside other instances, a partial upload is removed when nobody has written to it for a day', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'documents-test-'))
    cleanups.push(() => rm(folder, { recursive: true, force: true }))
    for (const name of ['dead.part', 'live.part']) await writeFile(join(folder, name), 'half')
    const longAgo = new Date(Date.now() - 25 * 60 * 60_000)
    await utimes(join(folder, 'dead.part'), longAgo, longAgo)
    const knowledge = createKnowledge({
      documents: createStore(await open()).documents,
      folder,
      storage: unlimitedStorage,
      openFolder: () => {
        throw new Error('no project has a folder here')
      },
      onChange: () => undefined,
      claims: { ...SOLE_WORKER, isShared: true },
      log: { warn: () => undefined },
    })
    cleanups.push(() => knowledge.stop())
    await knowledge.start()
    expect(await readdir(folder)).toEqual(['live.part'])
  })

  test('a Chinese PDF is read in the background, found by a question and cited with its page', async () => {
    const server = await prepare()
    const { project } = server
    const created = await server.upload(project, [
      'handbook.pdf',
      await readFile(join(fixtures, 'handbook-zh.pdf')),
    ])
    expect(created).toMatchObject({
      status: 200,
      body: {
        code: 0,
        data: { items: [{ name: 'handbook.pdf', status: 'pending', error: null }] },
      },
    })
    expect((await server.allRead(project)).get('handbook.pdf')).toMatchObject({
      status: 'ready',
      passages: 4,
    })

    const tool = createSearchKnowledgeTool(server.knowledge, server.projects)
    const parsed = tool.parse(JSON.stringify({ query: '年假有多少天?' }))
    if (!parsed.ok) throw new Error(parsed.error)
    const answer = await parsed.input.run({
      userId: server.userId,
      conversationId: null,
      isTainted: () => false,
      agents: noAgents,
      spending: noSpending,
      projectId: project,
      runId: newId<RunId>(),
      messageId: null,
      model: 'test',
      callId: CallId.parse('c'),
      signal: new AbortController().signal,
      progress: () => undefined,
    })
    expect(answer).toMatchObject({
      success: true,
      data: {
        results: expect.arrayContaining([
          {
            document: 'handbook.pdf',
            document_id: expect.any(String),
            heading: '第二章 年假',
            page: 2,
            text: expect.stringContaining('十二天带薪年假'),
            score: expect.any(Number),
          },
        ]),
      },
    })
    const [citation] = (answer.artifact?.citations ?? []) as {
      document_id: string
      position: number
    }[]
    const passage = await fetch(
      `${server.url(project)}/${citation?.document_id}/passages?position=${citation?.position}&limit=1`,
    )
    expect(await passage.json()).toMatchObject({
      data: { document: { name: 'handbook.pdf' }, items: [{ page: 2, heading: '第二章 年假' }] },
    })
  })

  test('the best passage comes first, for an English question and for a single Chinese character', async () => {
    const server = await prepare()
    const { project, knowledge, userId } = server
    const search = (question: string) =>
      knowledge.search({ userId, projectId: project }, question, 3)
    await server.upload(
      project,
      [
        'policy.md',
        '# Travel\nTrips are booked by the office.\n# Vacation\nEmployees get 30 days of vacation a year.',
      ],
      ['noise.md', '# Days\nDays, days and more days. Many days.'],
      ['茶.md', '# 茶\n绿茶要用八十度的水。'],
    )
    await server.allRead(project)
    const first = async (question: string) => (await search(question))[0]?.heading
    expect(await first('How many vacation days do employees get?')).toBe('Vacation')
    expect(await first('水')).toBe('茶')
    expect(await search('"*) OR (')).toEqual([])
  })

  test('bad files fail with their reason and do not affect good ones', async () => {
    const server = await prepare()
    const { project, folder } = server
    await server.upload(
      project,
      ['good.txt', 'a good file'],
      ['broken.pdf', '%PDF-1.4 rubbish'],
      ['huge.txt', 'x'.repeat(600_000)],
      ['image.png', new Uint8Array([0x89, 0x50, 0, 0])],
      ['../../etc/passwd', 'escaping'],
    )
    const documents = await server.allRead(project)
    expect(documents.get('good.txt')).toMatchObject({ status: 'ready' })
    expect(documents.get('broken.pdf')).toMatchObject({
      status: 'failed',
      error: 'the PDF is damaged',
      reason: 'document_pdf_damaged',
    })
    expect(documents.get('huge.txt')).toMatchObject({
      status: 'failed',
      error: 'the file is too large',
      reason: 'document_too_large',
    })
    expect(documents.get('image.png')?.error).toContain('binary')
    expect(documents.get('passwd')).toMatchObject({ status: 'ready' })
    await eventually(async () => expect(await readdir(folder)).toEqual([]))
  })

  test('a text that was read in the wrong encoding is read in another one', async () => {
    const server = await prepare()
    const { project, database, knowledge, folder, userId } = server
    const inKoi8 = encodeText('Смета: восемь стульев', { name: 'koi8-u', bom: false }) ?? ''
    const inWindows = encodeText('Ключ', { name: 'windows-1251', bom: false })
    const target = { userId, projectId: project }
    await server.upload(project, ['smeta.txt', inKoi8], ['plain.txt', 'plain words'])
    // As for the file of a message whose encoding a person has chosen.
    await knowledge.addStored(target, {
      name: 'chosen.txt',
      mime: 'text/plain',
      sha256: 'f'.repeat(64),
      encoding: 'koi8-u',
      open: async () => Readable.from([inWindows]),
    })
    const before = await server.allRead(project)
    expect(before.get('smeta.txt')).toMatchObject({ status: 'ready', encoding: 'koi8-u' })
    expect(before.get('plain.txt')).toMatchObject({ status: 'ready', encoding: null })
    expect(before.get('chosen.txt')).toMatchObject({ status: 'ready', encoding: 'koi8-u' })
    const readAs = async (name: string, encoding: string) => {
      const response = await fetch(`${server.url(project)}/${before.get(name)?.id}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ encoding }),
      })
      return await response.json()
    }
    const foundWith = async (word: string) =>
      (await knowledge.search({ userId, projectId: project }, word, 3)).map(
        ({ document }) => document,
      )
    expect(await foundWith('стульев')).toEqual(['smeta.txt'])
    expect(await readAs('smeta.txt', 'cp1251')).toMatchObject({
      data: { status: 'pending', encoding: 'windows-1251' },
    })
    await server.allRead(project)
    expect(await foundWith('стульев')).toEqual([])
    await readAs('smeta.txt', 'koi8-u')
    await server.allRead(project)
    expect(await foundWith('стульев')).toEqual(['smeta.txt'])

    const { items } = await knowledge.list(project, { limit: 3 })
    const chosen = items.find(({ name }) => name === 'chosen.txt')
    await knowledge.readFileAs(userId, chosen?.sha256 ?? '', 'windows-1251')
    await server.allRead(project)
    expect(await foundWith('ключ')).toEqual(['chosen.txt'])
    // The file is theirs, but they may no longer change the project that they store.
    const { projects } = database.tables
    const setRole = (creatorRole: 'use' | 'own') =>
      database.write(async (tx) => {
        await tx.update(projects).set({ creatorRole }).where(eq(projects.id, project))
      })
    await setRole('use')
    await knowledge.readFileAs(userId, chosen?.sha256 ?? '', 'koi8-u')
    expect((await server.allRead(project)).get('chosen.txt')).toMatchObject({
      encoding: 'windows-1251',
    })
    await setRole('own')
    expect(await readAs('smeta.txt', 'klingon')).toMatchObject({ reason: 'encoding_unknown' })
    expect(await readAs('plain.txt', 'big5')).toMatchObject({
      code: 409,
      reason: 'document_encoding_fixed',
    })
    await knowledge.remove(project, before.get('smeta.txt')?.id ?? '')
    await knowledge.remove(project, before.get('chosen.txt')?.id ?? '')
    await eventually(async () => expect(await readdir(folder)).toEqual([]))
  })

  test('a document that was pending when the process ended is read after the next start', async () => {
    const server = await prepare()
    const { project, database, userId, folder, knowledge } = server
    await server.upload(project, ['one.txt', 'the first giraffe'])
    await server.allRead(project)
    await knowledge.stop()
    await server.upload(project, ['two.txt', 'the second zebra'])
    expect((await server.list(project))[0]).toMatchObject({ name: 'two.txt', status: 'pending' })

    const next = await startServer(database, userId, folder)
    expect((await next.allRead(project)).get('two.txt')).toMatchObject({ status: 'ready' })
    expect(await next.knowledge.search({ userId, projectId: project }, 'zebra', 3)).toHaveLength(1)
  })

  test('a document that the database or the disk keeps from being read is read later, and its upload stays', async () => {
    const { database, userId, project, folder } = await prepare()
    const { documents } = createStore(database)
    let failures = 2
    const ingest = createIngest({
      documents: {
        ...documents,
        index(...given) {
          failures -= 1
          return failures >= 0
            ? Promise.reject(new Error('no connection'))
            : documents.index(...given)
        },
      },
      folder,
      vectors: undefined,
      retryAfterMs: 1,
      onChange: () => undefined,
      log: { warn: () => undefined },
    })
    cleanups.push(() => ingest.stop())
    const stored = async (name: string) => {
      const file = { name, mime: 'text/plain', size: 1 }
      const row = await documents.create({ projectId: project, userId, ...file })
      await ingest.store(row, Buffer.from('a tall giraffe'))
      ingest.add(row)
      return row
    }
    const stateOf = async ({ id }: { id: string }) => {
      const row = await documents.find(project, id)
      return [row?.status, row?.failure?.reason ?? null]
    }
    const found = await stored('later.txt')
    await expect.poll(() => stateOf(found)).toEqual(['ready', null])
    failures = Number.POSITIVE_INFINITY
    const lost = await stored('never.txt')
    await expect.poll(() => stateOf(lost)).toEqual(['failed', 'document_not_indexed'])
    expect(await readdir(folder)).toEqual([lost.id])
    ingest.cancel(lost)
    await eventually(async () => expect(await readdir(folder)).toEqual([]))
  })

  test('a deleted document is no longer found, and the project of another user returns 404', async () => {
    const server = await prepare()
    const { project, database, userId, knowledge } = server
    await server.upload(project, ['one.txt', 'a rare okapi'])
    const id = (await server.allRead(project)).get('one.txt')?.id
    const foreign = await addProject(database, await addUser(database))
    expect((await fetch(server.url(foreign))).status).toBe(404)
    expect((await server.upload(foreign, ['a.txt', 'a'])).status).toBe(404)
    expect((await fetch(`${server.url(foreign)}/${id}`, { method: 'DELETE' })).status).toBe(404)
    expect(await knowledge.search({ userId, projectId: foreign }, 'okapi', 3)).toEqual([])

    expect((await fetch(`${server.url(project)}/${id}`, { method: 'DELETE' })).status).toBe(200)
    expect((await fetch(`${server.url(project)}/${id}`, { method: 'DELETE' })).status).toBe(404)
    expect(await knowledge.search({ userId, projectId: project }, 'okapi', 3)).toEqual([])
  })

  test('an upload without a file, or one that is not multipart, returns 4xx', async () => {
    const server = await prepare()
    expect(await server.upload(server.project)).toMatchObject({ status: 400 })
    const json = await fetch(server.url(server.project), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    expect(json.status).toBeGreaterThanOrEqual(400)
    expect(json.status).toBeLessThan(500)
  })
})
