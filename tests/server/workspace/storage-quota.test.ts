// The storage quota of a user over all projects and documents, also with concurrent writes.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { createCheckpointRepository } from '../../../server/db/repositories/projects/checkpoints.ts'
import { createProjectRepository } from '../../../server/db/repositories/projects/projects.ts'
import { createStorageRepository } from '../../../server/db/repositories/projects/storage.ts'
import { createOutsideContentRepository } from '../../../server/db/repositories/runs/outside-contents.ts'
import { createWorkspaceServices } from '../../../server/workspace/workspace-services.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { openProject } from '../../support/store/projects.ts'

const KB = 1024
const by = (tool: string) => ({ tool, messageId: null, runId: null })

describeOnEachServer('the storage quota', (start) => {
  let server: TestServer
  let token: string
  beforeAll(async () => {
    server = await start({
      auth_mode: 'multi',
      jwt_secret: 'a-secret-of-the-tests-0123456789abcdef',
      limits: { storage: '100KB', project: '80KB' },
    })
  })

  let made = 0
  const signUp = async (): Promise<void> => {
    const { json } = await server.call('POST', '/api/auth/register', {
      body: { username: `user${++made}`, password: 'a long enough password' },
    })
    token = json.data.token
  }
  const makeProject = async (): Promise<string> =>
    (await server.call('POST', '/api/projects', { body: { name: `project ${++made}` }, token }))
      .json.data.id
  const write = (id: string, path: string, bytes: number) =>
    server.call('PUT', `/api/projects/${id}/files/${path}`, {
      body: { content: 'x'.repeat(bytes) },
      token,
    })
  const send = async (path: string, name: string | null, bytes: number) => {
    const form = new FormData()
    if (name !== null) form.set('name', name)
    form.append('files[]', new Blob(['x'.repeat(bytes)]), 'folder/a.txt')
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(server.url + path, { method: 'POST', body: form, headers })
    return { status: response.status, json: await response.json() }
  }
  const upload = (bytes: number) => send('/api/projects/upload', `upload ${++made}`, bytes)
  const isRefused = { status: 413, json: { error: 'quota_exceeded' } }

  test('counts the files of all projects, and deleted files free their space', async () => {
    await signUp()
    const [one, two] = [await makeProject(), await makeProject()]
    expect((await write(one, 'a.txt', 60 * KB)).status).toBe(200)
    const refused = await write(two, 'b.txt', 50 * KB)
    expect(refused).toMatchObject(isRefused)
    expect(refused.json.message).toContain('100 KB')
    const listed = await server.call('GET', `/api/projects/${two}/files`, { token })
    expect(listed.json.data.files).toEqual([])
    // Rewriting a file without growing it is allowed, and so is a file that fits.
    expect((await write(one, 'a.txt', 60 * KB)).status).toBe(200)
    expect((await write(two, 'b.txt', 40 * KB)).status).toBe(200)
    expect(await write(two, 'c.txt', 1)).toMatchObject(isRefused)
    await server.call('DELETE', `/api/projects/${one}/files/a.txt`, { token })
    expect((await write(two, 'c.txt', 30 * KB)).status).toBe(200)
    await server.call('DELETE', `/api/projects/${two}`, { token })
    expect((await write(one, 'a.txt', 80 * KB)).status).toBe(200)
  })

  test('holds for concurrent writes and uploads, and accepts as many as fit', async () => {
    await signUp()
    const projects = await Promise.all(Array.from({ length: 8 }, makeProject))
    const written = await Promise.all(projects.map((id) => write(id, 'a.txt', 20 * KB)))
    expect(written.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(5)
    for (const answer of written) if (answer.status !== 200) expect(answer).toMatchObject(isRefused)
    for (const id of projects) await server.call('DELETE', `/api/projects/${id}`, { token })

    const uploaded = await Promise.all([upload(40 * KB), upload(40 * KB), upload(40 * KB)])
    expect(uploaded.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(2)
    for (const answer of uploaded)
      if (answer.status !== 200) expect(answer).toMatchObject(isRefused)
    const kept = await server.call('GET', '/api/projects', { token })
    expect(kept.json.data.total).toBe(uploaded.filter(({ status }) => status === 200).length)
    expect(kept.json.data.total).toBeGreaterThan(0)
    // Everything that was accepted counts from then on, including uploads.
    for (let more = 0; more < 3; more += 1) await upload(40 * KB)
    expect((await server.call('GET', '/api/projects', { token })).json.data.total).toBe(2)
    expect(await upload(40 * KB)).toMatchObject(isRefused)
    const [{ id }] = kept.json.data.items
    const into = `/api/projects/${id}/files`
    expect(await send(into, null, 30 * KB)).toMatchObject(isRefused)
    await server.call('DELETE', `/api/projects/${id}/files/a.txt`, { token })
    expect((await send(into, null, 40 * KB)).status).toBe(200)
    // Replacing a file with one of the same size needs no additional quota.
    expect((await send(into, null, 40 * KB)).status).toBe(200)
  })

  test('counts documents and applies to each user separately', async () => {
    await signUp()
    const id = await makeProject()
    const documents = `/api/projects/${id}/documents`
    const sent = await Promise.all([1, 2, 3].map(() => send(documents, null, 40 * KB)))
    const stored = sent.filter(({ status }) => status === 200)
    expect(stored.length).toBeLessThanOrEqual(2)
    for (const answer of sent) if (answer.status !== 200) expect(answer).toMatchObject(isRefused)
    for (let more = 0; more < 3; more += 1) await send(documents, null, 40 * KB)
    const listed = await server.call('GET', documents, { token })
    expect(listed.json.data.items).toHaveLength(2)
    expect(await write(id, 'a.txt', 30 * KB)).toMatchObject(isRefused)
    await server.call('DELETE', `${documents}/${listed.json.data.items[0].id}`, { token })
    expect((await write(id, 'a.txt', 30 * KB)).status).toBe(200)
    await signUp()
    expect((await upload(70 * KB)).status).toBe(200)
  })
})

describeOnEachDatabase('the storage quota of changes', (open) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })

  test('applies to restores as well', async () => {
    const { checkpoints, workspaces, userId, workspace, records, projectId } = await openProject(
      database,
      { storage: 100 * KB },
    )
    const { id } = await createProjectRepository(database).create(userId, {
      name: 'another',
      description: null,
    })
    const another = workspaces.open(userId, id)
    await another.state('')
    const put = (place: typeof workspace) =>
      checkpoints.change(place, by('editor_write'), ['a.bin'], () =>
        place.write('a.bin', Buffer.alloc(60 * KB)),
      )
    const remove = (place: typeof workspace) =>
      checkpoints.change(place, by('editor_delete'), ['a.bin'], () => place.remove('a.bin'))
    await put(workspace)
    await remove(workspace)
    const [deletion] = await records.list(projectId, { limit: 1 })
    await put(another)
    const restore = () => checkpoints.restore(workspace, deletion?.id, by('restore'))
    await expect(restore()).rejects.toMatchObject({ code: 'quota_exceeded' })
    expect(await workspace.list('')).toEqual([])
    await remove(another)
    await restore()
    expect(await workspace.list('')).toMatchObject([{ name: 'a.bin', size: 60 * KB }])
  })

  test('earlier contents of files count, and the oldest are removed when space is needed', async () => {
    const { checkpoints, workspaces, userId, workspace, records, projectId } = await openProject(
      database,
      { storage: 100 * KB },
    )
    const storage = createStorageRepository(database)
    const { id } = await createProjectRepository(database).create(userId, {
      name: 'another',
      description: null,
    })
    const another = workspaces.open(userId, id)
    await another.state('')
    const put = (place: typeof workspace, bytes: number, fill: number) =>
      checkpoints.change(place, by('editor_write'), ['a.bin'], () =>
        place.write('a.bin', Buffer.alloc(bytes, fill)),
      )
    await put(workspace, 20 * KB, 1)
    await put(workspace, 20 * KB, 2)
    await put(workspace, 20 * KB, 3)
    await expect.poll(() => storage.history(userId)).toBe(40 * KB)
    await put(another, 10 * KB, 1)
    await put(another, 10 * KB, 2)
    expect(await storage.history(userId)).toBe(50 * KB)
    // All files take 95 KB then: only what undoes the newest change stays.
    await put(another, 75 * KB, 3)
    await expect.poll(() => storage.history(userId)).toBe(10 * KB)
    expect(await checkpoints.historySize(projectId)).toBe(0)
    expect(await records.list(projectId, { limit: 10 })).toEqual([])
    const [newest] = await records.list(id, { limit: 10 })
    expect(newest).toBeDefined()
    await expect(put(workspace, 30 * KB, 4)).rejects.toMatchObject({ code: 'quota_exceeded' })
  })

  test('the history of projects from an earlier version is counted with the next change', async () => {
    const { checkpoints, workspace, userId, projectId } = await openProject(database, {
      storage: 100 * KB,
    })
    const storage = createStorageRepository(database)
    const put = (fill: number) =>
      checkpoints.change(workspace, by('editor_write'), ['a.bin'], () =>
        workspace.write('a.bin', Buffer.alloc(10 * KB, fill)),
      )
    for (const fill of [1, 2, 1, 2]) await put(fill)
    // The two contents are stored once each, however often they came back.
    await expect.poll(() => storage.uncounted(userId)).toEqual([])
    await storage.setHistory(projectId, 1)
    await database.write(async (tx) => {
      await tx.update(database.tables.projects).set({ historySize: null })
    })
    await put(3)
    await expect.poll(() => storage.history(userId)).toBe(20 * KB)
  })

  test('after a kill, the files that the server wrote are counted before the next write', async () => {
    const { root, userId, workspace, checkpoints } = await openProject(database, {
      storage: 100 * KB,
    })
    const { id } = await createProjectRepository(database).create(userId, {
      name: 'another',
      description: null,
    })
    // The stored size of this project is small.
    await checkpoints.change(workspace, by('editor_write'), ['small'], () =>
      workspace.write('small', Buffer.alloc(KB)),
    )
    await createStorageRepository(database).setMeasured(workspace.projectId, KB)
    await new Promise<void>((resolve) => {
      void checkpoints.changeAnything(workspace, by('exec'), async () => {
        await writeFile(join(workspace.root, 'large'), Buffer.alloc(80 * KB))
        resolve()
        await new Promise(() => {})
      })
    })
    const services = await createWorkspaceServices({
      root,
      limits: workspace.limits,
      searchTimeoutMs: 2_000,
      rule: { keep: 200, maxAgeDays: 30, maxBytes: 1e9 },
      records: createCheckpointRepository(database),
      projects: createProjectRepository(database),
      outsideContents: createOutsideContentRepository(database),
      storage: { records: createStorageRepository(database), limit: () => 100 * KB },
      bubblewrap: { available: false, reason: 'not needed' },
      log: { warn() {} },
    })
    const another = services.workspaces.open(userId, id)
    await another.state('')
    const write = (bytes: number) =>
      services.checkpoints.change(another, by('editor_write'), ['a'], () =>
        another.write('a', Buffer.alloc(bytes)),
      )
    await expect(write(50 * KB)).rejects.toMatchObject({ code: 'quota_exceeded' })
    await write(10 * KB)
    expect(await services.workspaces.storage.left(userId)).toBe(9 * KB)
    await services.close()
  })
})
