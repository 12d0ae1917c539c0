// Several instances in the test process, on one PostgreSQL database and one Redis.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { z } from 'zod'
import type { Database } from '../../../server/db/database.ts'
import { createStore, type Store } from '../../../server/db/store.ts'
import { useDatabases } from '../store/databases.ts'
import { REDIS_URL, removeKeysOf } from '../store/redis.ts'
import { databaseKeys, type TestServer, useServers } from './server.ts'

export interface TestCluster {
  instances: TestServer[]
  database: Database
  store: Store
  /** The name of the store in Redis. */
  namespace: string
  /** Starts one more instance. */
  add(config?: Record<string, unknown>): Promise<TestServer>
}

/** Call at the top of a file or inside `describe`. */
export function useClusters(): {
  start(count: number, config?: Record<string, unknown>): Promise<TestCluster>
} {
  const databases = useDatabases()
  const servers = useServers()
  const folders: string[] = []
  const stores: string[] = []
  afterAll(async () => {
    for (const store of stores) await removeKeysOf(store)
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
  return {
    async start(count, config = {}) {
      const settings = await databases.migrated('postgres')
      const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-cluster-'))
      folders.push(folder)
      const database = await databases.connect(settings)
      const store = createStore(database)
      const instances: TestServer[] = []
      const add = async (more: Record<string, unknown> = {}): Promise<TestServer> => {
        const server = await servers.start({
          folder,
          config: { ...databaseKeys(settings), redis_url: REDIS_URL, ...config, ...more },
        })
        instances.push(server)
        return server
      }
      for (let index = 0; index < count; index += 1) await add()
      const identity = await store.settings.get('cluster', z.object({ id: z.string() }))
      if (identity === undefined) throw new Error('no instance has named the store')
      stores.push(identity.id)
      return { instances, database, store, namespace: `nanoclaw:${identity.id}`, add }
    },
  }
}
