// The blob store on disk: complete contents named by their hash, also after a crash; nothing in use is removed.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { backupBlobs } from '../../../server/files/backup.ts'
import { blobPath, openDiskBlobs } from '../../../server/files/disk-blobs.ts'
import { INCOMING } from '../../../server/files/incoming.ts'
import { sweepProcessFolders } from '../../../server/lib/process-folder.ts'
import { builtProgram } from '../../support/built-programs.ts'

const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-blobs-'))
afterAll(() => rmSync(folder, { recursive: true }))
const fresh = (): string => mkdtempSync(join(folder, 'store-'))

async function* pieces(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text)
}
const hashOf = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** The folders of processes, without their locks. */
const foldersIn = (place: string): string[] =>
  readdirSync(place).filter((name) => !name.endsWith('.lock'))

/** The names of all blobs; fails when the content of one does not match its name. */
function checkedBlobs(store: string): string[] {
  const names: string[] = []
  for (const shard of readdirSync(store)) {
    if (shard === INCOMING || shard === 'trash') continue
    for (const name of readdirSync(join(store, shard))) {
      expect(hashOf(readFileSync(join(store, shard, name)))).toBe(name)
      names.push(name)
    }
  }
  return names
}

describe('the blob store on disk', () => {
  test('content that cannot be read is not taken for absent: opening, listing and discarding fail, and a copy says so', async () => {
    const place = fresh()
    const blobs = await openDiskBlobs(place)
    const { sha256 } = await blobs.store(pieces('kept'))
    const shard = join(place, sha256.slice(0, 2))
    renameSync(shard, join(place, 'elsewhere'))
    // Like a folder without permission, which root could read.
    symlinkSync(shard, shard)
    const unreadable = expect.objectContaining({ code: 'ELOOP' })
    await expect(blobs.open(sha256)).rejects.toEqual(unreadable)
    await expect(blobs.discard(sha256, new Date())).rejects.toEqual(unreadable)
    await expect(blobs.store(pieces('kept'))).rejects.toEqual(unreadable)
    rmSync(shard)
    await expect(blobs.open(sha256)).rejects.toMatchObject({ reason: 'file_content_missing' })
    expect(await blobs.discard(sha256, new Date())).toBe(false)

    const loop = join(folder, 'loop')
    symlinkSync(loop, loop)
    await expect(backupBlobs(loop, fresh())).rejects.toEqual(unreadable)
    expect(await backupBlobs(join(folder, 'absent'), fresh())).toEqual({ bytes: 0 })
  })

  test('content is stored once under its hash, readable by the owner only, and read completely or in part', async () => {
    const place = fresh()
    const blobs = await openDiskBlobs(place)
    const blob = await blobs.store(pieces('hello ', 'world'))
    expect(blob).toEqual({ sha256: hashOf('hello world'), size: 11 })
    expect(await blobs.store(pieces('hello world'))).toEqual(blob)
    expect(checkedBlobs(place)).toEqual([blob.sha256])
    expect(readdirSync(blobs.incoming)).toEqual([])
    expect(statSync(blobPath(place, blob.sha256)).mode & 0o777).toBe(0o600)
    expect((await buffer(await blobs.open(blob.sha256))).toString()).toBe('hello world')
    const part = await blobs.open(blob.sha256, { start: 6, end: 9 })
    expect((await buffer(part)).toString()).toBe('wor')
  })

  test('empty content is stored like any other', async () => {
    const blobs = await openDiskBlobs(fresh())
    const blob = await blobs.store(pieces())
    expect(blob).toEqual({ sha256: hashOf(''), size: 0 })
    expect((await buffer(await blobs.open(blob.sha256))).length).toBe(0)
  })

  test('content whose stream breaks off is not stored and leaves nothing behind', async () => {
    const place = fresh()
    const blobs = await openDiskBlobs(place)
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.from('begun')
      throw new Error('the client left')
    }
    await expect(blobs.store(broken())).rejects.toThrow('the client left')
    expect(checkedBlobs(place)).toEqual([])
    expect(readdirSync(blobs.incoming)).toEqual([])
  })

  test('a name that is not a hash never becomes a path', async () => {
    const blobs = await openDiskBlobs(fresh())
    await expect(blobs.open('../../etc/passwd')).rejects.toThrow('This is no SHA-256.')
    expect(() => blobPath('/store', '../x')).toThrow(/no SHA-256/)
  })

  test('content that was truncated on disk is replaced when it is stored again', async () => {
    const place = fresh()
    const blobs = await openDiskBlobs(place)
    const { sha256 } = await blobs.store(pieces('whole'))
    writeFileSync(blobPath(place, sha256), 'wh')
    await blobs.store(pieces('whole'))
    expect(checkedBlobs(place)).toEqual([sha256])
  })

  test('content stored again is not removed as old', async () => {
    const blobs = await openDiskBlobs(fresh())
    const { sha256 } = await blobs.store(pieces('one'))
    const before = new Date(Date.now() - 60_000)
    expect(await blobs.discard(sha256, before)).toBe(false)
    expect(await blobs.discard(sha256, new Date(Date.now() + 60_000))).toBe(true)
    expect(await blobs.discard(sha256, new Date(Date.now() + 60_000))).toBe(false)
    const again = await blobs.store(pieces('one'))
    expect((await buffer(await blobs.open(again.sha256))).toString()).toBe('one')
  })

  test('content in the trash is found when something reads it, and is gone once it is removed for good', async () => {
    const blobs = await openDiskBlobs(fresh())
    const later = new Date(Date.now() + 60_000)
    const trash = async () => {
      const found: string[] = []
      for await (const { sha256 } of blobs.trash()) found.push(sha256)
      return found
    }
    const { sha256 } = await blobs.store(pieces('thrown away'))
    expect(await blobs.discard(sha256, later)).toBe(true)
    expect(await trash()).toEqual([sha256])
    expect((await buffer(await blobs.open(sha256))).toString()).toBe('thrown away')
    expect(await trash()).toEqual([])
    expect(await blobs.restore(sha256)).toBe(false)

    expect(await blobs.discard(sha256, later)).toBe(true)
    await blobs.removeDiscarded(sha256)
    await expect(blobs.open(sha256)).rejects.toMatchObject({ reason: 'file_content_missing' })
  })

  test('a move to the trash that kill -9 interrupted is completed, and its days begin then', async () => {
    const place = fresh()
    const blobs = await openDiskBlobs(place)
    const { sha256 } = await blobs.store(pieces('half moved'))
    mkdirSync(join(place, 'trash'))
    renameSync(blobPath(place, sha256), join(place, 'trash', `${sha256}.moving`))
    utimesSync(join(place, 'trash', `${sha256}.moving`), 1, 1)
    const begun = Date.now() - 1_000
    for await (const { discardedAt } of blobs.trash())
      expect(discardedAt.getTime()).toBeGreaterThan(begun)
    expect(await blobs.restore(sha256)).toBe(true)
    expect(checkedBlobs(place)).toEqual([sha256])
  })

  test('a process that starts or collects keeps files that another process is receiving and removes those of dead ones', async () => {
    const place = fresh()
    const first = await openDiskBlobs(place)
    let resume = (): void => undefined
    const paused = new Promise<void>((resolve) => {
      resume = resolve
    })
    async function* slow(): AsyncGenerator<Buffer> {
      yield Buffer.from('begun, ')
      await paused
      yield Buffer.from('and ended')
    }
    const stored = first.store(slow())
    await expect.poll(() => readdirSync(first.incoming)).toHaveLength(1)
    const second = await openDiskBlobs(place)
    // Of a process that ended, and of another machine long ago.
    const ended = spawnSync(process.execPath, ['-e', '']).pid
    for (const name of [`${hostname()}~${ended}~x`, 'elsewhere~1~x']) {
      const leftover = join(place, INCOMING, name)
      mkdirSync(leftover)
      writeFileSync(join(leftover, 'file'), 'half')
      utimesSync(leftover, 0, 0)
    }
    const other = join(place, INCOMING, 'elsewhere~2~x')
    mkdirSync(other)
    await sweepProcessFolders(second.incoming)
    expect(readdirSync(second.incoming)).toHaveLength(1)
    expect(foldersIn(join(place, INCOMING))).toHaveLength(2)
    resume()
    const { sha256 } = await stored
    expect(checkedBlobs(place)).toEqual([sha256])
    expect(readdirSync(second.incoming)).toEqual([])
  })

  test('the folder of another container with the same host name and pid stays while its process lives, and goes when it has died', async () => {
    const place = fresh()
    const incoming = join(place, INCOMING)
    const writer = startWriter(place)
    await once(writer.stdout ?? writer, 'data')
    // It lives, and does not notice that its folder has another name.
    writer.kill('SIGSTOP')
    const [name = ''] = foldersIn(incoming)
    // As this process would be named in the other container.
    const same = name.replace(`~${writer.pid}~`, `~${process.pid}~`)
    for (const end of ['.lock', ''])
      renameSync(join(incoming, `${name}${end}`), join(incoming, `${same}${end}`))
    const { incoming: own } = await openDiskBlobs(place)
    expect(foldersIn(incoming)).toContain(same)
    writer.kill('SIGKILL')
    await once(writer, 'exit')
    await sweepProcessFolders(own)
    expect(foldersIn(incoming)).toEqual([basename(own)])
    expect(readdirSync(incoming).filter((one) => one.includes(same))).toEqual([])
  })

  test('an idle process renews the time of its folder every hour, and receives files again after the folder was removed', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] })
    try {
      const blobs = await openDiskBlobs(fresh())
      utimesSync(blobs.incoming, 0, 0)
      vi.advanceTimersByTime(60 * 60_000)
      await expect.poll(() => statSync(blobs.incoming).mtimeMs).toBeGreaterThan(0)
      rmSync(blobs.incoming, { recursive: true })
      const { sha256 } = await blobs.store(pieces('after a pause'))
      expect((await buffer(await blobs.open(sha256))).toString()).toBe('after a pause')
      rmSync(blobs.incoming, { recursive: true })
      await blobs.writeNote('note', 'kept')
      expect(await blobs.readNote('note')).toBe('kept')
    } finally {
      vi.useRealTimers()
    }
  })

  test('what a dead process left is removed although its folders were closed by their modes', async () => {
    const place = fresh()
    const closed = join(place, INCOMING, 'elsewhere~1~x', 'a', 'b')
    mkdirSync(closed, { recursive: true })
    writeFileSync(join(closed, 'file'), 'half')
    for (const path of [closed, join(closed, '..')]) chmodSync(path, 0)
    utimesSync(join(closed, '../..'), 0, 0)
    const { incoming } = await openDiskBlobs(place)
    expect(foldersIn(join(incoming, '..'))).toHaveLength(1)
  })

  test('content that one instance stores again while another removes it as unused still exists afterwards', async () => {
    const place = fresh()
    const [first, second] = [await openDiskBlobs(place), await openDiskBlobs(place)]
    for (let round = 0; round < 20; round += 1) {
      const { sha256 } = await first.store(pieces('once more'))
      utimesSync(blobPath(place, sha256), 1, 1)
      const before = new Date(Date.now() - 60_000)
      // Whichever comes first, and at whatever point of the other.
      await Promise.all([first.store(pieces('once more')), second.discard(sha256, before)])
      expect(checkedBlobs(place)).toEqual([sha256])
    }
    expect(readdirSync(first.incoming)).toEqual([])
  })

  test('after kill -9 during writes, all stored content is intact and no partial file remains', async () => {
    const place = fresh()
    for (let round = 0; round < 3; round += 1) {
      const writer = startWriter(place)
      const [line] = await once(writer.stdout ?? writer, 'data')
      expect(String(line)).toMatch(/stored/)
      writer.kill('SIGKILL')
      await once(writer, 'close')
      const blobs = await openDiskBlobs(place)
      expect(readdirSync(blobs.incoming)).toEqual([])
      expect(checkedBlobs(place).length).toBeGreaterThan(round)
    }
  })
})

/** Starts a process that stores new contents until it is killed. */
const startWriter = (place: string): ChildProcess =>
  spawn(process.execPath, [...builtProgram('files/blob-writer'), place], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
