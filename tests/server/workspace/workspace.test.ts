// The folder of one project: atomic writes, limits, versions, state after a crash, and file modes.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AppError } from '../../../server/errors.ts'
import { newId } from '../../../server/lib/ids.ts'
import type { ProjectId, UserId } from '../../../server/protocol/ids.ts'
import { createKeyedMutex } from '../../../server/workspace/keyed-mutex.ts'
import type { Workspace } from '../../../server/workspace/workspace.ts'
import { createWorkspaces } from '../../../server/workspace/workspaces.ts'
import { builtProgram } from '../../support/built-programs.ts'

const limits = { fileRead: 1_000, fileWrite: 2_000, project: 5_000 }
let root: string
let workspace: Workspace

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'workspace-'))
  workspace = (await createWorkspaces({ root, limits })).open(newId(), newId())
})
afterEach(() => rm(root, { recursive: true, force: true }))

const bytes = (text: string) => Buffer.from(text)
const textOf = async (path: string) => (await workspace.read(path)).bytes.toString()
const refusal = async (work: Promise<unknown>): Promise<AppError> => {
  try {
    await work
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('it was accepted')
}

describe('files of a project', () => {
  test('are written with the folders they need, read, moved and removed', async () => {
    await workspace.write('src/deep/a.txt', bytes('one'))
    expect(await textOf('src/deep/a.txt')).toBe('one')
    await workspace.move('src/deep/a.txt', 'lib/b.txt')
    expect(await textOf('lib/b.txt')).toBe('one')
    expect(await workspace.state('src/deep/a.txt')).toBeNull()
    expect(await workspace.stats()).toEqual({
      files: 1,
      directories: 3,
      totalSize: 3,
      countedSize: 4 * 256,
    })
    await workspace.remove('lib')
    expect((await workspace.list('')).map(({ name }) => name)).toEqual(['src'])
  })

  test('are counted again after each change, and otherwise at most once a minute', async () => {
    await workspace.write('a/b.txt', bytes('one'))
    const counted = await Promise.all([workspace.recentStats(), workspace.recentStats()])
    expect(counted).toEqual(
      Array(2).fill({ files: 1, directories: 1, totalSize: 3, countedSize: 2 * 256 }),
    )
    await writeFile(join(workspace.root, 'unseen.txt'), 'by another program')
    expect(await workspace.recentStats()).toEqual(counted[0])
    expect(await workspace.stats()).toMatchObject({ files: 2 })
    for (const { change, files } of [
      { change: () => workspace.write('c.txt', bytes('two')), files: 3 },
      { change: () => workspace.move('c.txt', 'd/c.txt'), files: 3 },
      { change: () => workspace.copyIn('e.txt', join(workspace.root, 'd/c.txt'), 0o600), files: 4 },
      { change: () => workspace.remove('a'), files: 3 },
    ]) {
      await change()
      expect(await workspace.recentStats()).toEqual(await workspace.stats())
      expect((await workspace.recentStats()).files).toBe(files)
    }
    await writeFile(join(workspace.root, 'late.txt'), 'by a program of a tool')
    workspace.forgetSize()
    expect((await workspace.recentStats()).files).toBe(4)
  })

  test('are accessible only to the server (0600 and 0700), and keep their execute bit', async () => {
    await workspace.write('src/run.sh', bytes('x'))
    const real = join(workspace.root, 'src', 'run.sh')
    expect((await stat(real)).mode & 0o777).toBe(0o600)
    expect((await stat(join(workspace.root, 'src'))).mode & 0o777).toBe(0o700)
    expect((await stat(workspace.root)).mode & 0o777).toBe(0o700)
    await chmod(real, 0o755)
    await workspace.write('src/run.sh', bytes('y'))
    expect((await stat(real)).mode & 0o777).toBe(0o700)
  })

  test('that are missing, folders or in the way cause different errors', async () => {
    await workspace.write('a.txt', bytes('a'))
    await workspace.createFolder('folder')
    expect((await refusal(workspace.read('none'))).code).toBe('not_found')
    expect((await refusal(workspace.read('folder'))).code).toBe('bad_request')
    expect((await refusal(workspace.list('a.txt'))).code).toBe('not_found')
    expect((await refusal(workspace.write('folder', bytes('x')))).code).toBe('conflict')
    expect((await refusal(workspace.write('a.txt/b', bytes('x')))).code).toBe('conflict')
    expect((await refusal(workspace.createFolder('a.txt'))).code).toBe('conflict')
    expect((await refusal(workspace.move('a.txt', 'folder'))).code).toBe('conflict')
    expect((await refusal(workspace.move('none', 'x/y'))).code).toBe('not_found')
    expect((await refusal(workspace.move('folder', 'folder/in'))).code).toBe('bad_request')
    expect((await refusal(workspace.remove('none'))).code).toBe('not_found')
    expect(await workspace.createFolder('folder')).toBe(false)
    expect((await workspace.list('')).map(({ name }) => name)).toEqual(['a.txt', 'folder'])
  })

  test('cause errors that never name a host path', async () => {
    const faults = await Promise.all([
      refusal(workspace.read('none')),
      refusal(workspace.list('none')),
      refusal(workspace.read('../x')),
      refusal(workspace.move('none', 'b')),
    ])
    for (const fault of faults) expect(fault.message).not.toContain(root)
  })

  test('have limits, each with its own error, and a refused write leaves nothing', async () => {
    await workspace.write('big', Buffer.alloc(1_500))
    expect((await refusal(workspace.read('big'))).code).toBe('file_too_large')
    expect((await refusal(workspace.write('x/huge', Buffer.alloc(2_001)))).code).toBe(
      'file_too_large',
    )
    await workspace.write('second', Buffer.alloc(2_000))
    expect((await refusal(workspace.write('y/third', Buffer.alloc(1_501)))).code).toBe(
      'project_full',
    )
    await workspace.write('big', Buffer.alloc(2_000))
    await workspace.write('third', Buffer.alloc(1_000))
    expect((await workspace.list('')).map(({ name }) => name)).toEqual(['big', 'second', 'third'])
    await workspace.remove('big')
    await workspace.write('fourth', Buffer.alloc(2_000))
  })

  test('are not overwritten when somebody else changed them meanwhile', async () => {
    const first = await workspace.write('a', bytes('1'))
    const second = await workspace.write('a', bytes('2'), { expected: first.version })
    expect(
      (await refusal(workspace.write('a', bytes('3'), { expected: first.version }))).code,
    ).toBe('file_changed')
    await workspace.remove('a')
    expect(
      (await refusal(workspace.write('a', bytes('3'), { expected: second.version }))).code,
    ).toBe('file_changed')
    await workspace.write('a', bytes('4'), { expected: '' })
    expect((await refusal(workspace.write('a', bytes('5'), { expected: '' }))).code).toBe(
      'file_changed',
    )
  })
})

describe('after a crash', () => {
  /** Starts a process that overwrites one file again and again until it is killed. */
  const startWriter = (userId: UserId, projectId: ProjectId): ChildProcess =>
    spawn(process.execPath, [...builtProgram('files/workspace-writer'), root, userId, projectId], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })

  test('a file has its old or its new content, and partial files are removed at the next start', async () => {
    const userId = newId<UserId>()
    const projectId = newId<ProjectId>()
    for (let turn = 0; turn < 4; turn++) {
      const writer = startWriter(userId, projectId)
      const ended = new Promise((resolve) => writer.once('exit', resolve))
      let writes = 0
      await new Promise<void>((resolve) => {
        writer.stdout?.on('data', (dots: Buffer) => {
          writes += dots.length
          if (writes >= 2 + turn) resolve()
        })
      })
      writer.kill('SIGKILL')
      await ended
      const content = await readFile(join(root, userId, projectId, 'data'))
      expect(content.length).toBe(2_000_000)
      expect(new Set(content).size).toBe(1)
    }
    const staging = join(root, '.nanoclaw', 'staging')
    await createWorkspaces({ root, limits })
    const left = (await readdir(staging)).filter((name) => !name.includes(`~${process.pid}~`))
    expect(left).toEqual([])
  })

  test('partial files of another host are kept', async () => {
    const staging = join(root, '.nanoclaw', 'staging')
    await mkdir(join(staging, `otherhost~1~x`))
    await createWorkspaces({ root, limits })
    expect(await readdir(staging)).toContain('otherhost~1~x')
  })
})

