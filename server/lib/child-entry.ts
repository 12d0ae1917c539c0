// Finds the program of a worker thread or child process, run from the sources or from the build.
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

export interface ChildEntry {
  /** Absolute path of the program. */
  file: string
  /** Node flags that it needs: the TypeScript loader when it is run from the sources, else none. */
  execArgv: readonly string[]
}

/**
 * Programs that run beside the server are named `<name>.child.ts` and lie anywhere under `server/`; the build makes of
 * each a file of its own at the same place under `dist/`, beside `dist/main.js`.
 * `place` is the path below that folder without ending, for instance `net/page.child`.
 */
export function childEntry(place: `${string}.child`): ChildEntry {
  const here = import.meta.url
  if (!here.endsWith('.ts'))
    return { file: fileURLToPath(new URL(`./${place}.js`, here)), execArgv: [] }
  const loader = pathToFileURL(createRequire(here).resolve('tsx')).href
  return {
    file: fileURLToPath(new URL(`../${place}.ts`, here)),
    execArgv: ['--import', loader],
  }
}
