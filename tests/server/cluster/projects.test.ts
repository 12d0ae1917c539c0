// What instances share beside runs: one change of a project at a time, and the folders themselves.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, describe, expect, test } from 'vitest'
import { createSharedClaims } from '../../../server/cluster/cluster.ts'
import type { Database } from '../../../server/db/database.ts'
import { RUN_VERSION } from '../../../server/db/run-version.ts'
import { createStore, type Store } from '../../../server/db/store.ts'
import { checkInstallation } from '../../../server/doctor/doctor.ts'
import { folderMarker, type Place, settleInstallation } from '../../../server/owner/installation.ts'
import type { RunId } from '../../../server/protocol/ids.ts'
import { createKeyedMutex, type KeyedMutex } from '../../../server/workspace/keyed-mutex.ts'
import { silentLog, useDatabases } from '../../support/store/databases.ts'
import { openProject, treeOf } from '../../support/store/projects.ts'
import { storeRun } from '../../support/store/store-rows.ts'

const databases = useDatabases()

describe('the projects of two instances', () => {
  /** An instance whose lease can lapse as in a long pause. */
  async function instance(
    database: Database,
    store: Store,
    name: string,
  ): Promise<{ mutex: KeyedMutex; pause(): Promise<void> }> {
    await store.leases.renew(name, 60_000)
    let lapsedAt = Number.NEGATIVE_INFINITY
    const claims = createSharedClaims({
      leases: store.leases,
      lease: { isValid: true, isHeldSince: (moment) => lapsedAt < moment },
      instance: name,
    })
    return {
      mutex: createKeyedMutex(30_000, claims),
      async pause() {
        lapsedAt = performance.now()
        await database.write(async (tx) => {
          const { leases } = database.tables
          await tx
            .update(leases)
            .set({ expiresAt: new Date(0) })
            .where(eq(leases.name, `instance:${name}`))
        })
      },
    }
  }
  async function two() {
    const database = await databases.open('postgres')
    const store = createStore(database)
    return [await instance(database, store, 'a'), await instance(database, store, 'b')] as const
  }

  test('are changed by one instance at a time in any order, and different projects at the same time', async () => {
    const [a, b] = await two()
    let active = 0
    let most = 0
    const work = async (): Promise<void> => {
      active += 1
      most = Math.max(most, active)
      await new Promise((resolve) => setImmediate(resolve))
      active -= 1
    }
    await Promise.all(
      Array.from({ length: 12 }, (_, at) => (at % 3 === 0 ? a : b).mutex.run('one', work)),
    )
    expect(most).toBe(1)

    let end = (): void => {}
    let begun = (): void => {}
    const hasBegun = new Promise<void>((resolve) => (begun = resolve))
    const held = a.mutex.run('one', () => {
      begun()
      return new Promise<void>((resolve) => (end = resolve))
    })
    await hasBegun
    await b.mutex.run('two', async () => {})
    const stop = new AbortController()
    const waiting = b.mutex.run('one', async () => {}, { signal: stop.signal })
    stop.abort()
    await expect(waiting).rejects.toMatchObject({ status: 503 })
    end()
    await held
    await b.mutex.run('one', async () => {})
  })

  test('are taken over from a paused instance, which then changes nothing more', async () => {
    const [a, b] = await two()
    await a.mutex.run('one', async () => {
      await a.pause()
      // Nobody has taken over: the pause did no harm.
      await a.mutex.assertHeld('one')
      await b.mutex.run('one', () => b.mutex.assertHeld('one'))
      await expect(a.mutex.assertHeld('one')).rejects.toMatchObject({ reason: 'project_busy' })
    })
  })

  test("are not changed by an instance that paused during a run's change once the run continues elsewhere", async () => {
    const database = await databases.open('postgres')
    const store = createStore(database)
    const a = await instance(database, store, 'a')
    const b = await instance(database, store, 'b')
    const paused = await openProject(database, { mutex: a.mutex })
    const successor = await openProject(database, { mutex: b.mutex, root: paused.root })
    const { records, projectId, userId, workspace } = paused
    const seenBySuccessor = successor.workspaces.open(userId, projectId)
    const checkpointsNow = async (): Promise<[string, string[]][]> =>
      (await records.list(projectId, { limit: 10 })).map(({ tool, sample }) => [
        tool,
        sample.map(({ path }) => path),
      ])
    const run = await storeRun(database, store, { owner: 'a', attempt: 1 })
    const by = (attempt: number) => ({
      tool: `attempt ${attempt}`,
      messageId: run.messageId,
      runId: run.id,
      attempt,
    })
    const write = (path: string, text: string) => workspace.write(path, Buffer.from(text))

    const change = paused.checkpoints.change(workspace, by(1), ['before', 'after'], async () => {
      await write('before', 'the pause')
      await a.pause()
      const claimed = await database.write((tx) => store.runs.claim(tx, run.id, 'b', true))
      expect(claimed).toMatchObject({ attempt: 2 })
      await write('after', 'the pause')
    })
    await expect(change).rejects.toMatchObject({ reason: 'request_stopped' })
    expect(await treeOf(workspace.root)).toEqual({ before: 'the pause' })
    expect(await checkpointsNow()).toEqual([])
    await expect(
      paused.checkpoints.change(workspace, by(1), ['late'], () => write('late', 'too late')),
    ).rejects.toMatchObject({ reason: 'request_stopped' })
    await expect(
      paused.checkpoints.changeAnything(workspace, by(1), () => write('late', 'too late')),
    ).rejects.toMatchObject({ reason: 'request_stopped' })

    // What had happened before the pause is not lost for the list and can be undone.
    await successor.checkpoints.change(seenBySuccessor, by(2), ['next'], () =>
      seenBySuccessor.write('next', Buffer.from('said again')),
    )
    expect(await checkpointsNow()).toEqual([
      ['attempt 2', ['next']],
      ['attempt 1', ['before']],
    ])
    expect(await treeOf(workspace.root)).toEqual({ before: 'the pause', next: 'said again' })
  })

  test("are not changed by an instance that paused during a person's change once another instance has taken over", async () => {
    const database = await databases.open('postgres')
    const store = createStore(database)
    const a = await instance(database, store, 'a')
    const b = await instance(database, store, 'b')
    const paused = await openProject(database, { mutex: a.mutex })
    const successor = await openProject(database, { mutex: b.mutex, root: paused.root })
    const { userId, projectId, workspace } = paused
    const byHand = { tool: 'editor_write', messageId: null, runId: null }
    await expect(
      paused.checkpoints.change(workspace, byHand, ['one', 'two'], async () => {
        await workspace.write('one', Buffer.from('1'))
        await a.pause()
        await successor.checkpoints.recover(successor.workspaces.open(userId, projectId))
        await workspace.write('two', Buffer.from('2'))
      }),
    ).rejects.toMatchObject({ reason: 'project_busy' })
    expect(await treeOf(workspace.root)).toEqual({ one: '1' })
    expect(await paused.records.list(projectId, { limit: 10 })).toHaveLength(1)
  })
})