describe('the mutex', () => {
  test('runs work of one key in order and work of two keys concurrently', async () => {
    const mutex = createKeyedMutex(5_000)
    const finished: string[] = []
    let open: () => void = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const first = mutex.run('a', async () => {
      await gate
      finished.push('a1')
    })
    const second = mutex.run('a', async () => finished.push('a2'))
    await mutex.run('b', async () => finished.push('b1'))
    open()
    await Promise.all([first, second])
    expect(finished).toEqual(['b1', 'a1', 'a2'])
  })

  test('ends a wait that is too long or stopped with 503, and keeps the order', async () => {
    const mutex = createKeyedMutex(50)
    let open: () => void = () => {}
    const first = mutex.run('a', () => new Promise<void>((resolve) => (open = resolve)))
    const late = await refusal(mutex.run('a', async () => 'never'))
    expect([late.code, late.status]).toEqual(['store_busy', 503])
    const stopped = await refusal(
      mutex.run('a', async () => 'never', { signal: AbortSignal.abort() }),
    )
    expect(stopped.code).toBe('store_busy')
    open()
    await first
    expect(await mutex.run('a', async () => 'next')).toBe('next')
  })

  test('continues after a failure', async () => {
    const mutex = createKeyedMutex(5_000)
    const failed = mutex.run('a', () => Promise.reject(new Error('no')))
    expect(await mutex.run('a', async () => 1)).toBe(1)
    await expect(failed).rejects.toThrow('no')
  })
})
