// The resources that a server process holds: connections, runs, timers, descriptors, unfinished files, memory. Linux only.
import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { descendants } from './process-tree.ts'
import type { ServerProcess } from './server-process.ts'

export interface HeldResources {
  /** Connections to the server's port that its clients have closed and the server has not. */
  halfClosed: number
  /** Connections to the server's port that are open on both sides. */
  connections: number
  /** Open files, sockets, pipes. */
  descriptors: number
  /** Timers that keep the process alive. */
  timers: number
  children: number
  activeRuns: number
  listeners: number
  /** Runs that the store has as unfinished. */
  unfinishedRuns: number
  /** Files of unfinished uploads and changes in the server's folders. */
  unfinishedFiles: string[]
  /** Megabytes of the JavaScript heap and of buffers, after a garbage collection if `collect` performed one. */
  memory: number
}

/** The states of `/proc/net/tcp`. */
const ESTABLISHED = '01'
const CLOSE_WAIT = '08'

/** @param folder of the server's data and workspaces. */
export async function heldResources(
  { url, pid }: Pick<ServerProcess, 'url' | 'pid'>,
  folder: string,
): Promise<HeldResources> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const metric = (name: string): number =>
    metrics
      .split('\n')
      .filter((line) => line.startsWith(name) && /^[{ ]/.test(line.slice(name.length)))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  const runs: { data: { items: unknown[] } } = JSON.parse(
    await (await fetch(`${url}/api/admin/runs`)).text(),
  )
  const states = await connectionStates(Number(new URL(url).port))
  return {
    halfClosed: states.filter((state) => state === CLOSE_WAIT).length,
    connections: states.filter((state) => state === ESTABLISHED).length,
    descriptors: await countDescriptors(pid),
    timers: metric('nodejs_active_resources{type="Timeout"}'),
    children: (await descendants(pid)).length,
    activeRuns: metric('nanoclaw_active_runs'),
    listeners: metric('nanoclaw_run_listeners'),
    unfinishedRuns: runs.data.items.length,
    unfinishedFiles: (await filesBelow(folder)).filter((path) =>
      /\/(staging|incoming)\/.(?!.*\.lock$)/.test(path),
    ),
    memory: (metric('nodejs_heap_size_used_bytes') + metric('nodejs_external_memory_bytes')) / 1e6,
  }
}

/** The states of the connections whose server side is this port. */
async function connectionStates(port: number): Promise<string[]> {
  const local = port.toString(16).toUpperCase().padStart(4, '0')
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`)))
  return tables
    .flatMap((table) => table.toString().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address = '']) => address.endsWith(`:${local}`))
    .map(([, , , state = '']) => state)
}

/** Those of the event loop's own devices are left out: they come and go with threads. */
async function countDescriptors(pid: number): Promise<number> {
  const names = await readdir(`/proc/${pid}/fd`)
  const targets = await Promise.all(
    names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => 'anon_inode:gone')),
  )
  return targets.filter((target) => !target.startsWith('anon_inode:')).length
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
}
