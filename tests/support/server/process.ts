// The server as a child process in its own folder, for tests of start-up and shutdown.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, inject } from 'vitest'
import { SHORT_LIVED } from '../short-lived.ts'

export interface ServerProcess {
  child: ChildProcess
  /** The output so far. */
  output(): { stdout: string; stderr: string }
  /** Resolves to the URL that the server prints; rejects with the output if the process ends first. */
  ready: Promise<string>
  /** Resolves when the process has ended and its output is complete. */
  ended: Promise<{ status: number | null; signal: NodeJS.Signals | null }>
}

export interface ProcessOptions {
  /** Text of config.yml; null to write no file. */
  config: string | null
  arguments?: readonly string[]
  environment?: Record<string, string>
}

/** Creates folders and starts server processes in them; cleans all of them up after the last test of the file. */
export function useProcesses(): {
  folder(): string
  start(folder: string, options: ProcessOptions): ServerProcess
} {
  const undo: (() => Promise<void> | void)[] = []
  afterAll(async () => {
    for (const step of undo.reverse()) await step()
  })
  return {
    folder() {
      const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-process-'))
      undo.push(() => rmSync(folder, { recursive: true, force: true }))
      return folder
    },
    start(folder, options) {
      const started = startProcess(folder, options)
      undo.push(async () => {
        started.child.kill('SIGKILL')
        await started.ended
      })
      return started
    },
  }
}

function startProcess(folder: string, options: ProcessOptions): ServerProcess {
  if (options.config !== null) writeFileSync(join(folder, 'config.yml'), options.config)
  const child = spawn(
    process.execPath,
    [...SHORT_LIVED, join(inject('serverBuild'), 'main.js'), ...(options.arguments ?? [])],
    {
      cwd: folder,
      env: {
        PATH: process.env.PATH ?? '',
        PORT: '0',
        // Without a file, the data would be beside the program, which all tests share.
        ...(options.config === null ? { NANOCLAW_DATA: join(folder, 'data') } : {}),
        ...options.environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const printed = { stdout: '', stderr: '' }
  const ended = new Promise<{ status: number | null; signal: NodeJS.Signals | null }>((done) =>
    child.once('close', (status, signal) => done({ status, signal })),
  )
  const ready = new Promise<string>((done, fail) => {
    child.stderr.on('data', (chunk) => {
      printed.stderr += chunk
    })
    child.stdout.on('data', (chunk) => {
      printed.stdout += chunk
      const url = /NanoClaw is ready: (http\S+)/.exec(printed.stdout)?.[1]
      if (url !== undefined) done(url)
    })
    void ended.then(() => fail(new Error(`ended early:\n${printed.stdout}${printed.stderr}`)))
  })
  // Tests that only await `ended` must not cause an unhandled rejection.
  ready.catch(() => {})
  return { child, output: () => ({ ...printed }), ready, ended }
}
