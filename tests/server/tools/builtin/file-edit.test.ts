// File edits: exact, whitespace-insensitive, by pattern, by lines; line endings and encodings are preserved.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { useProjectTools } from './project-tools.ts'

const my = useProjectTools()
const { tool, data, error, put, textOf } = my

describe('file_edit', () => {
  test('replaces one exact match or all of them, and refuses an ambiguous match with its lines', async () => {
    await put('a.txt', 'x = 1\ny = 1\nx = 1\n')
    expect(await error('file_edit', { path: 'a.txt', old: 'x = 1', new: 'z' })).toContain(
      'lines 1, 3',
    )
    expect(await error('file_edit', { path: 'a.txt', old: 'none', new: 'z' })).toContain(
      'Read the file again',
    )
    expect(await error('file_edit', { path: 'a.txt', old: 'x  =  1\n y', new: 'z' })).toContain(
      'mode "flexible"',
    )
    expect(await error('file_edit', { path: 'a.txt', old: 'y', new: 'y' })).toContain(
      'change nothing',
    )
    expect(await textOf('a.txt')).toBe('x = 1\ny = 1\nx = 1\n')
    expect(await data('file_edit', { path: 'a.txt', old: 'y = 1', new: 'y = $1 $&' })).toEqual({
      path: 'a.txt',
      bytes: 22,
      added: 1,
      removed: 1,
      replacements: 1,
    })
    expect(
      await data('file_edit', { path: 'a.txt', old: 'x = 1', new: 'x', replace_all: true }),
    ).toMatchObject({ replacements: 2 })
    expect(await textOf('a.txt')).toBe('x\ny = $1 $&\nx\n')
  })

  test('ignores differences in white space in flexible mode, and keeps the indentation of the file', async () => {
    await put('a.py', 'class A:\n    def f(self):\n        if x:\n            return  1\n')
    await data('file_edit', {
      path: 'a.py',
      mode: 'flexible',
      old: 'if x:\n    return 1',
      new: 'if y:\n    return 2\nelse:\n    return 3',
    })
    expect(await textOf('a.py')).toBe(
      'class A:\n    def f(self):\n        if y:\n            return 2\n        else:\n            return 3\n',
    )
  })

  test('replaces groups in regex mode, refuses an ambiguous match, and stops a runaway pattern', async () => {
    await put('a.txt', 'a1\nb2\na3\n')
    expect(
      await error('file_edit', { path: 'a.txt', mode: 'regex', pattern: '^a(\\d)$', new: 'c$1' }),
    ).toContain('lines 1, 3')
    await data('file_edit', {
      path: 'a.txt',
      mode: 'regex',
      pattern: '^a(\\d)$',
      new: 'c$1',
      replace_all: true,
    })
    expect(await textOf('a.txt')).toBe('c1\nb2\nc3\n')
    await data('file_edit', { path: 'a.txt', mode: 'regex', pattern: 'b(\\d)', new: 'd\\1' })
    expect(await textOf('a.txt')).toBe('c1\nd2\nc3\n')
    expect(
      await error('file_edit', { path: 'a.txt', mode: 'regex', pattern: '(', new: '' }),
    ).toContain('regular expression')
    await put('evil.txt', `${'a'.repeat(40)}!`)
    expect(
      await error('file_edit', { path: 'evil.txt', mode: 'regex', pattern: '^(a+)+$', new: '' }),
    ).toContain('took longer')
  })

  test('replaces, deletes and inserts lines, and refuses an invalid range', async () => {
    await put('a.txt', '1\n2\n3')
    const edit = (start_line: number, end_line: number, text: string) =>
      data('file_edit', { path: 'a.txt', mode: 'lines', start_line, end_line, new: text })
    await edit(2, 2, 'two\nzwei')
    expect(await textOf('a.txt')).toBe('1\ntwo\nzwei\n3')
    await edit(1, 0, 'zero')
    await edit(2, 3, '')
    expect(await textOf('a.txt')).toBe('zero\nzwei\n3')
    await edit(4, 3, 'end\n')
    expect(await textOf('a.txt')).toBe('zero\nzwei\n3\nend')
    expect(
      await error('file_edit', { path: 'a.txt', mode: 'lines', start_line: 9, new: 'x' }),
    ).toContain('4 lines')
  })

  test('keeps Windows line endings, byte order marks and encodings', async () => {
    await put('win.txt', '\ufeffone\r\ntwo\r\n')
    await data('file_edit', { path: 'win.txt', old: 'one\ntwo', new: 'a\nb' })
    expect(await textOf('win.txt')).toBe('\ufeffa\r\nb\r\n')
    await put('latin.txt', Buffer.from('caf\u00e9\n', 'latin1'))
    await data('file_edit', { path: 'latin.txt', old: 'café', new: 'thé' })
    expect(await readFile(join(my.project.workspace.root, 'latin.txt'), 'latin1')).toBe('thé\n')
    expect(await error('file_edit', { path: 'latin.txt', old: 'thé', new: '茶' })).toContain(
      'windows-1252',
    )
  })

  test('requires the arguments of its mode', async () => {
    for (const args of [{ new: 'x' }, { mode: 'regex', new: 'x' }, { mode: 'lines', new: 'x' }])
      expect(tool('file_edit').parse(JSON.stringify({ path: 'a', ...args }))).toMatchObject({
        ok: false,
        error: expect.stringContaining('needs'),
      })
  })
})
