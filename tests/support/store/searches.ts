// Search on both databases: a user with one conversation, and the hits of a query.
import { beforeAll } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { createStore, type Store } from '../../../server/db/store.ts'
import type { ConversationId, UserId } from '../../../server/protocol/ids.ts'
import { createIndexProgress } from '../../../server/search/progress.ts'
import { createSearch, type Search, type SearchRequest } from '../../../server/search/search.ts'
import { describeOnEachDatabase } from './databases.ts'
import { somebody } from './store-rows.ts'

export interface SearchSuite {
  readonly database: Database
  readonly store: Store
  /** A new user with an empty conversation. */
  person(): Promise<{ userId: UserId; conversation: ConversationId }>
  find(userId: UserId, q: string, more?: Partial<SearchRequest>): ReturnType<Search['find']>
  snippets(userId: UserId, q: string, more?: Partial<SearchRequest>): Promise<string[]>
  /** The texts of the hits, without highlight marks. */
  found(userId: UserId, q: string, more?: Partial<SearchRequest>): Promise<string[]>
}

/** Runs the same suite on SQLite and on PostgreSQL; its tests share a database. */
export function describeSearch(name: string, suite: (given: SearchSuite) => void): void {
  describeOnEachDatabase(name, (open) => {
    let database: Database
    let store: Store
    beforeAll(async () => {
      database = await open()
      store = createStore(database)
    })
    const given: SearchSuite = {
      get database() {
        return database
      },
      get store() {
        return store
      },
      async person() {
        const { id } = await somebody(store)
        return { userId: id, conversation: (await store.conversations.create(id, {})).id }
      },
      find: (userId, q, more = {}) =>
        createSearch(store, createIndexProgress(store)).find(userId, { q, limit: 20, ...more }),
      snippets: async (userId, q, more) =>
        (await given.find(userId, q, more)).items.map(({ snippet }) => snippet),
      found: async (userId, q, more) =>
        (await given.snippets(userId, q, more)).map((text) => text.replaceAll(/<\/?mark>/g, '')),
    }
    suite(given)
  })
}
