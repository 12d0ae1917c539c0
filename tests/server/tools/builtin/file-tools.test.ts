// The file tools and exec as a model calls them: exact shapes, refusals that help, previews that change nothing, undo.
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../../../server/lib/ids.ts'
import type { MessageId, RunId } from '../../../../server/protocol/ids.ts'
import { type BubblewrapState, detectBubblewrap } from '../../../../server/sandbox/bubblewrap.ts'
import { createExecTool } from '../../../../server/tools/builtin/exec.ts'
import { createFileEditTool } from '../../../../server/tools/builtin/file-edit.ts'
import { createReadingFileTools } from '../../../../server/tools/builtin/files-read.ts'
import { createWritingFileTools } from '../../../../server/tools/builtin/files-write.ts'
import { createSeenFiles } from '../../../../server/tools/builtin/project-access.ts'
import type {
  ToolContext,
  ToolDefinition,
  ToolResult,
} from '../../../../server/tools/definition.ts'
import { createToolSet } from '../../../../server/tools/registry.ts'
import { createResultCache } from '../../../../server/tools/result-cache.ts'
import { createDiffs } from '../../../../server/workspace/checkpoints/diff/diffs.ts'
import { createProjectSearch, findRipgrep } from '../../../../server/workspace/search/search.ts'
import { useDatabases } from '../../../support/databases.ts'
import { openProject } from '../../../support/projects.ts'
import { bench, call, read, toolContext } from '../support.ts'

const bubblewrap = await detectBubblewrap()

