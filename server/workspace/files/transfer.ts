// Stages files durably before they are moved into a project, and streams files out of it.
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, copyFile, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type OpenPlace, openRegularFile, type ProjectPath } from './paths.ts'

/** Writes a durable file in the folder `staging`; the caller moves it into the project or removes it. */
export async function stageBytes(
  staging: string,
  bytes: Uint8Array,
  mode: number,
): Promise<string> {
  const temporary = join(staging, randomUUID())
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(bytes)
    if (mode !== 0o600) await handle.chmod(mode)
    await handle.sync()
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  } finally {
    await handle.close()
  }
  return temporary
}

/** Copies a host file to `temporary`. With `deferSync`, the caller makes it durable. */
export async function stageCopy(
  source: string,
  temporary: string,
  mode: number,
  deferSync: boolean,
): Promise<void> {
  await copyFile(source, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  await chmod(temporary, mode)
  if (deferSync) return
  const handle = await open(temporary, 'r')
  await handle.sync().finally(() => handle.close())
}

/** Opens a regular file for download; the caller must read or destroy the stream. */
export async function openDownload(
  place: OpenPlace,
  path: ProjectPath,
): Promise<{ size: number; stream: Readable }> {
  const handle = await openRegularFile(place, path)
  const { size } = await handle.stat()
  // Stops at the size at opening, so that the announced length is right. `end` is inclusive, so an empty file needs no stream.
  if (size > 0) return { size, stream: handle.createReadStream({ end: size - 1 }) }
  await handle.close()
  return { size: 0, stream: Readable.from([]) }
}
