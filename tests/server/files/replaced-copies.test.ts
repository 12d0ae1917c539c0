// Copies of what restores and upgrades replaced: listed, and removed by age; nothing else with such a name is.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkCopies } from '../../../server/doctor/doctor.ts'
import { removeOldCopies, replacedCopies } from '../../../server/files/replaced-copies.ts'

const OLD = '2020-01-31T10-20-30-456Z'
const DAY_MS = 24 * 60 * 60 * 1000

function place() {
  const root = mkdtempSync(join(tmpdir(), 'nanoclaw-copies-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const places = {
    dataFolder: join(root, 'data'),
    workspaceRoot: join(root, 'workspaces'),
    databaseFile: join(root, 'data/nanoclaw.db'),
  }
  const copies = [
    `data/nanoclaw.db.before-${OLD}`,
    `data/nanoclaw.db.before-restore-${OLD}`,
    `data/nanoclaw.db.before-restore-${OLD}-wal`,
    `data/database.before-restore-${OLD}.jsonl`,
    `data/documents.before-restore-${OLD}/upload`,
    `workspaces/.before-restore-${OLD}/user/project/notes.md`,
  ]
  const others = [
    'data/nanoclaw.db',
    `data/secret.key.before-restore-${OLD}`,
    `data/token-keys.json.before-restore-${OLD}`,
    `data/notes.before-${OLD}`,
    'data/nanoclaw.db.before-lunch',
    `workspaces/notes.before-restore-${OLD}/a.md`,
    `workspaces/user/.before-restore-${OLD}`,
  ]
  for (const name of [...copies, ...others]) {
    mkdirSync(join(root, name, '..'), { recursive: true })
    writeFileSync(join(root, name), 'x')
  }
  return { root, places, others }
}

test('copies that are older than the given days are removed with what is in them; keys and files of others stay', async () => {
  const { root, places, others } = place()
  const logged: unknown[] = []
  const log = {
    info: (details: object) => void logged.push(details),
    warn: (details: object) => void logged.push(['not removed', details]),
  }
  const remove = (days: number | null, now: Date) => {
    const stop = removeOldCopies({ places, days, now: () => now, log })
    onTestFinished(stop)
  }
  expect(await replacedCopies(places)).toHaveLength(6)
  // What was moved here only now is as old as that, whatever its name says.
  remove(90, new Date(Date.now() + 89 * DAY_MS))
  remove(null, new Date(Date.now() + 900 * DAY_MS))
  remove(90, new Date(Date.now() + 91 * DAY_MS))
  await expect.poll(() => logged.length).toBe(6)
  expect(JSON.stringify(logged)).not.toContain('not removed')
  expect(await replacedCopies(places)).toEqual([])
  for (const name of others) expect(existsSync(join(root, name)), name).toBe(true)
  expect(readdirSync(join(root, 'workspaces'))).not.toContain(`.before-restore-${OLD}`)
})

test('the doctor lists the copies, and says nothing without any', async () => {
  const { root, places } = place()
  const [finding, ...more] = await checkCopies({ places, days: 90 })
  expect(more).toEqual([])
  expect(finding).toMatchObject({ state: 'ok', code: 'copies', params: { count: 6, days: 90 } })
  expect(finding?.detail).toContain(join(root, `workspaces/.before-restore-${OLD}`))
  expect(await checkCopies({ places, days: null })).toMatchObject([{ code: 'copies_kept' }])
  const nowhere = { dataFolder: '/nowhere', workspaceRoot: '/nowhere', databaseFile: null }
  expect(await checkCopies({ places: nowhere, days: 90 })).toEqual([])
})
