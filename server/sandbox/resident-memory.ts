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
    const own = Number(statm.split(' ')[1]) * PAGE_BYTES
    if (depth === MAX_DEPTH) return own
    const below = await Promise.all(
      children
        .split(' ')
        .filter((text) => text !== '')
        .map((text) => measure(Number(text), depth + 1)),
    )
    return below.reduce((sum, bytes) => sum + bytes, own)
  }
  try {
    return await measure(pid, 0)
  } catch {
    return null
  }
}
