// Kills a server exactly at its n-th write: at a system call with strace, or at a commit to PostgreSQL with a proxy.
import { spawn, spawnSync } from 'node:child_process'
import { connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

/** The system calls with which SQLite writes pages and makes them durable. */
export type WriteCall = 'pwrite64' | 'fdatasync'

const traceOptions = (call: WriteCall, n: number): string[] => [
  '-f',
  ...['-o', '/dev/null'],
  ...['-e', 'trace=pwrite64,fdatasync'],
  ...['-e', `inject=${call}:signal=KILL:when=${n}`],
]

/** Whether strace is installed and may attach to a process it did not start, which many systems permit only to root. */
export const canTrace: boolean =
  spawnSync('sh', ['-c', 'sleep 1 & exec strace -qq -o /dev/null -p $!']).status === 0

/** The wrapper command for a program that is to be killed at its n-th call, counted from its start. */
export const dyingAtWrite = (call: WriteCall, n: number): string[] => [
  'strace',
  // -D keeps the program our direct child, so that we know its process id.
  ...['-D', '-qq'],
  ...traceOptions(call, n),
]

/** Kills a running process at the n-th call of one thread from now on; resolves once strace is attached. */
export async function killAtWrite(pid: number, call: WriteCall, n: number): Promise<void> {
  const tracer = spawn('strace', [...traceOptions(call, n), '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  for await (const line of createInterface({ input: tracer.stderr }))
    if (line.includes('attached')) return
  throw new Error('strace did not attach')
}

/** A proxy to PostgreSQL that can kill the server at one particular commit. */
export interface CommitProxy {
  readonly port: number
  /**
   * Calls `kill` at the n-th commit from now on: `before` it reaches the database, or `after` the database has
   * responded to it; the server never receives that response. `cut` closes that one connection.
   */
  killAt(n: number, when: 'before' | 'after', kill: (cut: () => void) => void): void
  /** Whether that commit has occurred. */
  readonly isSprung: boolean
  /** Lets all commits pass again. */
  disarm(): void
  close(): void
}

/** A commit as the driver sends it, as a simple query: `Q`, the length, the text and a zero byte. */
const COMMIT = Buffer.from('Q\u0000\u0000\u0000\u000bcommit\u0000', 'latin1')

const occurrences = (bytes: Buffer): number => {
  let found = 0
  for (let at = bytes.indexOf(COMMIT); at >= 0; at = bytes.indexOf(COMMIT, at + 1)) found += 1
  return found
}

export async function startCommitProxy(target: {
  host: string
  port: number
}): Promise<CommitProxy> {
  const sockets = new Set<Socket>()
  let trap: { left: number; when: 'before' | 'after'; kill: (cut: () => void) => void } | null =
    null

  /** Counts the commits in `bytes`; true if they include the n-th. */
  const springs = (bytes: Buffer): boolean => {
    if (trap === null || trap.left <= 0) return false
    trap.left -= occurrences(bytes)
    return trap.left <= 0
  }
  const server = createServer((client) => {
    const database = connect(target.port, target.host)
    let isDead = false
    const cut = (): void => {
      client.resetAndDestroy()
      database.destroy()
    }
    client.on('data', (bytes) => {
      const isDeadly = springs(bytes)
      if (isDeadly && trap?.when === 'before') trap.kill(cut)
      else database.write(bytes)
      isDead ||= isDeadly
    })
    database.on('data', (bytes) => {
      if (!isDead) client.write(bytes)
      else trap?.kill(cut)
    })
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening')
  return {
    port: address.port,
    killAt(n, when, kill) {
      trap = { left: n, when, kill }
    },
    get isSprung() {
      return trap !== null && trap.left <= 0
    },
    disarm() {
      trap = null
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
