// A server whose clock the test moves, with what tests of schedules ask of it.
import { beforeEach } from 'vitest'
import type { Dialect } from '../../../server/db/database.ts'
import type { Upstream } from '../../support/provider/upstream.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { databaseKeys, type TestServer, useServers } from '../../support/server/server.ts'
import { type SimulatedClock, simulatedClock } from '../../support/server/simulated-clock.ts'
import { useDatabases } from '../../support/store/databases.ts'

/** Call inside `describe`. Every test has a database and a clock of its own. */
export function useScheduleServer(upstream: Upstream, dialect: Dialect) {
  const { start } = useServers()
  const databases = useDatabases()
  let model: Parameters<Upstream['program']>[0]
  let clock: SimulatedClock
  let keys: Record<string, unknown>
  let server: TestServer
  beforeEach(async () => {
    clock = simulatedClock('2026-03-27T07:29:50Z')
    keys = databaseKeys(await databases.migrated(dialect))
    model = () => turn.text('It is done.')
    upstream.program((request) => model(request))
  })
  const call = async (method: string, path: string, body?: unknown) =>
    (await server.call(method, path, body === undefined ? {} : { body })).json.data
  return {
    /** Starts a server on the same database; one that runs must be closed first. */
    async open(config: Record<string, unknown> = {}, folder?: string): Promise<TestServer> {
      server = await start({
        clock,
        ...(folder === undefined ? {} : { folder }),
        config: {
          ...keys,
          models: [{ id: 'scripted', api_url: upstream.url }],
          titles: 'off',
          network: { allow_private: ['127.0.0.0/8'] },
          ...config,
        },
      })
      return server
    },
    /** What the model answers from now on. */
    answerWith(program: typeof model): void {
      model = program
    },
    get clock() {
      return clock
    },
    call,
    create: async (body: Record<string, unknown>) =>
      await call('POST', '/api/schedules', { name: 'Morning', text: 'Look.', ...body }),
    get: async (id: string) => await call('GET', `/api/schedules/${id}`),
    occurrences: async (id: string) =>
      (await call('GET', `/api/schedules/${id}/occurrences`)).items,
    /** The due times, newest first, and what came of each. */
    states: async (id: string) =>
      (await call('GET', `/api/schedules/${id}/occurrences`)).items.map(
        ({ due_at: due, state }: Record<string, string>) => [due?.slice(11, 19), state],
      ),
  }
}
