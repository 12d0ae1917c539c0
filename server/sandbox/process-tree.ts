// The resources that a program and its descendants use together: measured where the kernel reports them, and limited.
import { readdir, readFile } from 'node:fs/promises'

export interface TreeUse {
  processes: number
  /** Private memory: shared libraries and the page cache do not count. */
  bytes: number
}

export interface TreeLimits {
  processes: number
  memoryBytes: number
}

const LOOK_EVERY_MS = 200
const KILOBYTE = 1024

/** Memory of one process and the processes that any of its threads started; null when it has ended. */
async function lookAt(pid: number): Promise<{ bytes: number; children: number[] } | null> {
  try {
    const [status, threads] = await Promise.all([
      readFile(`/proc/${pid}/status`, 'utf8'),
      readdir(`/proc/${pid}/task`),
    ])
    const lists = await Promise.all(
      threads.map((thread) =>
        readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => ''),
      ),
    )
    const field = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0)
    return {
      bytes: (field('RssAnon') + field('RssShmem') + field('VmSwap')) * KILOBYTE,
      children: lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number)),
    }
  } catch {
    return null
  }
}

/** The usage of `pid` and its descendants; counting stops at `maxProcesses`. */
export async function measureTree(pid: number, maxProcesses = 10_000): Promise<TreeUse> {
  const use: TreeUse = { processes: 0, bytes: 0 }
  let generation = [pid]
  while (generation.length > 0 && use.processes <= maxProcesses) {
    const found = await Promise.all(
      generation.slice(0, maxProcesses - use.processes + 1).map(lookAt),
    )
    generation = []
    for (const one of found) {
      if (one === null) continue
      use.processes++
      use.bytes += one.bytes
      generation.push(...one.children)
    }
  }
  return use
}

/**
 * Checks the tree a few times a second and calls `onExceeded` once when it exceeds a limit. Returns the function that
 * stops watching. Does nothing where there is no /proc.
 */
export function watchTree(
  pid: number,
  limits: TreeLimits,
  onExceeded: (what: 'processes' | 'memory') => void,
): () => void {
  if (process.platform !== 'linux') return () => {}
  let ended = false
  let timer: NodeJS.Timeout
  const look = async (): Promise<void> => {
    const use = await measureTree(pid, limits.processes)
    if (ended) return
    if (use.processes > limits.processes) return onExceeded('processes')
    if (use.bytes > limits.memoryBytes) return onExceeded('memory')
    timer = setTimeout(() => void look(), LOOK_EVERY_MS)
  }
  timer = setTimeout(() => void look(), LOOK_EVERY_MS)
  return () => {
    ended = true
    clearTimeout(timer)
  }
}
