// The server as a process of its own, so that a test can kill it and start it again on the same data.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { inject } from 'vitest'

/** What Node needs to run a TypeScript file. */
export const fromSources = (file: string): string[] => [
  '--import',
  import.meta.resolve('tsx'),
  file,
]

export interface ServerProcess {
  readonly url: string
  readonly pid: number
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** What it wrote to its standard error so far: the log. */
  logged(): string
  kill(signal: NodeJS.Signals): Promise<void>
}

export interface ServerPlace {
  /** Starts the server on the place's data; resolves when it is ready. */
  start(options?: { wrapper?: readonly string[] }): Promise<ServerProcess>
  /** Ends whatever runs. */
  close(): Promise<void>
}

/** Below the range from which systems take the ports of outgoing connections: those could take it between two starts. */
const PORTS = { from: 10_000, to: 32_000 }

async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}

/** A folder with a configuration of its own; the port stays the same over restarts, as a browser needs it. */
export async function serverPlace(
  folder: string,
  config: Record<string, unknown>,
  /** What Node runs; without it the server as an operator starts it. */
  program?: readonly string[],
): Promise<ServerPlace> {
  const started = program ?? [join(inject('serverBuild'), 'main.js')]
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
