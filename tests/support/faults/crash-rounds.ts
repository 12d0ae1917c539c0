// Kills a server in the middle of a run, restarts it, and checks every guarantee that must hold afterwards.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import type { DatabaseSettings, Dialect } from '../../../server/db/database.ts'
import { SqliteClient } from '../../../server/lib/sqlite-driver.ts'
import { applyRunEvent } from '../../../server/protocol/runs/apply-run-event.ts'
import type { Step } from '../../../server/protocol/runs/step.ts'
import { startUpstream, type Upstream } from '../provider/upstream.ts'
import { callServer } from '../server/call-server.ts'
import { type EventReader, openEvents, type ReceivedEvent } from '../server/events.ts'
import { databaseKeys } from '../server/server.ts'
import { type ServerPlace, type ServerProcess, serverPlace } from '../server/server-process.ts'
import { useDatabases } from '../store/databases.ts'
import { linesWritten, playTask, RUN_TOKENS } from './crash-script.ts'

/** One way to kill the server. */
export interface Death {
  /** Arms the kill, just before the message is sent. */
  prepare?(server: ServerProcess): Promise<void>
  /** Resolves when the server is dead. `stream` is null if the server died before it responded. */
  die(server: ServerProcess, stream: EventReader | null): Promise<void>
}

export interface CrashRounds {
  readonly place: ServerPlace
  /** Performs one run during which the server dies; fails if anything was lost, done twice or not completed. */
  round(task: string, death: Death): Promise<void>
  /** Asserts that the stored usage equals what the runs used. */
  expectUsageCountedOnce(): Promise<void>
}

const stepsOf = (events: readonly ReceivedEvent[]): readonly Step[] =>
  events.reduce<readonly Step[]>((steps, { event, data }) => {
    if (event === 'process_step') return applyRunEvent(steps, { event, step: data })
    if (event === 'step_delta') return applyRunEvent(steps, { event, ...data })
    return steps
  }, [])

/** The steps that the client received as complete; the last event is not counted. */
const completeSteps = (events: readonly ReceivedEvent[]): Step[] => {
  const last = events.at(-1)
  return events.flatMap(({ event, data }) =>
    event === 'process_step' && data !== last?.data ? [data] : [],
  )
}

/** Result of `PRAGMA integrity_check` on a database file that may be in use. */
export function integrityOf(file: string): unknown {
  const client = new SqliteClient(file, { readonly: true })
  try {
    return client.pragma('integrity_check', { simple: true })
  } finally {
    client.close()
  }
}

/** A server with a scripted model and its own database. Call inside `describe`. */
export function useCrashRounds(
  dialect: Dialect,
  /** Maps the database settings, for example to put a proxy between the server and its database. */
  through: (settings: DatabaseSettings) => Promise<DatabaseSettings> = async (settings) => settings,
): CrashRounds {
  const databases = useDatabases()
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-crash-'))
  let upstream: Upstream
  let place: ServerPlace
  let server: ServerProcess
  let sqliteFile: string | null = null
  let projectId: string
  let rounds = 0

  beforeAll(async () => {
    upstream = await startUpstream()
    upstream.program((request) => playTask(request))
    const settings = await through(await databases.settings(dialect))
    if (settings.dialect === 'sqlite') sqliteFile = settings.file
    place = await serverPlace(folder, {
      ...databaseKeys(settings),
      models: [{ id: 'scripted', api_url: upstream.url, api_key: 'none' }],
      titles: 'off',
      log_level: 'warn',
    })
    server = await place.start()
    projectId = (await call('POST', '/api/projects', { name: 'Crashes' })).id
  })
  afterAll(async () => {
    await place?.close()
    await upstream?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const call = async (method: string, path: string, body?: unknown) =>
    (await callServer(server.url, method, path, body)).data

  /** Sends the message. Null if there was no response or it is not a stream: the server was already dying. */
  async function ask(conversationId: string, task: string): Promise<EventReader | null> {
    const stream = await openEvents(`${server.url}/api/conversations/${conversationId}/messages`, {
      body: { text: task, stream_mode: 'delta', client_id: 'once' },
    }).catch(() => null)
    return stream?.status === 200 ? stream : null
  }

  /** The rest of the run's events: resumes after the last id, or sends the message again if no event had arrived. */
  async function follow(conversationId: string, task: string, seen: readonly ReceivedEvent[]) {
    const begun = seen[0]
    if (begun === undefined) {
      const again = await ask(conversationId, task)
      if (again === null) throw new Error('the started server does not take the message')
      return await again.all()
    }
    const stream = await openEvents(
      `${server.url}/api/runs/${begun.data.run_id}/events?stream_mode=delta`,
      { headers: { 'last-event-id': String(seen.at(-1)?.id ?? 0) } },
    )
    return await stream.all()
  }

  async function expectStored(
    conversationId: string,
    task: string,
    seen: readonly ReceivedEvent[],
  ) {
    const all = [...seen, ...(await follow(conversationId, task, seen))]
    const ids = all.map(({ id }) => id)
    expect(ids, 'ids grow and none comes twice').toEqual([...new Set(ids)].sort((a, b) => a - b))
    expect(all.filter(({ event }) => event === 'done' || event === 'error')).toHaveLength(1)
    expect(all.at(-1)?.event).toBe('done')

    const page = await call('GET', `/api/conversations/${conversationId}/messages`)
    const [question, answer] = page.items
    expect(page.items, 'the message and its answer are there once').toHaveLength(2)
    expect(question.text).toBe(task)
    expect(answer.status).toBe('completed')
    expect(stepsOf(all), 'what was drawn is what is stored').toEqual(answer.process_steps)
    for (const step of completeSteps(seen))
      expect(answer.process_steps[step.index], 'a step seen complete stays').toEqual(step)
    const writes = answer.process_steps.filter(
      (step: Step) => step.type === 'tool_call' && step.name === 'file_write',
    )
    expect(writes).toHaveLength(1)
    const written = await linesWritten(join(folder, 'workspaces'), task)
    expect(written, 'an append ran at most once').toBeLessThanOrEqual(1)
    const [result] = answer.process_steps.filter(
      (step: Step) => step.type === 'tool_result' && step.name === 'file_write',
    )
    if (JSON.parse(result.content).success)
      expect(written, 'a call that says it worked has worked').toBe(1)
    const run = await call('GET', `/api/runs/${all[0]?.data.run_id}`)
    expect(run.usage.total_tokens, 'each round is counted once').toBe(RUN_TOKENS)
  }

  return {
    get place() {
      return place
    },
    async round(task, { prepare, die }) {
      rounds += 1
      const created = await call('POST', '/api/conversations', {
        project_id: projectId,
        approval: 'auto',
      })
      await prepare?.(server)
      const stream = await ask(created.id, task)
      await die(server, stream)
      const seen = stream === null ? [] : [...(await stream.all())]
      server = await place.start()
      await expectStored(created.id, task, seen)
      if (sqliteFile !== null) expect(integrityOf(sqliteFile)).toBe('ok')
    },
    async expectUsageCountedOnce() {
      const stats = await call('GET', '/api/stats/tokens?period=daily')
      expect(stats.total_tokens, 'the stored usage is what the runs used').toBe(rounds * RUN_TOKENS)
    },
  }
}
