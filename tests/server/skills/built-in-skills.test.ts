// The skills that come with the server are read once, unless a fault of the disk has kept some of them from being read.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createStore } from '../../../server/db/store.ts'
import { createSkills } from '../../../server/skills/skills.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'

let folder = ''
// The folder of an installation cannot be made faulty.
vi.mock('../../../server/skills/built-in.ts', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  builtInSkills: () => folder,
}))
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'built-in-skills-'))
})
afterEach(async () => {
  vi.useRealTimers()
  await rm(folder, { recursive: true, force: true })
})

const write = async (name: string, text: string): Promise<void> => {
  await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, name, 'SKILL.md'), text)
}
const written = (name: string): string =>
  `---\nname: ${name}\ndescription: What ${name} does.\n---\nDo it well.\n`

describeOnEachDatabase('skills that come with the server', (open) => {
  test('that could not be read once are there the next time, and complete ones are not read again', async () => {
    const store = createStore(await open())
    const { id: userId } = await store.users.ensureDefault('default')
    vi.useFakeTimers({ toFake: ['performance'] })
    const skills = createSkills({
      store,
      workspaces: {
        open() {
          throw new Error('There is no project.')
        },
      },
      serverFolders: [folder],
      access: { allowsFeature: () => true },
    })
    const names = async (): Promise<string[]> => {
      const active = await skills.active(userId, null)
      vi.advanceTimersByTime(10_000)
      return active.map(({ name }) => name)
    }

    expect(await names()).toEqual([])
    await write('plan', written('plan'))
    await write('review', 'These bytes are not those of a skill.')
    expect(await names()).toEqual(['plan'])
    await write('review', written('review'))
    expect(await names()).toEqual(['plan', 'review'])
    await rm(join(folder, 'review'), { recursive: true })
    expect(await names()).toEqual(['plan', 'review'])
  })
})