describe('tools on the files of a project', () => {
  const { open } = useDatabases()
  let project: Awaited<ReturnType<typeof openProject>>
  let context: ToolContext
  let tools: ReturnType<typeof createToolSet>

  const setUp = async (isolation: BubblewrapState) => {
    project = await openProject(await open('sqlite'))
    const services = {
      ...project,
      makeDiff: createDiffs(project.pool),
      search: createProjectSearch({
        ripgrep: findRipgrep(),
        bubblewrap,
        pool: project.pool,
        timeoutMs: 4_000,
        maxFileBytes: 5_000_000,
      }),
      close: async () => {},
    }
    const files = { services, seen: createSeenFiles() }
    tools = createToolSet([
      ...createReadingFileTools(files),
      ...createWritingFileTools(files),
      createFileEditTool(files),
      createExecTool({
        services,
        bubblewrap: isolation,
        network: 'none',
        limits: { memoryBytes: 2e9, processes: 256 },
      }),
    ])
    context = toolContext({
      userId: project.userId,
      projectId: project.projectId,
      runId: newId<RunId>(),
      messageId: newId<MessageId>(),
    })
  }
  beforeEach(() => setUp(bubblewrap))

  const tool = (name: string): ToolDefinition => {
    const found = tools.get(name)
    if (found === undefined) throw new Error(`no tool ${name}`)
    return found
  }
  const parse = (name: string, args: object) => {
    const parsed = tool(name).parse(JSON.stringify(args))
    if (!parsed.ok) throw new Error(parsed.error)
    return parsed.input
  }
  const run = async (
    name: string,
    args: object,
    over: Partial<ToolContext> = {},
  ): Promise<ToolResult> => {
    const parsed = tool(name).parse(JSON.stringify(args))
    // Arguments that do not fit are a failed result before anybody is asked.
    if (!parsed.ok) return { success: false, error: parsed.error }
    return parsed.input.run({ ...context, ...over })
  }
  const data = async (name: string, args: object): Promise<Record<string, unknown>> => {
    const result = await run(name, args)
    if (!result.success) throw new Error(result.error)
    // Every file tool returns an object.
    return result.data as Record<string, unknown>
  }
  const error = async (name: string, args: object): Promise<string> => {
    const result = await run(name, args)
    if (result.success) throw new Error('it succeeded')
    return result.error
  }
  const put = (path: string, text: string | Uint8Array) =>
    project.workspace.write(path, Buffer.from(text))
  const textOf = async (path: string) => (await project.workspace.read(path)).bytes.toString()

  test('appends of several runs to one file all arrive, whatever each of them has seen before', async () => {
    await put('log.txt', 'start\n')
    const runs = Array.from({ length: 4 }, () => newId<RunId>())
    for (const runId of runs) {
      await parse('file_read', { path: 'log.txt' }).run({ ...context, runId })
      const first = { path: 'log.txt', content: 'x\n', mode: 'append' }
      await parse('file_write', first).preview({ ...context, runId })
    }
    const results = await Promise.all(
      runs.flatMap((runId, actor) =>
        Array.from({ length: 8 }, (_, number) =>
          run(
            'file_write',
            { path: 'log.txt', content: `${actor}-${number}\n`, mode: 'append' },
            { runId },
          ),
        ),
      ),
    )
    expect(results.filter(({ success }) => !success)).toEqual([])
    const lines = (await textOf('log.txt')).trim().split('\n')
    expect(new Set(lines).size).toBe(33)
    // Whoever replaces the whole file without having seen the others' lines is still refused.
    const replaced = await run(
      'file_write',
      { path: 'log.txt', content: 'mine\n' },
      { runId: runs[0] ?? newId<RunId>() },
    )
    expect(replaced).toMatchObject({
      success: false,
      error: expect.stringContaining('has changed since it was read'),
    })
  })

  test('a deletion takes along only what was shown for approval', async () => {
    await mkdir(join(project.workspace.root, 'd'))
    await put('d/a.txt', 'one')
    await put('b.txt', 'one')
    const shown = await parse('file_delete', { path: 'd' }).preview(context)
    await parse('file_delete', { path: 'b.txt' }).preview(context)
    await put('d/new.txt', 'came later')
    await put('b.txt', 'two')
    expect(await error('file_delete', { path: 'd' })).toContain('since the deletion was shown')
    expect(await error('file_delete', { path: 'b.txt' })).toContain('since the deletion was shown')
    expect(await textOf('d/new.txt')).toBe('came later')
    // Also when the server was started again while a person decided.
    tool('file_delete').recall?.(shown ?? { display: '' }, context.runId)
    expect(await error('file_delete', { path: 'd' })).toContain('since the deletion was shown')
    await parse('file_delete', { path: 'd' }).preview(context)
    expect(await data('file_delete', { path: 'd' })).toMatchObject({ deleted: true, files: 2 })
  })

  test('a command with a NUL character is refused before anybody is asked about it', () => {
    expect(tool('exec').parse(JSON.stringify({ command: 'echo a\0b' }))).toMatchObject({
      ok: false,
      error: expect.stringContaining('NUL'),
    })
  })

  test('have their names, aliases and levels', () => {
    const levels = Object.fromEntries(tools.list().map(({ name, riskLevel }) => [name, riskLevel]))
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

  test('without a project fail with a clear text; a project in the arguments changes nothing', async () => {
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
        { ...args, project_id: project.projectId },
        { projectId: null },
      )
      expect(result).toMatchObject({ success: false, error: expect.stringContaining('no project') })
    }
  })

  test.each(['../x', '/etc/passwd', 'link/passwd', 'a\\..\\..\\x', 'a\0b'])(
    'refuse the path %j and leave the disk as it was',
    async (path) => {
      await symlink('/etc', join(project.workspace.root, 'link'))
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
      expect((await project.workspace.list('')).map(({ name }) => name)).toEqual(['link'])
    },
  )

  describe('reading', () => {
    test('a file, whole and by lines', async () => {
      await put('a.txt', 'one\ntwo\nthree\nfour')
      expect(await data('file_read', { path: 'a.txt' })).toEqual({
        path: 'a.txt',
        content: 'one\ntwo\nthree\nfour',
        start_line: 1,
        end_line: 4,
        total_lines: 4,
        truncated: false,
      })
      expect(
        await data('file_read', { path: './a.txt', start_line: 2, end_line: 3 }),
      ).toMatchObject({
        path: 'a.txt',
        content: 'two\nthree\n',
        start_line: 2,
        end_line: 3,
        total_lines: 4,
        truncated: false,
      })
      expect(await data('file_read', { path: 'a.txt', start_line: 4, end_line: 99 })).toMatchObject(
        { content: 'four', end_line: 4, truncated: false },
      )
      expect(
        (await data('file_read', { path: 'a.txt', start_line: 3, line_numbers: true })).content,
      ).toBe('3\tthree\n4\tfour')
      expect(await error('file_read', { path: 'a.txt', start_line: 5 })).toContain('4 lines')
      expect(await error('file_read', { path: 'a.txt', start_line: 3, end_line: 2 })).toContain(
        'before',
      )
      await put('empty', '')
      expect(await data('file_read', { path: 'empty' })).toMatchObject({
        content: '',
        total_lines: 0,
        truncated: false,
      })
    })

    test('a long file says how to go on, until its end', async () => {
      const lines = Array.from({ length: 4_500 }, (_, index) => `line ${index + 1}`)
      await put('long.txt', `${lines.join('\n')}\n`)
      let next: number | undefined = 1
      let text = ''
      for (let turn = 0; next !== undefined && turn < 10; turn++) {
        const part: Record<string, unknown> = await data('file_read', {
          path: 'long.txt',
          start_line: next,
        })
        text += String(part.content)
        const note = /start_line=(\d+)/.exec(String(part.note))
        expect(part.truncated).toBe(note !== null)
        next = note === null ? undefined : Number(note[1])
      }
      expect(text).toBe(`${lines.join('\n')}\n`)
      await put('wide.txt', `${'x'.repeat(100_000)}\nsecond\n`)
      const wide = await data('file_read', { path: 'wide.txt' })
      expect(wide).toMatchObject({ truncated: true, note: expect.stringContaining('start_line=2') })
      expect(String(wide.content).length).toBe(40_000)
    })

    test('encodings; binary files are refused with their type', async () => {
      await put('latin.txt', Buffer.from('caf\u00e9 1', 'latin1'))
      expect(await data('file_read', { path: 'latin.txt' })).toMatchObject({
        content: 'café 1',
        encoding: 'windows-1252',
      })
      await put('chinese.txt', Buffer.from([0xc4, 0xe3, 0xba, 0xc3]))
      expect((await data('file_read', { path: 'chinese.txt', encoding: 'gb18030' })).content).toBe(
        '你好',
      )
      expect(await error('file_read', { path: 'chinese.txt', encoding: 'nonsense' })).toContain(
        'Unknown encoding',
      )
      await put('wide.txt', Buffer.from('\ufeffhéllo', 'utf16le'))
      expect((await data('file_read', { path: 'wide.txt' })).content).toBe('héllo')
      await put('image.png', Buffer.from('89504e470d0a1a0a00', 'hex'))
      expect(await error('file_read', { path: 'image.png' })).toContain('PNG image')
      await put('data.bin', Buffer.from([1, 2, 0, 3]))
      expect(await error('file_read', { path: 'data.bin' })).toContain('binary')
      await put('notes.txt', 'MZ is how this note begins')
      expect((await data('file_read', { path: 'notes.txt' })).content).toContain('MZ')
    })

    test('lists, existence, patterns and matches', async () => {
      await put('src/a.py', 'import os\nprint("A")\n')
      await put('src/b.txt', 'print')
      await mkdir(join(project.workspace.root, 'src', 'sub'))
      expect(await data('file_list', { path: 'src' })).toEqual({
        path: 'src',
        entries: [
          { name: 'a.py', path: 'src/a.py', type: 'file', size: 21 },
          { name: 'b.txt', path: 'src/b.txt', type: 'file', size: 5 },
          { name: 'sub', path: 'src/sub', type: 'directory', size: 0 },
        ],
      })
      expect((await data('ls', {})).entries).toHaveLength(1)
      expect((await data('file_list', { path: 'src', pattern: '*.py' })).entries).toHaveLength(1)
      expect(await data('file_exists', { path: 'src/a.py' })).toEqual({
        path: 'src/a.py',
        exists: true,
        type: 'file',
        size: 21,
      })
      expect(await data('file_exists', { path: 'no/where' })).toEqual({
        path: 'no/where',
        exists: false,
      })
      expect(await data('file_glob', { pattern: '**/*.py' })).toMatchObject({
        paths: ['src/a.py'],
        truncated: false,
      })
      expect(await data('file_grep', { pattern: '^PRINT\\(' })).toEqual({
        matches: [{ path: 'src/a.py', line: 2, content: 'print("A")' }],
        truncated: false,
      })
      expect(await data('file_grep', { pattern: 'PRINT', case_sensitive: true })).toMatchObject({
        matches: [],
      })
      expect(await error('file_grep', { pattern: '(' })).toContain('cannot be read')
    })
  })

  describe('writing', () => {
    test('makes, replaces and appends, with counts for the model and the difference for the person', async () => {
      const made = await run('file_write', { path: 'src/a.txt', content: 'one\ntwo\n' })
      expect(made).toMatchObject({
        success: true,
        data: { path: 'src/a.txt', bytes: 8, added: 2, removed: 0 },
        artifact: { added: 2, removed: 0, diff: expect.stringContaining('+one\n+two\n') },
      })
      expect(await data('file_write', { path: 'src/a.txt', content: 'one\n2\n' })).toEqual({
        path: 'src/a.txt',
        bytes: 6,
        added: 1,
        removed: 1,
      })
      expect(
        await data('file_write', { path: 'src/a.txt', content: 'end\n', mode: 'append' }),
      ).toMatchObject({ added: 1, removed: 0 })
      expect(await textOf('src/a.txt')).toBe('one\n2\nend\n')
      expect(await error('file_write', { path: 'src', content: 'x' })).toContain('folder')
    })

    test('shows beforehand what it would do, and touches nothing', async () => {
      await put('a.txt', 'old\n')
      const preview = await parse('file_write', { path: 'a.txt', content: 'new\n' }).preview(
        context,
      )
      expect(preview).toMatchObject({
        added: 1,
        removed: 1,
        diff: expect.stringContaining('-old\n+new\n'),
      })
      expect(await textOf('a.txt')).toBe('old\n')
      const gone = await parse('file_delete', { path: 'a.txt' }).preview(context)
      expect(gone).toMatchObject({ display: 'Delete a.txt', diff: expect.stringContaining('-old') })
      // Whoever asks a person learns that there is nothing to ask about.
      await expect(
        parse('file_edit', { path: 'a.txt', old: 'none', new: 'x' }).preview(context),
      ).rejects.toThrow('not in the file')
      expect(await textOf('a.txt')).toBe('old\n')
    })

    test('a file that somebody else changed since it was read or shown is not written over', async () => {
      await put('a.txt', 'mine\n')
      await data('file_read', { path: 'a.txt' })
      await put('a.txt', 'theirs\n')
      expect(await error('file_write', { path: 'a.txt', content: 'over\n' })).toContain(
        'has changed since it was read',
      )
      expect(await textOf('a.txt')).toBe('theirs\n')
      await data('file_read', { path: 'a.txt' })
      await data('file_write', { path: 'a.txt', content: 'over\n' })
      const pending = parse('file_edit', { path: 'a.txt', old: 'over', new: 'under' })
      await pending.preview(context)
      await put('a.txt', 'over and over\n')
      expect(await pending.run(context)).toMatchObject({
        success: false,
        error: expect.stringContaining('has changed since it was read'),
      })
      expect(await textOf('a.txt')).toBe('over and over\n')
    })

    test('what the cache showed counts as read', async () => {
      await put('a.txt', 'one\n')
      const cache = createResultCache({ ttlSeconds: 300 })
      const inRun = (runId: RunId) => {
        const { execute } = bench(tools.list(), { cache })
        return async (name: string, args: object) => {
          const over = { context: { ...context, runId } }
          return read((await execute([call(name, name, args)], over))[0])
        }
      }
      await inRun(newId<RunId>())('file_read', { path: 'a.txt' })
      const second = inRun(newId<RunId>())
      expect(await second('file_read', { path: 'a.txt' })).toMatchObject({ cached: true })
      // Behind the server's back, so that nothing drops what is cached.
      await writeFile(join(project.workspace.root, 'a.txt'), 'one of somebody else\n')
      const late = await second('file_write', { path: 'a.txt', content: 'mine' })
      expect(late).toMatchObject({
        success: false,
        error: expect.stringContaining('has changed since it was read'),
      })
      expect(await textOf('a.txt')).toBe('one of somebody else\n')
    })

    test('folders are made and deleted, with all that is in them', async () => {
      expect(await data('file_mkdir', { path: 'a/b' })).toEqual({ path: 'a/b', created: true })
      expect(await data('file_mkdir', { path: 'a/b' })).toEqual({ path: 'a/b', created: false })
      await put('a/b/c.txt', 'x')
      expect(await data('file_delete', { path: 'a' })).toEqual({
        path: 'a',
        deleted: true,
        files: 1,
      })
      expect(await error('file_delete', { path: 'a' })).toContain('no file or folder')
    })

    test('can all be undone, one by one, with the message and the tool told', async () => {
      await data('file_write', { path: 'a.txt', content: '1\n' })
      await data('file_edit', { path: 'a.txt', old: '1', new: '2' })
      await data('file_delete', { path: 'a.txt' })
      const rows = await project.records.list(project.projectId, { limit: 10 })
      expect(rows.map(({ tool: name, messageId, runId }) => [name, messageId, runId])).toEqual(
        ['file_delete', 'file_edit', 'file_write'].map((name) => [
          name,
          context.messageId,
          context.runId,
        ]),
      )
      await project.checkpoints.restore(project.workspace, rows[1]?.id, {
        tool: 'restore',
        messageId: null,
        runId: null,
      })
      expect(await textOf('a.txt')).toBe('1\n')
    })
  })

  describe('file_edit', () => {
    test('exact: one place, or all of them; an ambiguous one is refused with its lines', async () => {
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

    test('flexible: other whitespace is found and the indentation of the file is kept', async () => {
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

    test('regex: groups, one or all, ambiguity told, a runaway pattern stopped', async () => {
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
    }, 30_000)

    test('lines: replaced, deleted, inserted; a range that is none is refused', async () => {
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

    test('keeps Windows line ends, byte order marks and encodings', async () => {
      await put('win.txt', '\ufeffone\r\ntwo\r\n')
      await data('file_edit', { path: 'win.txt', old: 'one\ntwo', new: 'a\nb' })
      expect(await textOf('win.txt')).toBe('\ufeffa\r\nb\r\n')
      await put('latin.txt', Buffer.from('caf\u00e9\n', 'latin1'))
      await data('file_edit', { path: 'latin.txt', old: 'café', new: 'thé' })
      expect(await readFile(join(project.workspace.root, 'latin.txt'), 'latin1')).toBe('thé\n')
      expect(await error('file_edit', { path: 'latin.txt', old: 'thé', new: '茶' })).toContain(
        'windows-1252',
      )
    })

    test('needs what its mode needs', async () => {
      for (const args of [{ new: 'x' }, { mode: 'regex', new: 'x' }, { mode: 'lines', new: 'x' }])
        expect(tool('file_edit').parse(JSON.stringify({ path: 'a', ...args }))).toMatchObject({
          ok: false,
          error: expect.stringContaining('needs'),
        })
    })
  })

  describe.each([
    ['in bubblewrap', true],
    ['not isolated', false],
  ])('exec %s', (_name, isolated) => {
    beforeEach(async (test) => {
      if (isolated && !bubblewrap.available) test.skip('bubblewrap does not work here')
      if (!isolated) await setUp({ available: false, reason: 'hidden by the test' })
    })

    test('answers output and exit code, in the project folder, with a bare environment', async () => {
      await put('a.txt', 'content')
      expect(await data('exec', { command: 'cat a.txt; echo err >&2; exit 3' })).toEqual({
        stdout: 'content',
        stderr: 'err\n',
        exit_code: 3,
        timed_out: false,
      })
      process.env.CANARY_EXEC = 'secret'
      expect((await data('exec', { command: 'env; cat' })).stdout).not.toContain('CANARY')
      delete process.env.CANARY_EXEC
    })

    test('is stopped at its time limit, and at once when the run is stopped', async () => {
      expect(await data('exec', { command: 'echo start; sleep 100', timeout: 1 })).toMatchObject({
        stdout: 'start\n',
        exit_code: null,
        timed_out: true,
      })
      const controller = new AbortController()
      const stopped = await run(
        'exec',
        { command: 'echo go; sleep 100 & sleep 100' },
        { signal: controller.signal, progress: () => controller.abort() },
      )
      expect(stopped).toMatchObject({ success: false, error: 'The command was stopped.' })
      for (const timeout of [0, 601, 1.5])
        expect(tool('exec').parse(JSON.stringify({ command: 'x', timeout })).ok).toBe(false)
    })

    test('streams its output, keeps beginning and end of what is long', async () => {
      const streamed: unknown[] = []
      const result = await run(
        'exec',
        { command: 'echo begin; seq 1 100000; echo finish' },
        { progress: (value) => streamed.push(value) },
      )
      expect(streamed[0]).toMatchObject({
        kind: 'output',
        stream: 'stdout',
        text: expect.stringMatching(/^begin/),
      })
      const { stdout } = (result.success ? result.data : {}) as { stdout: string }
      expect(stdout).toMatch(/^begin\n[\s\S]*bytes left out[\s\S]*finish\n$/)
      expect(stdout.length).toBeLessThan(31_000)
    })

    test('what it changed can be undone', async () => {
      await put('a.txt', 'before')
      await data('exec', { command: 'echo after > a.txt; mkdir d; echo new > d/b' })
      expect(await textOf('a.txt')).toBe('after\n')
      const [row] = await project.records.list(project.projectId, { limit: 1 })
      expect(row?.tool).toBe('exec')
      await project.checkpoints.restore(project.workspace, row?.id, {
        tool: 'restore',
        messageId: null,
        runId: null,
      })
      expect((await project.workspace.list('')).map(({ name }) => name)).toEqual(['a.txt'])
      expect(await textOf('a.txt')).toBe('before')
    })

    test(
      isolated ? 'sees nothing of the host' : 'says plainly that it is not isolated',
      async () => {
        const preview = await parse('exec', { command: 'ls' }).preview(context)
        expect(preview?.command).toBe('ls')
        if (!isolated) {
          expect(preview?.warning).toContain('NOT isolated')
          return
        }
        expect(preview?.warning).toBeUndefined()
        await writeFile(join(project.root, 'outside.txt'), 'canary')
        const { stdout } = await data('exec', {
          command: `cat ${project.root}/outside.txt; ls ${project.root}; id -u; cat /proc/net/dev | wc -l; echo x > /usr/x`,
        })
        expect(stdout).toBe('1000\n3\n')
      },
    )
  })
})
