// Starts a benchmark program as a child process and measures its CPU time and memory.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface Measured {
  pid: number
  port: number
  /** Seconds of CPU time so far. */
  cpuSeconds(): number
  /** Current resident memory, in megabytes. */
  memory(): number
  stop(): Promise<void>
}

/** Clock ticks per second in /proc/<pid>/stat; 100 on every Linux that Node supports. */
const TICKS = 100

export function watch(child: ChildProcess, port: number): Measured {
  const pid = child.pid ?? 0
  return {
    pid,
    port,
    cpuSeconds() {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) / TICKS
    },
    memory() {
      const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
      return Number(kilobytes) / 1024
    },
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve()
        child.once('exit', () => resolve())
        child.kill('SIGKILL')
      }),
  }
}

/** Starts a program from this folder, which prints its port as JSON. */
export async function startProgram(name: string, ...args: string[]): Promise<Measured> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, `${name}.ts`), ...args],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', (text) =>
      resolve(Number(JSON.parse(text).port)),
    )
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)))
  })
  return watch(child, port)
}

/** Starts the built server with a configuration file; resolves when it is ready. */
export async function startNanoClaw(
  configFile: string,
  port: number,
  folder: string,
): Promise<Measured & { readyAfterMs: number }> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../dist/server/main.js')], {
    cwd: folder,
    env: { ...process.env, NANOCLAW_CONFIG: configFile, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errorOutput = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errorOutput = (errorOutput + chunk.toString()).slice(-4_000)
  })
  const ready = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (text) => {
      if (text.includes('ready')) resolve()
    })
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${errorOutput}`)))
  })
  await ready
  return Object.assign(watch(child, port), { readyAfterMs: performance.now() - startedAt })
}
