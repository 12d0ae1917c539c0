// Measures and limits the resources of a process tree, where the kernel reports them.
import { readdir, readFile } from 'node:fs/promises'

/** What a program and its child processes use together. */
export interface TreeUse {
  processes: number
  /** Private memory: shared libraries and the page cache do not count. */
  bytes: number
}

/** What a program and its child processes may use together. */
export interface TreeLimits {
  processes: number
  memoryBytes: number
}

const CHECK_INTERVAL_MS = 200
const KILOBYTE = 1024

/** Memory of one process and the processes that any of its threads started; null when it has ended. */
async function measureProcess(pid: number): Promise<{ bytes: number; children: number[] } | null> {
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
      generation.slice(0, maxProcesses - use.processes + 1).map(measureProcess),
    )
    generation = []
    for (const usage of found) {
      if (usage === null) continue
      use.processes++
      use.bytes += usage.bytes
      generation.push(...usage.children)
    }
  }
  return use
}

/**
 * Checks the tree a few times a second and calls `onExceeded` once when it exceeds a limit. Returns a function that stops
 * the checks. Does nothing on systems without /proc.
 */
export function watchTree(
  pid: number,
  limits: TreeLimits,
  onExceeded: (what: 'processes' | 'memory') => void,
): () => void {
  if (process.platform !== 'linux') return () => {}
  let stopped = false
  let timer: NodeJS.Timeout
  const check = async (): Promise<void> => {
    const use = await measureTree(pid, limits.processes)
    if (stopped) return
    if (use.processes > limits.processes) return onExceeded('processes')
    if (use.bytes > limits.memoryBytes) return onExceeded('memory')
    timer = setTimeout(() => void check(), CHECK_INTERVAL_MS)
  }
  timer = setTimeout(() => void check(), CHECK_INTERVAL_MS)
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
