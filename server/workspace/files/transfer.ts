// Bytes on their way into a project, staged and durable before they are moved to their place, and out of it as a stream.
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, copyFile, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { openRegularFile, type Place, type ProjectPath } from './paths.ts'

/** Writes a durable file in the folder `staging`; the caller moves it to its place or removes it. */
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

/** Copies a host file to `temporary`. With `later`, the caller makes it durable. */
export async function stageCopy(
  source: string,
  temporary: string,
  mode: number,
  later: boolean,
): Promise<void> {
  await copyFile(source, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  await chmod(temporary, mode)
  if (later) return
  const handle = await open(temporary, 'r')
  await handle.sync().finally(() => handle.close())
}

/** Opens a regular file for a download; the caller reads or destroys the stream. */
export async function openDownload(
  place: Place,
  path: ProjectPath,
): Promise<{ size: number; stream: Readable }> {
  const handle = await openRegularFile(place, path)
  const { size } = await handle.stat()
  // Ends where the file ended when it was opened, so that the announced length holds. An empty file has no last byte.
  if (size > 0) return { size, stream: handle.createReadStream({ end: size - 1 }) }
  await handle.close()
  return { size: 0, stream: Readable.from([]) }
}
