// Containment of paths in the workspace: spelling tricks in the text alone, links and races on a real file system.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AppError } from '../../../../server/errors.ts'
import { newId } from '../../../../server/lib/ids.ts'
import { parseInnerPath, parsePath } from '../../../../server/workspace/files/paths.ts'
import type { Workspace } from '../../../../server/workspace/workspace.ts'
import { createWorkspaces } from '../../../../server/workspace/workspaces.ts'

const codeOf = (work: () => unknown): string => {
  try {
    work()
    return 'accepted'
  } catch (error) {
    return error instanceof AppError ? error.code : String(error)
  }
}
const rejection = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'accepted'
  } catch (error) {
    return error instanceof AppError ? error.code : String(error)
  }
}

describe('the text of a path', () => {
  test.each([
    ['src/main.py', 'src/main.py'],
    ['./src//main.py', 'src/main.py'],
    ['a/../b', 'b'],
    ['', ''],
    ['.', ''],
    ['a/..', ''],
    ['日本語/ファイル.txt', '日本語/ファイル.txt'],
    ['with space/…dots...', 'with space/…dots...'],
    ['~/x', '~/x'],
    ['..a/b..', '..a/b..'],
    ['%2e%2e/x', '%2e%2e/x'],
    ['．．/fullwidth', '．．/fullwidth'],
  ])('%j is %j', (input, text) => {
    expect(parsePath(input).text).toBe(text)
  })

  test.each([
    '..',
    '../x',
    'a/../../x',
    '/etc/passwd',
    '//server/share',
    '/',
    '..\\x',
    'a\\..\\..\\x',
    '\\etc',
    'C:\\Windows',
    'c:/Windows',
    './../x',
    `${'a/'.repeat(5)}${'../'.repeat(6)}x`,
  ])('%j is refused because it leaves the project', (input) => {
    expect(codeOf(() => parsePath(input))).toBe('path_escapes')
  })

  test.each([
    ['NUL', 'a\0b'],
    ['newline', 'a\nb'],
    ['escape', 'a\u001b[31m'],
    ['delete', 'a\u007f'],
    ['C1 control', 'a\u0085'],
    ['direction override', 'a\u202egnp.exe'],
    ['isolate', 'a\u2066b'],
    ['line separator', 'a\u2028b'],
    ['lone surrogate', 'a\ud800b'],
    ['backslash', 'a\\b'],
    ['name of 256 bytes', 'é'.repeat(128)],
    ['path of more than 1,024 bytes', 'abcdefgh/'.repeat(120)],
    ['33 folders', Array.from({ length: 33 }, () => 'd').join('/')],
    ['a megabyte', 'x'.repeat(1_000_000)],
  ])('%s is refused as the name of a file', (_what, input) => {
    expect(codeOf(() => parsePath(input))).toBe('bad_request')
  })

  test('the project folder itself can be listed but not changed', () => {
    expect(codeOf(() => parseInnerPath('a/..'))).toBe('bad_request')
  })
})

