// A skill that is added to a project replaces what its folder held as a whole, and is refused if the project could not read it.
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../server/db/database.ts'
import { addProjectSkill } from '../../../server/skills/project-skill.ts'
import { createSkillFolders } from '../../../server/skills/skill-folders.ts'
import { zipOf } from '../../support/server/uploads.ts'
import { describeOnEachDatabase } from '../../support/store/databases.ts'
import { openProject, treeOf } from '../../support/store/projects.ts'
import { all, by, newest } from '../workspace/checkpoints/changes.ts'

const MEGABYTE = 1024 * 1024
const skillText = (name: string, body = 'Salt it.'): string =>
  `---\nname: ${name}\ndescription: What ${name} does.\n---\n${body}\n`

describeOnEachDatabase('a skill that is added to a project', (open) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })

  /** A project whose folder of the skill `cook` holds these files. */
  async function projectWith(
    files: Record<string, string>,
    options: Parameters<typeof openProject>[1] = {},
  ) {
    const project = await openProject(database, options)
    const folder = join(project.workspace.root, '.agents/skills')
    const put = async (path: string, content: string) => {
      await mkdir(join(folder, path, '..'), { recursive: true })
      await writeFile(join(folder, path), content)
    }
    for (const [path, content] of Object.entries(files)) await put(`cook/${path}`, content)
    const folders = createSkillFolders()
    return {
      ...project,
      put,
      folder: join(folder, 'cook'),
      add: async (archive: Record<string, string>) =>
        addProjectSkill(await zipOf(archive), project.workspace, {
          services: project,
          skills: { folders },
        }),
      tree: () => treeOf(join(folder, 'cook')),
      isValid: async () => {
        const listed = await folders.list(project.workspace.root, '.agents/skills')
        return listed.find((one) => one.folder === 'cook')?.read.ok
      },
    }
  }

  test('is exactly one of two that arrive at the same time, never a mixture of both', async () => {
    const one = { 'SKILL.md': skillText('cook', 'One.'), 'a.py': 'a', 'both.py': '1' }
    const other = { 'SKILL.md': skillText('cook', 'Other.'), 'b.py': 'b', 'both.py': '2' }
    const { add, tree } = await projectWith({ 'SKILL.md': skillText('cook'), 'x.py': 'x' })
    await Promise.all([add(one), add(other)])
    expect([one, other]).toContainEqual(await tree())
  })

  test('replaces a folder that cannot be read as a skill, with its links and empty folders', async () => {
    const next = { 'SKILL.md': skillText('cook', 'Pepper it.'), 'scripts/run.py': 'print()' }
    const whole = { ...next, 'scripts/': '' }
    const tooDeep = await projectWith({ 'SKILL.md': skillText('cook'), '1/2/3/4/5/6/7.md': '7' })
    const withoutText = await projectWith({ 'notes.md': 'old' })
    const faulty = await projectWith({ 'SKILL.md': 'no front matter', 'old.md': 'old' })
    await mkdir(join(faulty.folder, 'old'))
    await symlink('/etc', join(faulty.folder, 'scripts'))
    for (const { add, tree, isValid } of [tooDeep, withoutText, faulty]) {
      expect(await isValid()).not.toBe(true)
      await add(next)
      expect(await tree()).toEqual(whole)
      expect(await isValid()).toBe(true)
    }
  })

  test('may have a folder where the version before had a file, and a file where it had a folder; each is one change that can be undone', async () => {
    const project = await projectWith({ 'SKILL.md': skillText('cook'), scripts: 'a file' })
    const { checkpoints, workspace, add, tree } = project
    const before = await tree()
    const inFolder = { 'SKILL.md': skillText('cook', 'Two.'), 'scripts/run.py': 'print()' }
    await add(inFolder)
    const between = { ...inFolder, 'scripts/': '' }
    expect(await tree()).toEqual(between)
    const first = await newest(project)
    const last = { 'SKILL.md': skillText('cook', 'Three.'), scripts: 'a file again' }
    await add(last)
    expect(await tree()).toEqual(last)
    expect(await all(project)).toHaveLength(2)
    await checkpoints.restore(workspace, (await newest(project)).id, by('restore'))
    expect(await tree()).toEqual(between)
    await checkpoints.restore(workspace, first.id, by('restore'))
    expect(await tree()).toEqual(before)
  })

  test('keeps a script executable, and lists only what has changed', async () => {
    const project = await projectWith({
      'SKILL.md': skillText('cook'),
      'same.md': 'same',
      'run.sh': 'one',
    })
    const { add, tree, folder } = project
    for (const file of ['SKILL.md', 'same.md']) await chmod(join(folder, file), 0o600)
    await chmod(join(folder, 'run.sh'), 0o700)
    await add({ 'SKILL.md': skillText('cook'), 'same.md': 'same', 'run.sh': 'two' })
    expect((await tree())['run.sh']).toBe('x two')
    expect((await newest(project)).sample.map(({ path }) => path)).toEqual([
      '.agents/skills/cook/run.sh',
    ])
  })

  test('fits into a full project if it is smaller than the version that it replaces', async () => {
    const { add, tree, put } = await projectWith(
      { 'SKILL.md': skillText('cook'), 'old.bin': 'x'.repeat(0.9 * MEGABYTE) },
      { limits: { fileRead: MEGABYTE, fileWrite: MEGABYTE, project: MEGABYTE } },
    )
    const smaller = { 'SKILL.md': skillText('cook'), 'new.bin': 'y'.repeat(0.8 * MEGABYTE) }
    await add(smaller)
    expect(await tree()).toEqual(smaller)
    await put('other/data.bin', 'z'.repeat(0.15 * MEGABYTE))
    const larger = { 'SKILL.md': skillText('cook'), 'new.bin': 'y'.repeat(0.9 * MEGABYTE) }
    await expect(add(larger)).rejects.toMatchObject({ code: 'project_full' })
    expect(await tree()).toEqual(smaller)
  })

  test('is refused if the project could not read it, and nothing is changed then', async () => {
    const project = await projectWith({ 'SKILL.md': skillText('cook') })
    const { add, tree, put } = project
    const before = await tree()
    const text = { 'SKILL.md': skillText('cook', 'Never.') }
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`scripts/${at}.py`, '']))
    await expect(add({ ...text, ...many(999) })).rejects.toMatchObject({
      reason: 'skill_too_large',
    })
    await expect(add({ ...text, '1/2/3/4/5/6/7.md': '' })).rejects.toMatchObject({
      reason: 'skill_invalid',
    })
    for (let at = 0; at < 299; at += 1) await put(`a${at}/SKILL.md`, skillText(`a${at}`))
    await expect(add({ 'SKILL.md': skillText('new') })).rejects.toMatchObject({
      reason: 'project_skills_full',
    })
    for (let at = 0; at < 4_000; at += 1) await put(`a${at % 5}/${at}.md`, '')
    await expect(add({ ...text, ...many(900) })).rejects.toMatchObject({
      reason: 'project_skills_full',
    })
    expect(await tree()).toEqual(before)
    expect(await all(project)).toEqual([])
  })

  test('is valid with as many files and folders as a skill may have, and as deep', async () => {
    const { add, isValid } = await projectWith({})
    const files = Object.fromEntries(
      Array.from({ length: 992 }, (_, at) => [`scripts/${at}.py`, '']),
    )
    await add({ 'SKILL.md': skillText('cook'), ...files, '1/2/3/4/5/6.md': '' })
    expect(await isValid()).toBe(true)
    await add({ 'cook/SKILL.md': skillText('cook'), 'cook/1/2/3/4/5/6.md': '' })
    expect(await isValid()).toBe(true)
  })
})
