// The server as a child process that a test can kill and restart on the same data.
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { inject } from 'vitest'
import { SHORT_LIVED } from '../short-lived.ts'
import { freePort } from './free-port.ts'

export interface ServerProcess {
  readonly url: string
  readonly pid: number
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** The log so far: the last 20,000 characters of stderr. */
  logged(): string
  kill(signal: NodeJS.Signals): Promise<void>
}

export interface ServerPlace {
  /** Starts the server on the data in this folder; resolves when it is ready, rejects if it ends before. */
  start(options?: { wrapper?: readonly string[] }): Promise<ServerProcess>
  /** Kills every process that is still running. */
  close(): Promise<void>
}

/** For servers that start often and run no programs: they do not get an interpreter ready each time. */
export const NO_PROGRAMS = { code_execution: { engine: 'host', pool_size: 0 } }

/** Prepares a folder with its own configuration. The port stays the same across restarts, as browsers require. */
export async function serverPlace(
  folder: string,
  config: Record<string, unknown>,
  /** Arguments for Node; by default `main.js` of the build. */
  program?: readonly string[],
): Promise<ServerPlace> {
  const started = [...SHORT_LIVED, ...(program ?? [join(inject('serverBuild'), 'main.js')])]
  const port = await freePort()
  const configFile = join(folder, 'config.yml')
  await writeFile(
    configFile,
    JSON.stringify({
      data_dir: join(folder, 'data'),
      workspace_root: join(folder, 'workspaces'),
      ...config,
    }),
  )
  const running = new Set<ChildProcess>()
  return {
    async start({ wrapper = [] } = {}) {
      const [command, ...before] = [...wrapper, process.execPath]
      if (command === undefined) throw new Error('nothing to start')
      const child = spawn(command, [...before, ...started], {
        cwd: folder,
        env: { ...process.env, NANOCLAW_CONFIG: configFile, PORT: String(port) },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      running.add(child)
      let log = ''
      child.stderr.on('data', (chunk: Buffer) => {
        log = (log + chunk.toString()).slice(-20_000)
      })
      const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>(
        (resolve) =>
          child.once('exit', (code, signal) => {
            running.delete(child)
            resolve({ code, signal })
          }),
      )
      const ready = new Promise<void>((resolve, reject) => {
        createInterface({ input: child.stdout }).on('line', (line) => {
          if (line.includes('is ready')) resolve()
        })
        void exited.then(({ code, signal }) =>
          reject(new Error(`the server ended (${code ?? signal}) before it was ready:\n${log}`)),
        )
      })
      await ready
      return {
        url: `http://127.0.0.1:${port}`,
        pid: child.pid ?? 0,
        exited,
        logged: () => log,
        async kill(signal) {
          child.kill(signal)
          await exited
        },
      }
    },
    async close() {
      for (const child of [...running]) {
        const gone = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGKILL')
        await gone
      }
    },
  }
}
