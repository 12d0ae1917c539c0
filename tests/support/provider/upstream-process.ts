// Starts the scripted provider as a child process, so that it does not load the event loop of a benchmark.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface UpstreamProcess {
  /** The base URL of the API; its models are those of `benchProgram`. */
  readonly url: string
  readonly pid: number
  close(): Promise<void>
}

/** Resolves when the child process is listening. It ends with its parent. */
export async function startUpstreamProcess(): Promise<UpstreamProcess> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, 'upstream-main.ts')],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const lines = createInterface({ input: child.stdout })
  const url = await new Promise<string>((resolve, reject) => {
    lines.once('line', (line) => {
      const value: unknown = JSON.parse(line)
      if (typeof value === 'object' && value !== null && 'url' in value) resolve(String(value.url))
    })
    child.once('exit', (code) => reject(new Error(`the upstream ended with ${code}`)))
  })
  return {
    url,
    pid: child.pid ?? 0,
    async close() {
      child.kill('SIGTERM')
      await exited
    },
  }
}
