// Several instances as processes on one PostgreSQL and one Redis, which tests kill, freeze and cut off.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, inject } from 'vitest'
import { z } from 'zod'
import { createStore, type Store } from '../../../server/db/store.ts'
import type { RunId } from '../../../server/protocol/ids.ts'
import { startUpstream, type Upstream } from '../provider/upstream.ts'
import { useDatabases } from '../store/databases.ts'
import { onServer } from '../store/postgres-server.ts'
import { REDIS_URL, removeKeysOf } from '../store/redis.ts'
import { type EventReader, openEvents, type ReceivedEvent } from './events.ts'
import { type Link, startLink } from './link.ts'
import { type Answer, databaseKeys } from './server.ts'
import { type ServerPlace, type ServerProcess, serverPlace } from './server-process.ts'

export interface InstanceProcesses {
  readonly upstream: Upstream
  /** The connection of all instances to Redis. */
  readonly redis: Link
  readonly store: Store
  readonly processes: ServerProcess[]
  /** The folder with the files of all projects. */
  readonly workspaces: string
  /** Starts an instance again that has been killed. */
  restart(index: number): Promise<void>
  urlOf(index: number): string
  call(index: number, method: string, path: string, body?: unknown): Promise<Answer['data']>
  /** A new conversation in the project of the tests. */
  conversation(through?: number, settings?: Record<string, unknown>): Promise<string>
  send(index: number, id: string): Promise<EventReader>
  /** Follows a run to its end as the page does: reconnects, through any instance, with the last event id. */
  followToEnd(runId: string, preferred: number): Promise<ReceivedEvent[]>
  /** The instance that performs the run; each logs its name at startup. */
  ownerOf(runId: RunId): Promise<number>
  /** Ends every connection to the database, also in the middle of a transaction. */
  terminateConnections(): Promise<void>
}

/** The text of the steps as a client has it after these events. */
export function textsOf(events: readonly ReceivedEvent[]): string[] {
  const steps = new Map<number, string>()
  for (const { event, data } of events) {
    if (event === 'step_delta') steps.set(data.index, (steps.get(data.index) ?? '') + data.delta)
    else if (event === 'process_step' && data.type === 'text') steps.set(data.index, data.content)
  }
  return [...steps.entries()].sort(([a], [b]) => a - b).map(([, text]) => text)
}

/** Call inside `describe`. The instances start before its first test. */
export function useInstanceProcesses(
  count: number,
  options: {
    config?: Record<string, unknown>
    /** A command before Node, for each instance. */
    wrapper?(index: number): readonly string[]
    /** Starts another Redis than that of all tests. */
    redis?(): Promise<{ url: string }>
    /** Starts a proxy between the instances and the database. */
    database?(target: { host: string; port: number }): Promise<{ port: number }>
  } = {},
): InstanceProcesses {
  const databases = useDatabases()
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-instances-'))
  const places: ServerPlace[] = []
  const processes: ServerProcess[] = []
  let upstream: Upstream
  let redis: Link
  let store: Store
  let project: string
  let databaseUrl: URL
  const start = async (index: number): Promise<void> => {
    const place = places[index]
    if (place === undefined) throw new Error(`there is no instance ${index}`)
    processes[index] = await place.start({ wrapper: options.wrapper?.(index) ?? [] })
  }

  beforeAll(async () => {
    upstream = await startUpstream()
    const target = new URL((await options.redis?.())?.url ?? REDIS_URL)
    redis = await startLink({ host: target.hostname, port: Number(target.port || 6379) })
    const settings = await databases.migrated('postgres')
    store = createStore(await databases.connect(settings))
    if (settings.dialect !== 'postgres' || !('url' in settings.connection))
      throw new Error('it is a PostgreSQL database with an address')
    databaseUrl = new URL(settings.connection.url)
    const url = new URL(databaseUrl)
    const between = await options.database?.({ host: url.hostname, port: Number(url.port || 5432) })
    if (between !== undefined) url.host = `127.0.0.1:${between.port}`
    for (let index = 0; index < count; index += 1)
      places.push(
        await serverPlace(mkdtempSync(join(folder, 'instance-')), {
          ...databaseKeys({ ...settings, connection: { url: url.href } }),
          redis_url: `redis://127.0.0.1:${redis.port}`,
          data_dir: join(folder, 'data'),
          workspace_root: join(folder, 'workspaces'),
          models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
          titles: 'off',
          shutdown_grace: 1,
          ...options.config,
        }),
      )
    await Promise.all(places.map((_place, index) => start(index)))
    project = (await call(0, 'POST', '/api/projects', { name: 'Shared' })).id
  })
  beforeEach(() => upstream.reset())
  afterAll(async () => {
    for (const place of places) await place.close()
    const identity = await store.settings.get('cluster', z.object({ id: z.string() }))
    redis.close()
    if (identity !== undefined) await removeKeysOf(identity.id)
    await upstream.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const urlOf = (index: number): string => {
    const { url } = processes[index] ?? {}
    if (url === undefined) throw new Error(`instance ${index} was not started`)
    return url
  }
  async function call(
    index: number,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Answer['data']> {
    const response = await fetch(`${urlOf(index)}${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const { data } = z.object({ data: z.unknown() }).parse(await response.json())
    return data
  }

  return {
    get upstream() {
      return upstream
    },
    get redis() {
      return redis
    },
    get store() {
      return store
    },
    processes,
    workspaces: join(folder, 'workspaces'),
    restart: start,
    terminateConnections: () =>
      onServer(
        inject('postgres').url,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${databaseUrl.pathname.slice(1)}'`,
      ),
    urlOf,
    call,
    conversation: async (through = 0, more = {}) =>
      (await call(through, 'POST', '/api/conversations', { project_id: project, ...more })).id,
    send: (index, id) =>
      openEvents(`${urlOf(index)}/api/conversations/${id}/messages`, {
        body: { text: 'Go', stream_mode: 'delta', on_disconnect: 'continue' },
      }),
    async followToEnd(runId, preferred) {
      const events: ReceivedEvent[] = []
      for (let index = preferred; ; index = (index + 1) % count) {
        try {
          const stream = await openEvents(
            `${urlOf(index)}/api/runs/${runId}/events?stream_mode=delta`,
            { headers: { 'last-event-id': String(events.at(-1)?.id ?? 0) } },
          )
          if (stream.status === 200)
            events.push(...(await stream.all()).filter(({ id }) => !Number.isNaN(id)))
        } catch {
          // That instance is gone; the next one has the stream.
        }
        if (events.at(-1)?.event === 'done' || events.at(-1)?.event === 'error') return events
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    },
    async ownerOf(runId) {
      let owner = -1
      await expect
        .poll(async () => {
          const instance = (await store.runs.find(runId))?.owner ?? 'nobody'
          owner = processes.findIndex((one) => one.logged().includes(instance))
          return owner
        })
        .not.toBe(-1)
      return owner
    },
  }
}
