// Runs Python programs from models, isolated from the host, from each other and from their users.
import { untilAborted } from '../../lib/abort.ts'
import {
  failedProgram,
  type OpenedPython,
  openPythonSandbox,
  type PythonListener,
  type PythonOptions,
  type PythonRequest,
} from './isolated-sandbox.ts'
import type { PythonState } from './isolation.ts'
import { programRules, type Strictness } from './modules.ts'
import type { ProgramOutcome } from './program.ts'

/** Runs Python programs of models in isolation. */
export interface PythonSandbox {
  /** The isolation in force; `none` while it is being tested, until `ready` resolves. */
  readonly state: PythonState
  /** Packages that programs may import in addition to the standard library; known once `ready` resolves. */
  readonly packages: readonly string[]
  /** Resolves when the isolation has been tested. Never rejects: errors show in `state`. */
  readonly ready: Promise<void>
  /** Modules that programs of a level may import, except packages; null means the whole standard library. */
  modules(strictness: Strictness): readonly string[] | null
  /**
   * Runs one program in its own interpreter; waits for `ready`, and in a queue when too many programs run. Never rejects.
   * Aborting `signal` ends the program within a second.
   */
  run(
    request: PythonRequest,
    listener: PythonListener,
    signal: AbortSignal,
  ): Promise<ProgramOutcome>
  close(): Promise<void>
}

/** Returns a sandbox immediately and tests in the background which isolation works here. */
export function createPythonSandbox(options: PythonOptions): PythonSandbox {
  let opened: OpenedPython | null = null
  const opening = openPythonSandbox(options)
  const ready = opening.then((sandbox) => {
    opened = sandbox
    options.log('isolation of Python programs', { python: sandbox.state })
  })
  const untested: PythonState = {
    engine: options.engine,
    isolation: 'none',
    available: false,
    reason: 'the isolation is still being tested',
  }
  return {
    get state() {
      return opened?.state ?? untested
    },
    get packages() {
      return opened?.packages ?? []
    },
    ready,
    modules: (strictness) => programRules(strictness, options.extraModules, []).modules,
    async run(request, listener, signal) {
      try {
        const sandbox = await untilAborted(opening, signal)
        return await sandbox.run(request, listener, signal)
      } catch {
        return failedProgram('stopped', 'Stopped before the program ended.')
      }
    },
    close: async () => (await opening).close(),
  }
}
