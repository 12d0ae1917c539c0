// What a restart leaves of exports and imports, on both databases.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TransferRow } from '../../../server/db/repositories/conversations/transfers.ts'
import { createStore } from '../../../server/db/store.ts'
import { newId } from '../../../server/lib/ids.ts'
import { SOLE_WORKER } from '../../../server/lib/work-claims.ts'
import type { TransferId } from '../../../server/protocol/ids.ts'
import { createTransferJobs, EXPORT_KEPT_MS } from '../../../server/transfer/jobs.ts'
import { describeOnEachDatabase, silentLog } from '../../support/store/databases.ts'
import { somebody } from '../../support/store/store-rows.ts'

describeOnEachDatabase('a restart', (open) => {
  test('ends running jobs as failed with instructions, and removes old results, unfinished files and those that no account has', async () => {
    const store = createStore(await open())
    const { id: userId } = await somebody(store)
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-transfers-'))
    const now = new Date('2026-11-22T12:00:00Z')
    const row = async (given: Partial<TransferRow>): Promise<TransferId> => {
      const id = newId<TransferId>()
      await store.transfers.create({
        userId,
        kind: 'import',
        status: 'running',
        name: null,
        format: null,
        done: 5,
        total: 10,
        size: null,
        report: null,
        failure: null,
        createdAt: now,
        endedAt: null,
        ...given,
        id,
      })
      return id
    }
    const imported = await row({})
    const exported = await row({ kind: 'export', status: 'queued' })
    const ended = { kind: 'export', status: 'completed', size: 3 } as const
    const old = await row({ ...ended, endedAt: new Date('2026-11-21T11:59:00Z') })
    const recent = await row({ ...ended, endedAt: new Date('2026-11-21T12:01:00Z') })
    for (const id of [old, recent]) writeFileSync(join(folder, `${id}.zip`), 'zip')
    // Of a deleted account, or of an export that was accepted twice.
    const orphan = join(folder, `${newId<TransferId>()}.zip`)
    writeFileSync(orphan, 'zip')
    utimesSync(orphan, now, new Date(now.getTime() - EXPORT_KEPT_MS - 2 * 60 * 60_000))
    writeFileSync(join(folder, `${exported}.zip.part`), 'half')
    mkdirSync(join(folder, imported, 'unpacked'), { recursive: true })

    const unused = {} as never // No job runs in this test.
    const jobs = createTransferJobs({
      transfers: store.transfers,
      audit: store.audit,
      bundle: unused,
      imports: unused,
      folder,
      announce() {},
      log: silentLog,
      now: () => now,
    })
    await jobs.start()
    expect(await jobs.find(userId, 'import', imported)).toMatchObject({
      status: 'failed',
      failure: { reason: 'import_interrupted' },
      endedAt: now,
    })
    expect(await jobs.find(userId, 'export', exported)).toMatchObject({
      status: 'failed',
      failure: { reason: 'export_interrupted' },
    })
    expect(await jobs.find(userId, 'export', old)).toBeUndefined()
    expect(readdirSync(folder)).toEqual([`${recent}.zip`])
    await jobs.removeExports(userId)
    expect(readdirSync(folder)).toEqual([])
    expect(await jobs.find(userId, 'export', recent)).toBeUndefined()
    await jobs.stop()
    rmSync(folder, { recursive: true })
  })

  test('beside other instances removes what a killed one was receiving a day ago, and nothing that is in progress', async () => {
    const store = createStore(await open())
    const { id: userId } = await somebody(store)
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-transfers-'))
    const now = new Date('2026-11-22T12:00:00Z')
    const running = newId<TransferId>()
    const killed = newId<TransferId>()
    const receiving = newId<TransferId>()
    await store.transfers.create({
      id: running,
      userId,
      kind: 'import',
      status: 'running',
      name: null,
      format: null,
      done: 0,
      total: 0,
      size: null,
      report: null,
      failure: null,
      createdAt: now,
      endedAt: null,
    })
    const longAgo = new Date(now.getTime() - EXPORT_KEPT_MS - 2 * 60 * 60_000)
    for (const id of [running, killed, receiving]) {
      mkdirSync(join(folder, id, 'unpacked'), { recursive: true })
      const at = id === receiving ? now : longAgo
      utimesSync(join(folder, id), at, at)
    }

    const unused = {} as never // No job runs in this test.
    const jobs = createTransferJobs({
      transfers: store.transfers,
      audit: store.audit,
      bundle: unused,
      imports: unused,
      folder,
      // The running one is another instance's.
      claims: { ...SOLE_WORKER, claim: async () => false, isShared: true },
      announce() {},
      log: silentLog,
      now: () => now,
    })
    await jobs.start()
    expect(readdirSync(folder).toSorted()).toEqual([running, receiving].toSorted())
    await jobs.stop()
    rmSync(folder, { recursive: true })
  })
})
