// An upgrade while instances run: the released version and this one beside each other; `npm run test:upgrade` only.
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { callServer } from '../support/server/call-server.ts'
import { openEvents } from '../support/server/events.ts'
import { textsOf } from '../support/server/instance-processes.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../support/server/server-process.ts'
import { onServer, withDatabase } from '../support/store/postgres-server.ts'
import {
  hasRedisProgram,
  type RedisProcess,
  startRedisProcess,
} from '../support/store/redis-process.ts'

const isWanted = process.env.UPGRADE !== undefined && hasRedisProgram
const root = resolve(import.meta.dirname, '../..')
const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 }).trim()

/** The version to upgrade from: `UPGRADE_FROM`, the newest release, or, before the first one, what had an older schema. */
function released(): string {
  const named =
    process.env.UPGRADE_FROM ?? git('tag', '--list', 'v*', '--sort=-v:refname').split('\n')[0]
  if (named !== undefined && named !== '') return named
  const schema = 'migrations/postgres/meta/_journal.json'
  return `${git('log', '-1', '--format=%H', '--', schema)}^`
}

/** Builds that version. @returns the path of its `main.js`. */
function buildOf(version: string, folder: string): string {
  mkdirSync(folder)
  const archive = join(folder, 'sources.tar')
  git('archive', '--output', archive, version)
  execFileSync('tar', ['-xf', archive, '-C', folder])
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const build = `import('./scripts/build-server.ts').then(({ buildServer }) => buildServer('dist/server'))`
  execFileSync(process.execPath, ['--import', 'tsx', '--eval', build], { cwd: folder })
  return join(folder, 'dist/server/main.js')
}

describe.skipIf(!isWanted)('the released version and this one on one store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-upgrade-'))
  const name = `nanoclaw_test_${randomUUID().replaceAll('-', '')}`
  const places: ServerPlace[] = []
  let redis: RedisProcess
  let upstream: Upstream

  beforeAll(async () => {
    redis = await startRedisProcess()
    upstream = await startUpstream()
    // Empty: the released version creates its own schema.
    await onServer(inject('postgres').url, `create database ${name}`)
    const main = [
      buildOf(released(), join(folder, 'released')),
      join(inject('serverBuild'), 'main.js'),
    ]
    for (const program of main)
      places.push(
        await serverPlace(
          mkdtempSync(join(folder, 'instance-')),
          {
            db_type: 'postgresql',
            database_url: withDatabase(inject('postgres').url, name),
            redis_url: redis.url,
            data_dir: join(folder, 'data'),
            workspace_root: join(folder, 'workspaces'),
            models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
            titles: 'off',
            shutdown_grace: 1,
          },
          [program],
        ),
      )
  })
  afterAll(async () => {
    for (const place of places) await place.close()
    await upstream.close()
    await redis.kill()
    await onServer(inject('postgres').url, `drop database if exists ${name} with (force)`)
    rmSync(folder, { recursive: true, force: true })
  })

  async function send(through: ServerProcess, id: string): Promise<string> {
    const stream = await openEvents(`${through.url}/api/conversations/${id}/messages`, {
      body: { text: 'Go', stream_mode: 'delta', on_disconnect: 'continue' },
    })
    const { data } = await stream.next(({ event }) => event === 'run')
    await stream.next(({ event }) => event === 'step_delta')
    stream.leave()
    return data.run_id
  }
  const created = async (through: ServerProcess): Promise<string> =>
    (await callServer(through.url, 'POST', '/api/conversations', {})).data.id
  /** Follows a run to its end; a stream may break off when its instance loses the run. */
  async function follow(through: ServerProcess, runId: string): Promise<string[]> {
    for (;;) {
      const events = await (
        await openEvents(`${through.url}/api/runs/${runId}/events?stream_mode=delta`)
      ).all()
      if (events.some(({ event }) => event === 'done' || event === 'error')) return textsOf(events)
    }
  }
  const answers = async (through: ServerProcess, id: string): Promise<string[]> => {
    const { data } = await callServer(through.url, 'GET', `/api/conversations/${id}/messages`)
    return data.items.flatMap(({ role, text }: { role: string; text: string }) =>
      role === 'assistant' ? text : [],
    )
  }

  test("during the upgrade, answers continue, each version follows and continues the other's runs, and a newly started old version says why it refuses", async () => {
    const [oldPlace, newPlace] = places
    if (oldPlace === undefined || newPlace === undefined) throw new Error('both were prepared')
    const old = await oldPlace.start()
    const begun = 'Begun before the upgrade, with the old schema. '.repeat(60)
    upstream.enqueue(turn.text(begun, { delayMs: 20 }))
    const first = await created(old)
    const firstRun = await send(old, first)
    // It migrates the database while the old version runs on it.
    const fresh = await newPlace.start()
    expect(await follow(fresh, firstRun)).toEqual([begun])
    for (const each of [old, fresh]) expect(await answers(each, first)).toEqual([begun])

    for (const [performing, other] of [
      [old, fresh],
      [fresh, old],
    ] as const) {
      upstream.enqueue(
        turn.toolCalls([{ name: 'calculator', arguments: { expression: '6*7' } }]),
        turn.text('A word after the other. '.repeat(20), { delayMs: 5 }),
        turn.text('And once more.'),
      )
      const id = await created(other)
      expect(await follow(other, await send(performing, id))).toEqual([
        'A word after the other. '.repeat(20),
      ])
      expect(await follow(performing, await send(other, id))).toEqual(['And once more.'])
      expect(await answers(other, id)).toEqual(await answers(performing, id))
    }

    // The old one dies: the new one continues.
    upstream.enqueue(
      turn.text('Cut off by a kill. '.repeat(400), { delayMs: 20 }),
      turn.text('Said by the new version.'),
    )
    const second = await created(old)
    const secondRun = await send(old, second)
    await old.kill('SIGKILL')
    expect((await follow(fresh, secondRun)).at(-1)).toBe('Said by the new version.')
    expect(await answers(fresh, second)).toEqual(['Said by the new version.'])

    // The old version does not know the schema when it starts now: it says so and exits.
    await expect(oldPlace.start()).rejects.toThrow(/newer version/)
  })
})
