// The memory that remembered histories may take, for all conversations and for one.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../../../../server/db/database.ts'
import {
  type BranchHistory,
  createHistoryCache,
  type ReadMessage,
} from '../../../../../server/db/repositories/conversations/branch-history.ts'
import type { ConversationId, MessageId } from '../../../../../server/protocol/ids.ts'
import { useDatabases } from '../../../../support/store/databases.ts'
import { type HistoryStore, readAll } from '../../../../support/store/histories.ts'

describe('the limits of what is remembered', () => {
  const databases = useDatabases()
  let database: Database
  beforeAll(async () => {
    database = await databases.open('sqlite')
  })

  /** Conversations of one long branch each; counts the messages that are read. */
  function scripted(length: number, characters: number) {
    let read = 0
    const message = (at: number): ReadMessage => ({
      message: {
        id: `m${at}` as MessageId,
        parentId: at === 0 ? null : (`m${at - 1}` as MessageId),
        role: 'user',
        text: 'x'.repeat(characters),
        runId: null,
        runState: null,
        runEndedAt: null,
        summary: null,
        attachments: [],
        steps: [],
        holdsOutsideText: false,
        carries: new Map(),
        images: new Map(),
      },
      isFinal: true,
      hasFiles: false,
      summaryCount: 0,
    })
    const history: BranchHistory = {
      async branch(_id, from, page) {
        const last = Number(from.slice(1))
        const first = Math.max(0, last + 1 - page.length)
        const found = Array.from({ length: last + 1 - first }, (_, at) => message(first + at))
        read += found.length
        return found
      },
      some: async () => [],
      filesOf: async () => new Map(),
      summaries: async () => new Map(),
    }
    return {
      history,
      /** Reads a conversation; returns how many messages were read from the store. */
      async readsOf(store: HistoryStore, id: string): Promise<number> {
        read = 0
        await readAll(store, id as ConversationId, `m${length - 1}` as MessageId)
        return read
      },
    }
  }
  const storeWith = (history: BranchHistory, total: number, perConversation: number) => ({
    messages: { history: createHistoryCache(database, history, { total, perConversation }) },
  })

  test('all conversations together stay within the total; those read last are remembered', async () => {
    const { history, readsOf } = scripted(50, 1_000)
    // Each takes at least 50 messages of 2,000 bytes, so at most ten fit.
    const store = storeWith(history, 1_000_000, 500_000)
    const names = Array.from({ length: 30 }, (_, at) => `c${at}`)
    for (const name of names) expect(await readsOf(store, name)).toBe(50)
    const remembered: string[] = []
    for (const name of names.toReversed()) {
      if ((await readsOf(store, name)) === 50) break
      remembered.push(name)
    }
    expect(remembered.length).toBeGreaterThan(0)
    expect(remembered.length).toBeLessThanOrEqual(10)
  })

  test('a conversation that is too large is not remembered, and leaves the others alone', async () => {
    const { history, readsOf } = scripted(50, 1_000)
    const large = scripted(50, 20_000)
    const both: BranchHistory = {
      ...history,
      branch: (id, ...rest) =>
        id.startsWith('large') ? large.history.branch(id, ...rest) : history.branch(id, ...rest),
    }
    const store = storeWith(both, 1_000_000, 500_000)
    await readsOf(store, 'small')
    expect(await large.readsOf(store, 'large')).toBe(50)
    expect(await large.readsOf(store, 'large')).toBe(50)
    expect(await readsOf(store, 'small')).toBeLessThan(5)
  })
})
