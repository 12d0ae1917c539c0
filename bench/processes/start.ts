// Starts a benchmark program as a child process and measures its CPU time and memory.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'

export interface Measured {
  pid: number
  port: number
  /** Seconds of CPU time of its threads so far. Threads that have ended do not count. */
  cpuSeconds(): number
  /** Current resident memory, in megabytes. */
  memory(): number
  /** Kills the process. */
  stop(): Promise<void>
  /** Requests the process to end, and waits until it has. */
  terminate(): Promise<void>
}

/** Seconds of CPU time of a process on this machine that has one thread, such as a backend of PostgreSQL; 0 if there is none. */
export const cpuSecondsOf = (pid: number): number => threadNanoseconds(pid, String(pid)) / 1e9

/**
 * Nanoseconds of CPU time of a thread. `/proc/<pid>/stat` counts hundredths of a second, of which a short round takes only six.
 * Source: https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat
 */
function threadNanoseconds(pid: number, thread: string): number {
  const file = `/proc/${pid}/task/${thread}/schedstat`
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split(' ')[0]) : 0
}

/** Programs that a suite left behind because it failed or took too long end with this process. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
function endWithThisProcess(child: ChildProcess): void {
  running.add(child)
  child.once('exit', () => running.delete(child))
}

export function watch(child: ChildProcess, port: number): Measured {
  const pid = child.pid ?? 0
  const end = (signal: NodeJS.Signals): Promise<void> =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve()
      child.once('exit', () => resolve())
      child.kill(signal)
    })
  return {
    pid,
    port,
    cpuSeconds() {
      const threads = readdirSync(`/proc/${pid}/task`)
      return threads.reduce((sum, thread) => sum + threadNanoseconds(pid, thread), 0) / 1e9
    },
    memory() {
      const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
      return Number(kilobytes) / 1024
    },
    stop: () => end('SIGKILL'),
    terminate: () => end('SIGTERM'),
  }
}

/** Starts a program from this folder, which prints its port as JSON. */
export async function startProgram(name: string, ...args: string[]): Promise<Measured> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, `${name}.ts`), ...args],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  endWithThisProcess(child)
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', (text) =>
      resolve(Number(JSON.parse(text).port)),
    )
    child.once('exit', (code) => reject(new Error(`${name} exited with code ${code}.`)))
  })
  return watch(child, port)
}

/** What `probe.mjs` reports between `start` and `stop`. */
const ProbeReport = z.object({
  /** How often each SQL statement ran. */
  statements: z.array(z.tuple([z.string(), z.number()])),
  /** How often the server waited for PostgreSQL; 0 on SQLite. */
  roundTrips: z.number(),
  /** Microseconds in each function itself. */
  functions: z.array(z.object({ name: z.string(), origin: z.string(), us: z.number() })),
})
export type ProbeReport = z.infer<typeof ProbeReport>

export interface ProbedServer extends Measured {
  readyAfterMs: number
  /** Counts and profiles what the server does during `work`. Only for a server that was started with the probe. */
  probe(work: () => Promise<void>): Promise<ProbeReport>
  /** Bytes on V8's heap after a collection. Only for a server that was started with the probe. */
  liveBytes(): Promise<number>
}

/**
 * Starts the built server with a configuration file; resolves when it is ready.
 * @param withProbe loads `probe.mjs` into it, which costs some CPU time.
 */
export async function startNanoClaw(
  configFile: string,
  port: number,
  folder: string,
  withProbe = false,
): Promise<ProbedServer> {
  const startedAt = performance.now()
  const program = join(import.meta.dirname, '../../dist/server/main.js')
  if (!existsSync(program)) throw new Error('No built server found. Run `npm run build` first.')
  const preload = withProbe ? ['--import', join(import.meta.dirname, 'probe.mjs')] : []
  const child = spawn(process.execPath, [...preload, program], {
    cwd: folder,
    env: { ...process.env, NANOCLAW_CONFIG: configFile, PORT: String(port) },
    stdio: withProbe ? ['ignore', 'pipe', 'pipe', 'ipc'] : ['ignore', 'pipe', 'pipe'],
  })
  endWithThisProcess(child)
  const { stdout, stderr } = child
  if (stdout === null || stderr === null) throw new Error('The output of the server is not piped.')
  let errorOutput = ''
  stderr.on('data', (chunk: Buffer) => {
    errorOutput = (errorOutput + chunk.toString()).slice(-4_000)
  })
  const ready = new Promise<void>((resolve, reject) => {
    createInterface({ input: stdout }).on('line', (text) => {
      if (text.includes('ready')) resolve()
    })
    child.once('exit', (code) =>
      reject(new Error(`The server exited with code ${code}: ${errorOutput}`)),
    )
  })
  await ready
  const command = async (name: 'start' | 'stop' | 'heap'): Promise<unknown> => {
    const answer = once(child, 'message')
    child.send(name)
    return (await answer)[0]
  }
  return Object.assign(watch(child, port), {
    readyAfterMs: performance.now() - startedAt,
    async probe(work: () => Promise<void>) {
      await command('start')
      await work()
      return ProbeReport.parse(await command('stop'))
    },
    liveBytes: async () => z.number().parse(await command('heap')),
  })
}