test('an older instance neither lists nor claims a run started by a newer version', async () => {
  const database = await databases.open('postgres')
  const store = createStore(database)
  const ours = await storeRun(database, store)
  const newer = await storeRun(database, store, { version: RUN_VERSION + 1 })
  const older = await storeRun(database, store, { version: 0 })
  expect(new Set(await store.leases.unheldRuns('a'))).toEqual(new Set([ours.id, older.id]))
  const claim = (id: RunId) => database.write((tx) => store.runs.claim(tx, id, 'a', true))
  expect(await claim(newer.id)).toBeUndefined()
  expect(await claim(ours.id)).toMatchObject({ attempt: 2 })
  expect(await claim(older.id)).toMatchObject({ version: RUN_VERSION })
})

describe('the folders of several instances', () => {
  const folders: string[] = []
  const folder = (): string => {
    const path = mkdtempSync(join(tmpdir(), 'nanoclaw-shared-'))
    folders.push(path)
    return path
  }
  afterAll(() => {
    for (const path of folders) rmSync(path, { recursive: true, force: true })
  })

  test('must be the same: a start and the doctor refuse another folder and say what to do', async () => {
    const place = await databases.migrated('postgres')
    const { settings, installation } = createStore(await databases.connect(place))
    const folderPlace = (key: string): Place => ({
      key,
      ...folderMarker(folder()),
      contents: async () => 'none',
      isReferred: () => false,
    })
    const start = (...places: Place[]) =>
      settleInstallation({
        settings,
        references: installation.references,
        places,
        isShared: true,
        log: silentLog,
        visibleMs: 0,
      })
    const check = (places: Place[]) =>
      checkInstallation({ database: place, places, filesFault: async () => null })
    const [workspaces, data] = [folderPlace('workspace_root'), folderPlace('data_dir')]
    expect(await check([workspaces, data])).toMatchObject([{ state: 'ok' }])
    const id = await start(workspaces, data)
    expect(await start(workspaces, data)).toBe(id)
    expect(await check([workspaces, data])).toMatchObject([{ state: 'ok' }])

    const elsewhere = folderPlace('workspace_root')
    await expect(start(elsewhere, data)).rejects.toThrow(
      /workspace_root .* is not the folder .* admin adopt/,
    )
    await elsewhere.mark('another installation')
    await expect(start(elsewhere, data)).rejects.toThrow(/belongs to another database/)
    const [finding] = await check([elsewhere, data])
    expect(finding).toMatchObject({ state: 'fail', subject: 'installation' })
    await elsewhere.mark(id, { replaces: true })
    expect(await start(elsewhere, data)).toBe(id)
  })
})
