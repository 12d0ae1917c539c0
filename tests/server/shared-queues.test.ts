// Work that all users share, besides Markdown and large responses: who has much of it does not delay the others.
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import type { TransferRow } from '../../server/db/repositories/conversations/transfers.ts'
import { createStore } from '../../server/db/store.ts'
import { createIngest } from '../../server/knowledge/ingest.ts'
import { newId } from '../../server/lib/ids.ts'
import { storedFailure } from '../../server/protocol/failures/stored.ts'
import type { TransferId, UserId } from '../../server/protocol/ids.ts'
import { createJobQueue } from '../../server/transfer/jobs.ts'
import { describeOnEachDatabase } from '../support/store/databases.ts'
import { addProject, addUser } from '../support/store/rows.ts'

const quiet = { warn() {} }

const transferRow = (kind: 'export' | 'import', userId: UserId): TransferRow => ({
  id: newId<TransferId>(),
  userId,
  kind,
  status: 'queued',
  name: null,
  format: null,
  done: 0,
  total: 0,
  size: null,
  report: null,
  failure: null,
  createdAt: new Date(),
  endedAt: null,
})

describeOnEachDatabase('shared work', (open) => {
  test('a document of another user is read while many of one user wait', async () => {
    const database = await open()
    const { documents } = createStore(database)
    const begun: string[] = []
    const ends: (() => void)[] = []
    const ingest = createIngest({
      documents,
      folder: tmpdir(),
      vectors: undefined,
      onChange() {},
      // Claiming is the first step of reading; nobody reads on after a claim that was refused.
      claims: {
        claim: (name) =>
          new Promise((resolve) => {
            begun.push(name)
            ends.push(() => resolve(false))
          }),
        async finish() {},
        holds: async () => true,
        isShared: false,
      },
      log: quiet,
    })
    const add = async (count: number): Promise<string[]> => {
      const userId = await addUser(database)
      const projectId = await addProject(database, userId)
      const works: string[] = []
      for (let at = 0; at < count; at += 1) {
        const file = { name: `${at}.txt`, mime: 'text/plain', size: 1 }
        const row = await documents.create({ projectId, userId, ...file })
        works.push(`document:${row.id}`)
        ingest.add(row)
      }
      return works
    }
    const many = await add(24)
    await expect.poll(() => begun.length).toBeGreaterThan(0)
    const before = begun.length
    const [one] = await add(1)
    // Nothing of the first user has ended meanwhile.
    await expect.poll(() => begun).toContain(one)
    expect(begun).toEqual([...many.slice(0, before), one])
    for (let at = 0; at < 25; at += 1) {
      await expect.poll(() => ends.length).toBeGreaterThan(at)
      ends[at]?.()
    }
    await ingest.stop()
  })

  test.each(['export', 'import'] as const)(
    'an %s of another user runs while several of one user wait, and exports do not wait for imports',
    async (kind) => {
      const database = await open()
      const { transfers } = createStore(database)
      const queue = createJobQueue({ transfers, log: quiet, now: () => new Date() })
      const begun: string[] = []
      const ends = new Map<string, () => void>()
      const add = async (of: 'export' | 'import', name: string, userId: UserId): Promise<void> => {
        const row = transferRow(of, userId)
        await transfers.create(row)
        const job = {
          work: () =>
            new Promise<object>((resolve) => {
              begun.push(name)
              ends.set(name, () => resolve({}))
            }),
          failureOf: () => storedFailure('document_lost'),
        }
        queue.add(row, job, async () => {})
      }
      const [ada, bob] = [await addUser(database), await addUser(database)]
      for (let at = 0; at < 4; at += 1) await add(kind, `ada-${at}`, ada)
      await expect.poll(() => begun).toEqual(['ada-0'])
      await add(kind, 'bob', bob)
      await expect.poll(() => begun).toEqual(['ada-0', 'bob'])
      await add(kind === 'export' ? 'import' : 'export', 'other kind', bob)
      await expect.poll(() => begun).toEqual(['ada-0', 'bob', 'other kind'])
      const all = ['ada-0', 'bob', 'other kind', 'ada-1', 'ada-2', 'ada-3']
      for (const name of all) {
        await expect.poll(() => begun).toContain(name)
        ends.get(name)?.()
      }
      await queue.stop()
    },
  )
})
