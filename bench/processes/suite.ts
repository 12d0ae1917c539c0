// Runs one file of a suite in a separate process (`measureFile` starts it), so that a failure ends only this process.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Row } from '../row.ts'

const isSuite = (module: object): module is { run(): Promise<Row[]> } =>
  'run' in module && typeof module.run === 'function'

// The programs of the suite end with this process, so it must end when nobody waits for its figures.
process.once('disconnect', () => process.exit(1))
const name = process.argv[2] ?? ''
const module: object = await import(pathToFileURL(join(import.meta.dirname, '..', name)).href)
if (!isSuite(module)) throw new Error(`${name} does not export \`run\`.`)
const rows = await module.run()
// Connections that the suite left open must not keep the process alive.
process.send?.(rows, () => process.exit(0))