describe('on the disk', () => {
  let base: string
  let outside: string
  let workspace: Workspace

  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'paths-'))
    outside = join(base, 'outside')
    await mkdir(join(outside, 'folder'), { recursive: true })
    await writeFile(join(outside, 'secret.txt'), 'canary')
    const workspaces = await createWorkspaces({
      root: join(base, 'workspaces'),
      limits: { fileRead: 1e6, fileWrite: 1e6, project: 1e7 },
    })
    workspace = workspaces.open(newId(), newId())
    await workspace.write('inside/a.txt', Buffer.from('a'))
  })
  afterEach(() => rm(base, { recursive: true, force: true }))

  const links = async () => {
    await symlink(join(outside, 'secret.txt'), join(workspace.root, 'file-link'))
    await symlink(outside, join(workspace.root, 'folder-link'))
    await symlink('inside', join(workspace.root, 'inner-link'))
    await symlink('/proc/self/root', join(workspace.root, 'inside', 'root-link'))
    await symlink('nowhere', join(workspace.root, 'dangling'))
  }

  test.each([
    ['file-link'],
    ['folder-link/secret.txt'],
    ['inner-link/a.txt'],
    ['inside/root-link/etc/passwd'],
    ['dangling'],
  ])('reading, writing and creating through the link %s is refused', async (path) => {
    await links()
    expect(await rejection(workspace.read(path))).toBe('path_escapes')
    expect(await rejection(workspace.write(path, Buffer.from('pwned')))).toBe('path_escapes')
    expect(await rejection(workspace.createFolder(path))).toBe('path_escapes')
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe('canary')
    expect(existsSync(join(workspace.root, 'nowhere'))).toBe(false)
  })

  test('listing, moving, deleting and creating below a linked folder is refused', async () => {
    await links()
    expect(await rejection(workspace.list('folder-link'))).toBe('path_escapes')
    expect(await rejection(workspace.list('inner-link'))).toBe('path_escapes')
    expect(await rejection(workspace.move('inside/a.txt', 'folder-link/a.txt'))).toBe(
      'path_escapes',
    )
    expect(await rejection(workspace.move('folder-link/secret.txt', 'b.txt'))).toBe('path_escapes')
    expect(await rejection(workspace.remove('folder-link/secret.txt'))).toBe('path_escapes')
    expect(await rejection(workspace.write('folder-link/new/x', Buffer.from('x')))).toBe(
      'path_escapes',
    )
    expect(existsSync(join(outside, 'new'))).toBe(false)
    expect(existsSync(join(outside, 'secret.txt'))).toBe(true)
  })

  test('a link is reported as a link and can be removed itself', async () => {
    await links()
    expect((await workspace.state('folder-link'))?.kind).toBe('link')
    await workspace.remove('folder-link')
    expect(await workspace.state('folder-link')).toBeNull()
    expect(existsSync(join(outside, 'secret.txt'))).toBe(true)
  })

  test('deleting a folder that contains links keeps their targets', async () => {
    await symlink(outside, join(workspace.root, 'inside', 'link'))
    await workspace.remove('inside')
    expect(existsSync(join(outside, 'secret.txt'))).toBe(true)
  })

  test('pipes, sockets and devices are refused without being opened', async () => {
    execFileSync('mkfifo', [join(workspace.root, 'pipe')])
    expect(await rejection(workspace.read('pipe'))).toBe('bad_request')
    expect(await rejection(workspace.write('pipe', Buffer.from('x')))).toBe('bad_request')
    const server = createServer()
    // Bound under a short name and then moved: socket paths are limited to about 100 bytes.
    await new Promise<void>((resolve) => server.listen(join(base, 's'), resolve))
    await rename(join(base, 's'), join(workspace.root, 'socket'))
    expect(await rejection(workspace.read('socket'))).toBe('bad_request')
    await new Promise((resolve) => server.close(resolve))
  })

  test('a folder swapped for a link during calls never gives access outside the project', async () => {
    const folder = join(workspace.root, 'swap')
    const parked = join(workspace.root, 'parked')
    await mkdir(folder)
    await writeFile(join(folder, 'secret.txt'), 'mine')
    let swapping = true
    const swapper = (async () => {
      while (swapping) {
        await rename(folder, parked).catch(() => {})
        await symlink(outside, folder).catch(() => {})
        // A concurrent write may have created the folder again.
        await rm(folder, { recursive: true, force: true })
        await rename(parked, folder).catch(() => {})
      }
    })()
    for (let turn = 0; turn < 300; turn++) {
      const content = await workspace.read('swap/secret.txt').catch(() => null)
      if (content !== null) expect(content.bytes.toString()).toBe('mine')
      await workspace.write('swap/new.txt', Buffer.from('x')).catch(() => {})
      const entries = await workspace.list('swap').catch(() => [])
      expect(entries.map(({ name }) => name)).not.toContain('folder')
      await workspace.remove('swap/folder').catch(() => {})
    }
    swapping = false
    await swapper
    expect(existsSync(join(outside, 'new.txt'))).toBe(false)
    expect(existsSync(join(outside, 'folder'))).toBe(true)
  })

  test('a file swapped for a link during calls is never followed', async () => {
    const file = join(workspace.root, 'flip')
    let swapping = true
    const swapper = (async () => {
      while (swapping) {
        await rm(file, { force: true })
        await symlink(join(outside, 'secret.txt'), file).catch(() => {})
        await rm(file, { force: true })
        await writeFile(file, 'mine', { flag: 'wx' }).catch(() => {})
      }
    })()
    for (let turn = 0; turn < 300; turn++) {
      const content = await workspace.read('flip').catch(() => null)
      if (content !== null) expect(['mine', '']).toContain(content.bytes.toString())
    }
    swapping = false
    await swapper
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe('canary')
  })
})
