// Writing and deleting files: previewed for approval, refused after changes by others, undone.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newId } from '../../../../server/lib/ids.ts'
import type { RunId } from '../../../../server/protocol/ids.ts'
import { createResultCache } from '../../../../server/tools/result-cache.ts'
import { bench, call, read, runChecked } from '../support.ts'
import { useProjectTools } from './project-tools.ts'

const my = useProjectTools()
const { tool, parse, run, data, error, put, textOf } = my

describe('writing', () => {
  test('creates, replaces and appends, with counts for the model and a diff for the user', async () => {
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

  test('previews what it would do without changing anything', async () => {
    await put('a.txt', 'old\n')
    const preview = await parse('file_write', { path: 'a.txt', content: 'new\n' }).preview(
      my.context,
    )
    expect(preview).toMatchObject({
      added: 1,
      removed: 1,
      diff: expect.stringContaining('-old\n+new\n'),
    })
    expect(await textOf('a.txt')).toBe('old\n')
    const gone = await parse('file_delete', { path: 'a.txt' }).preview(my.context)
    expect(gone).toMatchObject({ display: 'Delete a.txt', diff: expect.stringContaining('-old') })
    // An edit that cannot work is rejected before anyone is asked for approval.
    await expect(
      parse('file_edit', { path: 'a.txt', old: 'none', new: 'x' }).preview(my.context),
    ).rejects.toThrow('not in the file')
    expect(await textOf('a.txt')).toBe('old\n')
  })

  test('does not overwrite a file that somebody else changed since it was read or previewed', async () => {
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
    await pending.preview(my.context)
    await put('a.txt', 'over and over\n')
    expect(await runChecked(pending, my.context)).toMatchObject({
      success: false,
      error: expect.stringContaining('has changed since it was read'),
    })
    expect(await textOf('a.txt')).toBe('over and over\n')
  })

  test('counts a cached result as read', async () => {
    await put('a.txt', 'one\n')
    const cache = createResultCache({ ttlSeconds: 300 })
    const inRun = (runId: RunId) => {
      const { execute } = bench(my.tools.list(), { cache })
      return async (name: string, args: object) => {
        const over = { context: { ...my.context, runId } }
        return read((await execute([call(name, name, args)], over))[0])
      }
    }
    await inRun(newId<RunId>())('file_read', { path: 'a.txt' })
    const second = inRun(newId<RunId>())
    expect(await second('file_read', { path: 'a.txt' })).toMatchObject({ cached: true })
    // Written directly to disk, so that the server does not invalidate its cache.
    await writeFile(join(my.project.workspace.root, 'a.txt'), 'one of somebody else\n')
    const late = await second('file_write', { path: 'a.txt', content: 'mine' })
    expect(late).toMatchObject({
      success: false,
      error: expect.stringContaining('has changed since it was read'),
    })
    expect(await textOf('a.txt')).toBe('one of somebody else\n')
  })

  test('creates and deletes folders with their contents', async () => {
    expect(await data('file_mkdir', { path: 'a/b' })).toEqual({ path: 'a/b', created: true })
    expect(await data('file_mkdir', { path: 'a/b' })).toEqual({ path: 'a/b', created: false })
    await put('a/b/c.txt', 'x')
    expect(await data('file_delete', { path: 'a' })).toEqual({
      path: 'a',
      deleted: true,
      files: 1,
    })
    expect(await error('file_delete', { path: 'a' })).toContain('No file or folder')
  })

  test('can be undone step by step, and each checkpoint names message and tool', async () => {
    await data('file_write', { path: 'a.txt', content: '1\n' })
    await data('file_edit', { path: 'a.txt', old: '1', new: '2' })
    await data('file_delete', { path: 'a.txt' })
    const rows = await my.project.records.list(my.project.projectId, { limit: 10 })
    expect(rows.map(({ tool: name, messageId, runId }) => [name, messageId, runId])).toEqual(
      ['file_delete', 'file_edit', 'file_write'].map((name) => [
        name,
        my.context.messageId,
        my.context.runId,
      ]),
    )
    await my.restore(rows[1]?.id)
    expect(await textOf('a.txt')).toBe('1\n')
  })

  test('stores concurrent appends of several runs to one file, whatever each has read before', async () => {
    await put('log.txt', 'start\n')
    const runs = Array.from({ length: 4 }, () => newId<RunId>())
    for (const runId of runs) {
      await parse('file_read', { path: 'log.txt' }).run({ ...my.context, runId })
      const first = { path: 'log.txt', content: 'x\n', mode: 'append' }
      await parse('file_write', first).preview({ ...my.context, runId })
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
    // Replacing the whole file without having seen the other runs' lines is still refused.
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

  test('deletes only what was shown for approval', async () => {
    await mkdir(join(my.project.workspace.root, 'd'))
    await put('d/a.txt', 'one')
    await put('b.txt', 'one')
    const shown = await parse('file_delete', { path: 'd' }).preview(my.context)
    await parse('file_delete', { path: 'b.txt' }).preview(my.context)
    await put('d/new.txt', 'came later')
    await put('b.txt', 'two')
    expect(await error('file_delete', { path: 'd' })).toContain('since the deletion was shown')
    expect(await error('file_delete', { path: 'b.txt' })).toContain('since the deletion was shown')
    expect(await textOf('d/new.txt')).toBe('came later')
    // Also after the server was restarted while the approval request was pending.
    tool('file_delete').recall?.(shown ?? { display: '' }, my.context.runId)
    expect(await error('file_delete', { path: 'd' })).toContain('since the deletion was shown')
    await parse('file_delete', { path: 'd' }).preview(my.context)
    expect(await data('file_delete', { path: 'd' })).toMatchObject({ deleted: true, files: 2 })
  })
})
