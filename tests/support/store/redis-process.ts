// A separate Redis server that a test can kill, stop and restart.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { freePort } from '../server/free-port.ts'

const PROGRAM = 'redis-server'

/** Whether this machine has the program. */
export const hasRedisProgram = spawnSync(PROGRAM, ['--version']).status === 0

export interface RedisProcess {
  readonly url: string
  /** Starts it again, on the same port and empty. */
  start(): Promise<void>
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  /** Resolves when the process is gone. */
  kill(): Promise<void>
}

export async function startRedisProcess(): Promise<RedisProcess> {
  const port = await freePort()
  let child: ChildProcess | null = null
  const start = async (): Promise<void> => {
    const settings = { port, bind: '127.0.0.1', save: '', appendonly: 'no' }
    const values = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`])
    const started = spawn(PROGRAM, values, { stdio: ['ignore', 'pipe', 'ignore'] })
    child = started
    for await (const line of createInterface({ input: started.stdout }))
      if (line.includes('Ready to accept connections')) return
    throw new Error('Redis ended before it was ready')
  }
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    signal: (signal) => child?.kill(signal),
    async kill() {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return
      const gone = new Promise((resolve) => child?.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
    },
  }
}
