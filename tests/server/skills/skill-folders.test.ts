// Folders of skills, which a project may fill with anything, are read within limits.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSkillFolders } from '../../../server/skills/skill-folders.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'skill-folders-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

const put = async (path: string, content = ''): Promise<void> => {
  const target = join(root, path)
  await mkdir(join(target, '..'), { recursive: true })
  await writeFile(target, content)
}
const skill = (name: string) =>
  put(`s/${name}/SKILL.md`, `---\nname: ${name}\ndescription: x\n---\n`)
const faults = async () =>
  (await createSkillFolders().list(root, 's')).map(({ folder, read }) => [
    folder,
    read.ok ? null : read.error,
  ])

test('empty folders count as files do, and folders without SKILL.md are no skills', async () => {
  await skill('good')
  await skill('hollow')
  await put('s/other/notes.md')
  for (let at = 0; at < 1_001; at += 1)
    await mkdir(join(root, `s/hollow/${at % 30}/${at}`), { recursive: true })
  expect(await faults()).toEqual([
    ['good', null],
    ['hollow', 'It has more than 1000 files.'],
  ])
})

test('skills beyond five thousand files in all are invalid', async () => {
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
    await skill(name)
    for (let at = 0; at < 900; at += 1) await put(`s/${name}/${at}`)
  }
  const all = await faults()
  expect(all.slice(0, 5).map(([, fault]) => fault)).toEqual([null, null, null, null, null])
  for (const [, fault] of all.slice(5)) expect(fault).toContain('5000 files')
})

test('a name that no file may have makes a skill invalid, also when it is read alone', async () => {
  await skill('good')
  await put('s/good/a\u202eb/x')
  const [listed] = await createSkillFolders().list(root, 's')
  const alone = await createSkillFolders().read(root, 's/good')
  for (const found of [listed, alone]) expect(found).toMatchObject({ read: { ok: false } })
})
