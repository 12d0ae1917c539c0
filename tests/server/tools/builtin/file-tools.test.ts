// The project file tools in general: names, risk levels, and the paths that all of them refuse.
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { useProjectTools } from './project-tools.ts'

const my = useProjectTools()
const { tool, run } = my

describe('the tools on files', () => {
  test('have their names, aliases and risk levels', () => {
    const levels = Object.fromEntries(
      my.tools.list().map(({ name, riskLevel }) => [name, riskLevel]),
    )
    expect(levels).toEqual({
      file_read: 'low',
      file_list: 'low',
      file_exists: 'low',
      file_glob: 'low',
      file_grep: 'low',
      file_write: 'medium',
      file_mkdir: 'medium',
      file_delete: 'high',
      file_edit: 'medium',
      exec: 'high',
    })
    for (const [alias, name] of [
      ['read_file', 'file_read'],
      ['ls', 'file_list'],
      ['list_dir', 'file_list'],
      ['glob', 'file_glob'],
      ['grep', 'file_grep'],
      ['write_file', 'file_write'],
      ['edit_file', 'file_edit'],
    ] as const)
      expect(tool(alias).name).toBe(name)
  })

  test('fail without a project, also when the arguments name one', async () => {
    for (const [name, args] of [
      ['file_read', { path: 'a' }],
      ['file_list', {}],
      ['file_write', { path: 'a', content: 'x' }],
      ['file_edit', { path: 'a', old: 'a', new: 'b' }],
      ['file_delete', { path: 'a' }],
      ['exec', { command: 'true' }],
    ] as const) {
      const result = await run(
        name,
        { ...args, project_id: my.project.projectId },
        { projectId: null },
      )
      expect(result).toMatchObject({ success: false, error: expect.stringContaining('no project') })
    }
  })

  test.each(['../x', '/etc/passwd', 'link/passwd', 'a\\..\\..\\x', 'a\0b'])(
    'refuse the path %j and change nothing on disk',
    async (path) => {
      await symlink('/etc', join(my.project.workspace.root, 'link'))
      for (const [name, args] of [
        ['file_read', { path }],
        ['file_list', { path }],
        ['file_grep', { pattern: 'root', path }],
        ['file_write', { path, content: 'x' }],
        ['file_edit', { path, old: 'root', new: 'x' }],
        ['file_mkdir', { path }],
        ['file_delete', { path }],
      ] as const)
        expect((await run(name, args)).success, name).toBe(false)
      expect((await my.project.workspace.list('')).map(({ name }) => name)).toEqual(['link'])
    },
  )
})
