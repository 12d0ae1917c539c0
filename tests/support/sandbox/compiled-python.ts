// The folder of Python's compiled files that all tests share; filling it takes 15 s.
import { mkdirSync, symlinkSync } from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createCompiledFiles } from '../../../server/sandbox/python/compiled-files.ts'
import { createWasmLauncher, findInterpreterFiles } from '../../../server/sandbox/python/launch.ts'

/**
 * Persists between test runs, as a server's own folder does. Each checkout has its own, because a checkout removes
 * files that do not match its interpreter.
 */
export const SHARED_COMPILED = resolve(
  import.meta.dirname,
  '../../../node_modules/.cache/nanoclaw-python',
)

/** Compiles Python's library and the interpreter if they are missing: once, not in each test file that finds an empty folder. */
export async function compilePython(): Promise<void> {
  // The files are closed to other users, but not the builds beside them: as root, the interpreter runs as another user if
  // that one can read its files, and each start of a server in a test would try again whether it can.
  const caches = dirname(SHARED_COMPILED)
  await mkdir(caches, { recursive: true })
  await chmod(caches, 0o755)
  const files = await findInterpreterFiles([])
  const compiled = createCompiledFiles({
    folder: SHARED_COMPILED,
    files,
    launcher: createWasmLauncher(files),
    log: (message, details) => console.error(message, details),
  })
  await compiled.fill()
  await compiled.close()
}

/** Makes a server with this data folder use the shared compiled files. */
export function shareCompiledPython(dataFolder: string): void {
  mkdirSync(SHARED_COMPILED, { recursive: true, mode: 0o700 })
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
  symlinkSync(SHARED_COMPILED, join(dataFolder, 'python'))
}
