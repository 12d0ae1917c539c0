// When a person is told of a request: not while a page follows its run or is about to, and also when the store fails meanwhile.
import { expect, test } from 'vitest'
import { AppError } from '../../../server/errors.ts'
import { newId } from '../../../server/lib/ids.ts'
import type { AskEntry } from '../../../server/protocol/accounts/preferences.ts'
import type { UserId } from '../../../server/protocol/ids.ts'
import { PAGE_ORIGIN } from '../../../server/protocol/runs/origin.ts'
import { tellInTurn } from '../../../server/runs/requests.ts'
import type { WaitingRun } from '../../../server/runs/told-request.ts'

const ask: AskEntry[] = [{ through: 'push', after: 0, detail: 'name' }]
const request = {
  type: 'approval' as const,
  id: 'request',
  callHash: null,
  name: 'file_write',
  riskLevel: 'medium' as const,
  preview: null,
  createdAt: new Date(Date.now() - 60_000),
  deadline: null,
}

/** Tells of an overdue request. `onNow` is called with each look at the clock, counted from 1. */
function start({
  onNow = (_look: number) => {},
  claim = async () => true,
  run = {},
  people = async (): Promise<UserId[]> => [],
}: Partial<{
  onNow(look: number): void
  claim(): Promise<boolean>
  run: Partial<WaitingRun>
  people(): Promise<UserId[]>
}> = {}) {
  const told: AskEntry[] = []
  const readers: UserId[] = []
  const watchers = new Set<(count: number) => void>()
  let looks = 0
  const page = { count: 0 }
  const done = tellInTurn(
    request,
    {
      run: { id: newId(), userId: newId(), conversationId: newId(), projectId: null, ...run },
      runLog: {
        get pageCount() {
          return page.count
        },
        onListenersChange(watcher) {
          watchers.add(watcher)
          return () => void watchers.delete(watcher)
        },
      },
      origin: PAGE_ORIGIN,
      signal: new AbortController().signal,
    },
    {
      store: {
        settings: { preferences: async () => ({ ask }) },
        requestNotices: { claim },
        approvers: { people },
      },
      retry: (read) => read().catch(read),
      log: { info() {}, warn() {}, error() {} },
      now() {
        looks += 1
        onNow(looks)
        return new Date()
      },
      async tell(entry, _request, { reader }) {
        told.push(entry)
        readers.push(reader)
      },
    },
  )
  const leave = (): void => {
    page.count = 0
    for (const watcher of watchers) watcher(0)
  }
  return { told, readers, done, page, watchers, leave }
}

test('after a restart, a page has a moment to connect again before a person is told of an overdue request', async () => {
  const telling = start({
    // Just when the request is found to be overdue.
    onNow(look) {
      if (look === 2) telling.page.count = 1
    },
  })
  // It waits until the page leaves.
  await expect.poll(() => telling.page.count === 1 && telling.watchers.size === 1).toBe(true)
  expect(telling.told).toEqual([])
  telling.leave()
  await telling.done
  expect(telling.told).toEqual(ask)
})

test('a store that fails for a moment does not keep a person from being told', async () => {
  let claims = 0
  const { told, done } = start({
    async claim() {
      claims += 1
      if (claims === 1) throw new AppError('store_busy', 'The store is busy.')
      return true
    },
  })
  await done
  expect(claims).toBe(2)
  expect(told).toEqual(ask)
})

test('who stops being an approver before the time of an entry is not told', async () => {
  const [own, stays, leaves] = [newId<UserId>(), newId<UserId>(), newId<UserId>()]
  let looks = 0
  const { readers, done } = start({
    run: { userId: own, projectId: newId() },
    async people() {
      looks += 1
      return looks === 1 ? [stays, leaves] : [stays]
    },
  })
  await done
  expect(readers.toSorted()).toEqual([own, stays].toSorted())
})
