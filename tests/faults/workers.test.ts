// `--workers`: several instances behind one port; one that dies is replaced.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { createStore } from '../../server/db/store.ts'
import { databaseKeys } from '../support/server/server.ts'
import { serverPlace } from '../support/server/server-process.ts'
import { useDatabases } from '../support/store/databases.ts'
import { hasRedis, REDIS_URL, removeKeysOf } from '../support/store/redis.ts'

const databases = useDatabases()
const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-workers-'))
const main = join(inject('serverBuild'), 'main.js')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

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
  'an instance that dies is replaced, and the port keeps serving',
  async () => {
    const settings = await databases.migrated('postgres')
    const store = createStore(await databases.connect(settings))
    const place = await serverPlace(
      folder,
      { ...databaseKeys(settings), redis_url: REDIS_URL, shutdown_grace: 0 },
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
      await server.kill('SIGTERM')
      expect(await server.exited).toEqual({ code: 0, signal: null })
    } finally {
      await place.close()
      const identity = await store.settings.get('cluster', z.object({ id: z.string() }))
      if (identity !== undefined) await removeKeysOf(identity.id)
    }
  },
)
