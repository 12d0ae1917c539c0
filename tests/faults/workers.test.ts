// `--workers`: several instances behind one port; one that dies is replaced, and a signal replaces all of them.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { createStore } from '../../server/db/store.ts'
import { scripted } from '../support/provider/scripted.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useUpstream } from '../support/provider/use-upstream.ts'
import { databaseKeys } from '../support/server/server.ts'
import { serverPlace } from '../support/server/server-process.ts'
import { createSteadyClient } from '../support/server/steady-client.ts'
import { useDatabases } from '../support/store/databases.ts'
import { hasRedis, REDIS_URL, removeKeysOf } from '../support/store/redis.ts'

const upstream = await useUpstream()
const databases = useDatabases()
const { post, close } = createSteadyClient()
afterAll(close)
const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-workers-'))
const main = join(inject('serverBuild'), 'main.js')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const Created = z.object({ data: z.object({ id: z.string() }) })

test('several processes on SQLite are refused in one line', () => {
  const config = join(folder, 'sqlite.yml')
  writeFileSync(config, JSON.stringify({ db_type: 'sqlite', data_dir: join(folder, 'sqlite') }))
  const { status, stderr } = spawnSync(process.execPath, [main, '--workers', 'auto'], {
    env: { ...process.env, NANOCLAW_CONFIG: config },
    encoding: 'utf8',
  })
  expect(status).toBe(2)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(stderr).toContain('db_type: sqlite')
})

test.skipIf(!hasRedis)(
  'an instance that dies is replaced, a signal replaces all, and the port keeps serving',
  async () => {
    const settings = await databases.migrated('postgres')
    const store = createStore(await databases.connect(settings))
    const place = await serverPlace(
      folder,
      { ...databaseKeys(settings), ...scripted(upstream), redis_url: REDIS_URL },
      [main, '--workers', '2'],
    )
    try {
      const server = await place.start()
      const instances = (): Promise<string[]> => store.leases.others('nobody')
      await expect.poll(async () => (await instances()).length).toBe(2)
      const pids = (text: string): number[] =>
        spawnSync('pgrep', ['-P', text], { encoding: 'utf8' }).stdout.trim().split('\n').map(Number)
      const [victim] = pids(String(server.pid))
      if (victim === undefined) throw new Error('it has children')
      const before = new Set(await instances())
      process.kill(victim, 'SIGKILL')
      await expect
        .poll(async () => (await instances()).filter((one) => !before.has(one)).length)
        .toBe(1)
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
      // Whichever worker is asked, the metrics are those of both, each with its own label and one description.
      const metrics = async () =>
        await (await fetch(`${server.url}/metrics`, { headers: { connection: 'close' } })).text()
      const workers = async () =>
        [...(await metrics()).matchAll(/^nanoclaw_active_runs\{worker="(\d+)"\} 0$/gm)]
          .map(([, label]) => label)
          .toSorted()
      await expect.poll(workers).toEqual(['2', '3'])
      expect(await workers()).toEqual(['2', '3'])
      const text = await metrics()
      expect(text.match(/^# TYPE nanoclaw_active_runs /gm)).toHaveLength(1)
      expect(text.match(/^process_cpu_seconds_total\{worker=/gm)).toHaveLength(2)

      // Messages are sent all the time while every instance is replaced.
      upstream.program(() => turn.text('Here.'))
      const old = pids(String(server.pid))
      const isReplaced = (): boolean => {
        const now = pids(String(server.pid))
        return now.length === 2 && now.every((pid) => !old.includes(pid))
      }
      const answers: string[] = []
      const chat = async (): Promise<void> => {
        const { body } = await post(`${server.url}/api/conversations`, {})
        const { data } = Created.parse(JSON.parse(body))
        const path = `/api/conversations/${data.id}/messages`
        const { status, body: answer } = await post(server.url + path, {
          text: 'Go',
          stream: false,
        })
        answers.push(status === 200 ? 'answered' : `${status} ${answer}`)
      }
      process.kill(server.pid, 'SIGUSR2')
      while (!isReplaced()) await Promise.all([chat(), chat(), chat()])
      await chat()
      expect(answers.filter((answer) => answer !== 'answered')).toEqual([])

      // Ends those that are just starting in the place of others, too.
      process.kill(server.pid, 'SIGUSR2')
      await server.kill('SIGTERM')
      expect(await server.exited).toEqual({ code: 0, signal: null })
    } finally {
      await place.close()
      const identity = await store.settings.get('cluster', z.object({ id: z.string() }))
      if (identity !== undefined) await removeKeysOf(identity.id)
    }
  },
)
