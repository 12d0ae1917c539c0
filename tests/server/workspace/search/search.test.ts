// Searching files: the same results with and without ripgrep, and patterns that must not stall the server.
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encodeText } from '../../../../server/lib/encodings.ts'
import { newId } from '../../../../server/lib/ids.ts'
import { detectBubblewrap } from '../../../../server/sandbox/bubblewrap.ts'
import { compileGlob } from '../../../../server/workspace/files/glob.ts'
import {
  createProjectSearch,
  findRipgrep,
} from '../../../../server/workspace/search/project-search.ts'
import type { GrepRequest } from '../../../../server/workspace/search/search-request.ts'
import { createWorkerPool } from '../../../../server/workspace/worker/worker-pool.ts'
import type { Workspace } from '../../../../server/workspace/workspace.ts'
import { createWorkspaces } from '../../../../server/workspace/workspaces.ts'

describe('patterns of paths', () => {
  test.each([
    ['*.py', 'a.py', true],
    ['*.py', 'src/deep/a.py', true],
    ['*.py', 'a.pyc', false],
    ['src/*.py', 'src/a.py', true],
    ['src/*.py', 'src/deep/a.py', false],
    ['src/**/*.py', 'src/a.py', true],
    ['src/**/*.py', 'src/x/y/a.py', true],
    ['**/test/**', 'a/test/b/c', true],
    ['**', 'a/b', true],
    ['src/', 'src/deep/a.py', true],
    ['src/', 'web/src/a.py', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['*.{ts,tsx}', 'web/app.tsx', true],
    ['*.{ts,tsx}', 'web/app.js', false],
    ['{a,b}/{c,d}', 'b/d', true],
    ['\\*', '*', true],
    ['\\*', 'x', false],
    ['日本*', '日本語.txt', true],
    ['*', '.hidden', true],
    ['[', '[', true],
  ])('the pattern %s matches %s: %s', (pattern, path, matches) => {
    expect(compileGlob(pattern)(path)).toBe(matches)
  })

  test('patterns built for endless backtracking do not backtrack', () => {
    const matches = compileGlob(`${'*a'.repeat(100)}b`)
    expect(matches('a'.repeat(250))).toBe(false)
    expect(compileGlob(`${'**/'.repeat(100)}x`)(`${'a/'.repeat(31)}y`)).toBe(false)
  })
})

const pool = createWorkerPool(2)
afterAll(() => pool.close())
const bubblewrap = await detectBubblewrap()
const hidden = { available: false as const, reason: 'hidden by the test' }

describe.each([
  ['ripgrep in bubblewrap', findRipgrep(), bubblewrap],
  ['ripgrep alone', findRipgrep(), hidden],
  ['no ripgrep', null, hidden],
])('a search with %s', (name, ripgrep, isolation) => {
  let base: string
  let workspace: Workspace
  const search = createProjectSearch({
    ripgrep,
    bubblewrap: isolation,
    pool,
    timeoutMs: 4_000,
    maxFileBytes: 1_000_000,
  })
  const grep = (pattern: string, more: Partial<GrepRequest> = {}) =>
    search.grep(workspace, {
      pattern,
      fixed: false,
      caseSensitive: false,
      path: '',
      maxResults: 100,
      ...more,
    })

  beforeEach(async (context) => {
    if (name !== 'no ripgrep' && ripgrep === null) context.skip('ripgrep is not installed here')
    base = await mkdtemp(join(tmpdir(), 'search-'))
    await writeFile(join(base, 'outside.txt'), 'needle outside')
    const workspaces = await createWorkspaces({
      root: join(base, 'workspaces'),
      limits: { fileRead: 1e7, fileWrite: 1e7, project: 1e8 },
    })
    workspace = workspaces.open(newId(), newId())
    const write = (path: string, text: string) => workspace.write(path, Buffer.from(text))
    await write('a.txt', 'first\nthe Needle here\r\nlast')
    await write('src/b.py', 'x = "needle"\ny = needle(1)\n')
    await write('.env', 'NEEDLE=1\n')
    await write('ignored/c.txt', 'needle')
    await write('.gitignore', 'ignored/\n*.log\n')
    await write('run.log', 'needle')
    await write('.git/config', 'needle')
    await write('image.png', '\u0089PNG\0\0needle\n')
    await write('wide.txt', `${'x'.repeat(20_000)}needle\n`)
  })
  afterEach(() => rm(base, { recursive: true, force: true }))

  test('finds lines in order and skips ignored files, binaries and .git', async () => {
    const result = await grep('needle')
    expect(result.truncated).toBe(false)
    expect(result.matches.map(({ path, line }) => `${path}:${line}`)).toEqual([
      '.env:1',
      'a.txt:2',
      'src/b.py:1',
      'src/b.py:2',
      'wide.txt:1',
    ])
    expect(result.matches[1]?.content).toBe('the Needle here')
    expect(result.matches[4]?.content.length).toBeLessThan(600)
  })

  test('finds words in files of any encoding, and shows their lines as text', async () => {
    const lines = 'id,name\n1,山田太郎 & needle\n'
    const put = async (path: string, name: string) =>
      workspace.write(path, encodeText(lines, { name, bom: false }) ?? Buffer.of())
    for (const name of ['shift_jis', 'gb18030', 'utf-8']) await put(`${name}.csv`, name)
    const found = ['gb18030.csv', 'shift_jis.csv', 'utf-8.csv'].map((path) => ({
      path,
      line: 2,
      content: '1,山田太郎 & needle',
    }))
    // Finishes on a busy machine, too.
    const patient = createProjectSearch({
      ripgrep,
      bubblewrap: isolation,
      pool,
      timeoutMs: 120_000,
      maxFileBytes: 1_000_000,
    })
    const search = async (pattern: string, more: Partial<GrepRequest> = {}) =>
      (
        await patient.grep(workspace, {
          pattern,
          fixed: false,
          caseSensitive: false,
          path: '',
          maxResults: 100,
          ...more,
        })
      ).matches
    expect(await search('山田')).toEqual(found)
    expect(await search('山田', { path: 'shift_jis.csv' })).toEqual([found[1]])
    expect(await search('needle', { glob: '*.csv' })).toEqual(found)
  })

  test('respects case, literal text, paths and path patterns', async () => {
    expect((await grep('needle', { caseSensitive: true })).matches).toHaveLength(3)
    expect((await grep('needle(1)', { fixed: true })).matches).toHaveLength(1)
    expect((await grep('needle', { path: 'src' })).matches).toHaveLength(2)
    expect((await grep('needle', { path: 'a.txt' })).matches).toHaveLength(1)
    expect((await grep('needle', { glob: '*.py' })).matches).toHaveLength(2)
    expect((await grep('^y =')).matches).toHaveLength(1)
  })

  test('reads .gitignore in every folder, and the deepest takes precedence', async () => {
    const write = (path: string, text = 'thorn') => workspace.write(path, Buffer.from(text))
    await write('.gitignore', '*.log\n/build/\ndocs/**\n!docs/keep.md\nspace\\ \n')
    await write('web/.gitignore', '# a remark\n/dist\n!important.log\nlocal.*\n*.tmp  \n')
    await write('web/src/.gitignore', '!local.ts\n')
    for (const path of ['a.log', 'build/a', 'docs/other.md', 'space ']) await write(path)
    for (const path of ['web/dist/x', 'web/local.js', 'web/b.tmp', 'web/deep/b.tmp', 'web/b.log'])
      await write(path)
    const kept = [
      'docs/keep.md',
      'inner/build/a',
      'inner/dist/x',
      'local.js',
      'web/important.log',
      'web/inner/dist/x',
      'web/src/local.ts',
    ]
    for (const path of kept) await write(path)
    const { matches } = await grep('thorn')
    expect(matches.map(({ path }) => path)).toEqual(kept)
    const { paths } = await search.find(workspace, '**', 100)
    expect(paths.filter((path) => kept.includes(path))).toEqual(kept)
    expect(paths.filter((path) => /log$|tmp$|dist|build/.test(path))).toEqual(
      kept.filter((path) => /log$|tmp$|dist|build/.test(path)),
    )
  })

  test('finds ignored files only by their name, not by a path pattern', async () => {
    expect((await search.find(workspace, '*.log', 10)).paths).toEqual([])
    expect((await search.find(workspace, '*', 100)).paths).not.toContain('ignored/c.txt')
    expect((await grep('needle', { glob: '*.log' })).matches).toEqual([])
    expect((await grep('needle', { glob: '**/*.txt' })).matches.map(({ path }) => path)).toEqual([
      'a.txt',
      'wide.txt',
    ])
    expect((await grep('needle', { path: 'run.log' })).matches).toEqual([
      { path: 'run.log', line: 1, content: 'needle' },
    ])
    expect((await grep('needle', { path: 'ignored' })).matches.map(({ path }) => path)).toEqual([
      'ignored/c.txt',
    ])
  })

  test('ignores the rules of programs other than git', async () => {
    await workspace.write('.ignore', Buffer.from('a.txt\n'))
    await workspace.write('.git/info/exclude', Buffer.from('a.txt\n'))
    expect((await grep('needle')).matches.map(({ path }) => path)).toContain('a.txt')
  })

  test('fails for a named file that is too large instead of skipping it', async () => {
    await workspace.write('large.txt', Buffer.alloc(1_000_001, 'x'))
    await expect(grep('x', { path: 'large.txt' })).rejects.toMatchObject({ code: 'file_too_large' })
    expect((await grep('xxx', { glob: 'large.txt' })).matches).toEqual([])
  })

  test('stops at the maximum number of results and reports it', async () => {
    const result = await grep('needle', { maxResults: 2 })
    expect(result.matches).toHaveLength(2)
    expect(result.truncated).toBe(true)
  })

  test('refuses invalid patterns, missing paths and paths outside the project', async () => {
    await expect(grep('a(')).rejects.toMatchObject({ code: 'bad_request' })
    await expect(grep('a', { path: '..' })).rejects.toMatchObject({ code: 'path_escapes' })
    await expect(grep('a', { path: 'none' })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('follows no link, not even into the project', async () => {
    await symlink(base, join(workspace.root, 'out'))
    await symlink('src', join(workspace.root, 'again'))
    const result = await grep('needle')
    expect(result.matches).toHaveLength(5)
    await expect(grep('needle', { path: 'out' })).rejects.toMatchObject({ code: 'path_escapes' })
    expect((await search.find(workspace, '*.txt', 100)).paths).toEqual(['a.txt', 'wide.txt'])
  })

  test('treats options in a pattern as part of the pattern', async () => {
    expect((await grep('--files')).matches).toEqual([])
    expect((await grep('-e needle')).matches).toEqual([])
  })

  test('finds files by pattern', async () => {
    expect((await search.find(workspace, '**/*.py', 10)).paths).toEqual(['src/b.py'])
    expect((await search.find(workspace, 'src/*', 10)).paths).toEqual(['src/b.py'])
    expect((await search.find(workspace, '*', 1)).truncated).toBe(true)
    expect((await search.find(workspace, '*.txt', 10)).paths).toEqual(['a.txt', 'wide.txt'])
  })

  test('ends a runaway pattern without blocking the server', async () => {
    await workspace.write('evil.txt', Buffer.from(`${'a'.repeat(40)}!`))
    let turns = 0
    const ticking = setInterval(() => turns++, 5)
    const outcome = await grep('^(a+)+$').catch((error: Error) => error)
    clearInterval(ticking)
    if (outcome instanceof Error) {
      expect(outcome.message).toContain('took longer')
      expect(turns).toBeGreaterThan(20)
    } else expect(outcome.matches).toEqual([])
  })
})

describe.skipIf(process.platform === 'win32')('a search that does not end', () => {
  test('is ended at its time limit and returns what it has found', async () => {
    const base = await mkdtemp(join(tmpdir(), 'search-'))
    const endless = join(base, 'endless')
    const line = "printf './a.txt\\0001:needle\\n'"
    await writeFile(endless, `#!/bin/sh\n${line}\nexec sleep 60\n`, { mode: 0o700 })
    const workspaces = await createWorkspaces({
      root: join(base, 'workspaces'),
      limits: { fileRead: 1e7, fileWrite: 1e7, project: 1e8 },
    })
    const workspace = workspaces.open(newId(), newId())
    await workspace.write('a.txt', Buffer.from('needle'))
    const search = createProjectSearch({
      ripgrep: endless,
      bubblewrap: hidden,
      pool,
      timeoutMs: 500,
      maxFileBytes: 1e6,
    })
    const request = { fixed: true, caseSensitive: true, path: '', maxResults: 10 }
    const { matches, truncated } = await search.grep(workspace, { pattern: 'needle', ...request })
    expect(matches.map(({ path }) => path)).toEqual(['a.txt'])
    expect(truncated).toBe(true)
    await rm(base, { recursive: true, force: true })
  })
})

describe.skipIf(!bubblewrap.available || findRipgrep() === null)('ripgrep in bubblewrap', () => {
  test('reveals nothing of the host through a link', async () => {
    const base = await mkdtemp(join(tmpdir(), 'search-'))
    const workspaces = await createWorkspaces({
      root: join(base, 'workspaces'),
      limits: { fileRead: 1e7, fileWrite: 1e7, project: 1e8 },
    })
    const workspace = workspaces.open(newId(), newId())
    execFileSync('mkdir', ['-p', join(base, 'outside')])
    await writeFile(join(base, 'outside', 'x.txt'), 'canary')
    await workspace.write('x.txt', Buffer.from('x'))
    await symlink(join(base, 'outside'), join(workspace.root, 'out'))
    const search = createProjectSearch({
      ripgrep: findRipgrep(),
      bubblewrap,
      pool,
      timeoutMs: 4_000,
      maxFileBytes: 1e6,
    })
    // The link's target does not exist inside the sandbox: even if the link were followed, it would lead nowhere.
    const found = await search.grep(workspace, {
      pattern: 'canary',
      fixed: true,
      caseSensitive: true,
      path: '',
      maxResults: 10,
    })
    expect(found.matches).toEqual([])
    await rm(base, { recursive: true, force: true })
  })
})
