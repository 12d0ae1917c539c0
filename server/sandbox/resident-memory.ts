// The memory of a process and its descendants, where the kernel reports it.
import { readFile } from 'node:fs/promises'

const PAGE_BYTES = 4096
const MAX_DEPTH = 4

/** Resident bytes of a process and its children, or null where there is no /proc or the process has ended. */
export async function residentBytes(pid: number): Promise<number | null> {
  if (process.platform !== 'linux') return null
  const measure = async (id: number, depth: number): Promise<number> => {
    const [statm, children] = await Promise.all([
      readFile(`/proc/${id}/statm`, 'utf8'),
      readFile(`/proc/${id}/task/${id}/children`, 'utf8').catch(() => ''),
    ])
    const ownBytes = Number(statm.split(' ')[1]) * PAGE_BYTES
    if (depth === MAX_DEPTH) return ownBytes
    const below = await Promise.all(
      children
        .split(' ')
        .filter((text) => text !== '')
        .map((text) => measure(Number(text), depth + 1)),
    )
    return below.reduce((sum, bytes) => sum + bytes, ownBytes)
  }
  try {
    return await measure(pid, 0)
  } catch {
    return null
  }
}

const CHECK_INTERVAL_MS = 100

/**
 * Calls `onExceeded` whenever a process and its children are seen to use more than `maxBytes`, where the kernel reports it.
 * @returns a function that ends the watch.
 */
export function watchResidentMemory(
  pid: number | undefined,
  maxBytes: number,
  onExceeded: () => void,
): () => void {
  if (pid === undefined) return () => {}
  const timer = setInterval(() => {
    void residentBytes(pid).then((bytes) => {
      if (bytes !== null && bytes > maxBytes) onExceeded()
    })
  }, CHECK_INTERVAL_MS)
  return () => clearInterval(timer)
}
