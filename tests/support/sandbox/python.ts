// Real Python sandboxes for tests, with the server's own code and defaults.
import type {
  PythonOptions,
  PythonRequest,
} from '../../../server/sandbox/python/isolated-sandbox.ts'
import type { ProgramOutcome } from '../../../server/sandbox/python/program.ts'
import { createPythonSandbox, type PythonSandbox } from '../../../server/sandbox/python/sandbox.ts'
import { SHARED_COMPILED } from './compiled-python.ts'

export interface TestSandbox extends PythonSandbox {
  /** Runs one program; `notifications` lists what its listener received. */
  program(
    code: string,
    options?: Partial<PythonRequest> & { signal?: AbortSignal; onOutput?: (text: string) => void },
  ): Promise<ProgramOutcome & { notifications: string[] }>
}

/** Opens a sandbox whose isolation has been probed, with compiled files that all tests share. The caller closes it. */
export async function openPython(options: Partial<PythonOptions> = {}): Promise<TestSandbox> {
  const sandbox = createPythonSandbox({
    engine: 'wasm',
    isolation: 'auto',
    multiUser: false,
    poolSize: 1,
    poolIdleMs: 60_000,
    compiledFolder: SHARED_COMPILED,
    packagesFolder: null,
    extraModules: {},
    log: () => {},
    ...options,
  })
  await sandbox.ready
  return {
    ...sandbox,
    async program(code, { signal, onOutput, ...request } = {}) {
      const notifications: string[] = []
      const outcome = await sandbox.run(
        { code, strictness: 'standard', files: [], ...request },
        {
          onStarting: () => notifications.push('starting'),
          onRunning: () => notifications.push('running'),
          onOutput: (stream, text) => {
            notifications.push(`${stream}: ${text}`)
            onOutput?.(text)
          },
        },
        signal ?? new AbortController().signal,
      )
      return { ...outcome, notifications }
    },
  }
}
