// Blobs in a backup: copied while the server runs, verified when they are restored.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { backupBlobs, blobsOfBackup, restoreBlobs } from '../../../server/files/backup.ts'
import { blobPath, openDiskBlobs } from '../../../server/files/disk-blobs.ts'

const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-blob-backup-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function* bytes(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}

test('a backup copies every blob once, and a restore brings them back', async () => {
  const store = join(folder, 'store')
  const blobs = await openDiskBlobs(store)
  const first = await blobs.store(bytes('first'))
  const target = blobsOfBackup(join(folder, 'backup'))
  expect(await backupBlobs(store, target)).toEqual({ bytes: 5 })
  const second = await blobs.store(bytes('second'))
  expect(await backupBlobs(store, target)).toEqual({ bytes: 6 })

  const elsewhere = join(folder, 'elsewhere')
  await restoreBlobs(target, elsewhere)
  const restored = await openDiskBlobs(elsewhere)
  expect((await buffer(await restored.open(first.sha256))).toString()).toBe('first')
  expect((await buffer(await restored.open(second.sha256))).toString()).toBe('second')
})

test('a store without files is backed up, and a backup without files is restored', async () => {
  expect(await backupBlobs(join(folder, 'none'), join(folder, 'nothing.files'))).toEqual({
    bytes: 0,
  })
  await restoreBlobs(join(folder, 'nothing.files'), join(folder, 'empty'))
})

test('a damaged blob of a backup is refused by name', async () => {
  const store = join(folder, 'damaged')
  const { sha256 } = await (await openDiskBlobs(store)).store(bytes('right'))
  writeFileSync(blobPath(store, sha256), 'wrong')
  await expect(restoreBlobs(store, join(folder, 'target'))).rejects.toThrow(/damaged/)
})
