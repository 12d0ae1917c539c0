// What PostgreSQL commits for a server that is already dead, after the next one has begun: it is not left lying.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useUpstream } from '../support/provider/use-upstream.ts'
import { callServer } from '../support/server/call-server.ts'
import { databaseKeys } from '../support/server/server.ts'
import { NO_PROGRAMS, serverPlace } from '../support/server/server-process.ts'
import { useDatabases } from '../support/store/databases.ts'

const upstream = await useUpstream()
const databases = useDatabases()

/** Commits of new runs wait for this lock while the test has it: until the server's own limit of 15 s for a statement. */
const LATE = `
  create function wait_for_test() returns trigger language plpgsql as $$
    begin
      perform set_config('lock_timeout', '0', true);
      perform pg_advisory_xact_lock_shared(47);
      return null;
    end $$;
  create constraint trigger late after insert on runs deferrable initially deferred
    for each row execute function wait_for_test();`

/** How many commits wait; other files of tests have locks of their own in their databases. */
const waitingCommits = async (client: pg.Client): Promise<number | null> =>
  (
    await client.query(
      "select 1 from pg_locks where locktype = 'advisory' and objid = 47 and not granted and database = (select oid from pg_database where datname = current_database())",
    )
  ).rowCount

interface Ways {
  /** Starts a run whose row cannot be committed yet, so that no answer comes. */
  begin(): Promise<void>
  /** Whether it was done, once. */
  assertDone(): Promise<void>
}
type Call = (method: string, path: string, body?: unknown) => Promise<ReturnType<typeof JSON.parse>>

const ofMessage = async (call: Call): Promise<Ways> => {
  const { id } = await call('POST', '/api/conversations', {})
  const path = `/api/conversations/${id}/messages`
  return {
    async begin() {
      call('POST', path, { text: 'Look.' }).catch(() => {})
    },
    async assertDone() {
      const { items } = await call('GET', path)
      expect(items.map(({ text }: { text: string }) => text)).toEqual(['Look.', 'It is done.'])
    },
  }
}
const ofSchedule = async (call: Call): Promise<Ways> => {
  const { id } = await call('POST', '/api/schedules', {
    name: 'Morning',
    text: 'Look.',
    when: { every: '1d' },
  })
  return {
    async begin() {
      await call('POST', `/api/schedules/${id}/run`)
    },
    async assertDone() {
      const { items } = await call('GET', `/api/schedules/${id}/occurrences`)
      expect(items.map(({ state }: { state: string }) => state)).toEqual(['done'])
    },
  }
}

test.each([
  ['a message', ofMessage],
  ['a schedule', ofSchedule],
] as const)(
  'the run of %s goes on whose commit came after the server was killed and the next one had begun',
  async (_what, prepare) => {
    upstream.program(() => turn.text('It is done.'))
    const before = upstream.requests.length
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-late-'))
    const keys = databaseKeys(await databases.migrated('postgres'))
    const place = await serverPlace(folder, {
      ...keys,
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      ...NO_PROGRAMS,
    })
    const client = new pg.Client({ connectionString: String(keys.database_url) })
    await client.connect()
    onTestFinished(async () => {
      await client.end()
      await place.close()
      rmSync(folder, { recursive: true, force: true })
    })
    await client.query(LATE)

    let server = await place.start()
    const { begin, assertDone } = await prepare(
      async (method, path, body) => (await callServer(server.url, method, path, body)).data,
    )
    await client.query('select pg_advisory_lock(47)')
    await begin()
    await eventually(async () => expect(await waitingCommits(client)).toBe(1))
    await server.kill('SIGKILL')
    server = await place.start()
    expect(upstream.requests).toHaveLength(before)
    // Otherwise nothing would be committed late, and nothing proven.
    expect(await waitingCommits(client)).toBe(1)
    await client.query('select pg_advisory_unlock(47)')
    await eventually(assertDone)
    expect(upstream.requests).toHaveLength(before + 1)
  },
)
