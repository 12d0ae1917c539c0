// Real Python sandboxes for tests, in a folder of their own, closed when the tests of a file end.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createPythonSandbox,
  type PythonOptions,
  type PythonRequest,
  type PythonSandbox,
} from '../../server/sandbox/python.ts'
import type { ProgramOutcome } from '../../server/sandbox/python-interpreter.ts'

export interface TestSandbox extends PythonSandbox {
  /** Where its memory images are; another sandbox may be given them as its `snapshotFolder`. */
  snapshotFolder: string
  /** Runs one program and tells what its listener heard. */
  program(
    code: string,
    options?: Partial<PythonRequest> & { signal?: AbortSignal; onOutput?: (text: string) => void },
  ): Promise<ProgramOutcome & { heard: string[] }>
}

/** A sandbox with the product's own code and defaults; `close` removes its folder as well. */
export async function openPython(options: Partial<PythonOptions> = {}): Promise<TestSandbox> {
  const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-python-'))
  const snapshotFolder = join(folder, 'python')
  const sandbox = await createPythonSandbox({
    isolation: 'auto',
    multiUser: false,
    poolSize: 1,
    poolIdleMs: 60_000,
    snapshotFolder,
    packagesFolder: null,
    extraModules: {},
    log: () => {},
    ...options,
  })
  return {
    ...sandbox,
    snapshotFolder: options.snapshotFolder ?? snapshotFolder,
    async program(code, { signal, onOutput, ...request } = {}) {
      const heard: string[] = []
      const outcome = await sandbox.run(
        { code, strictness: 'standard', files: [], ...request },
        {
          onStarting: () => heard.push('starting'),
          onRunning: () => heard.push('running'),
          onOutput: (stream, text) => {
            heard.push(`${stream}: ${text}`)
            onOutput?.(text)
          },
        },
        signal ?? new AbortController().signal,
      )
      return { ...outcome, heard }
    },
    async close() {
      await sandbox.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
