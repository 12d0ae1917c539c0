// Measures one file of a suite in a separate process, within a time limit.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { z } from 'zod'
import { StoredRow } from './results.ts'

/** Several times the duration of the longest file, so that a file that hangs does not block the others. */
const FILE_MINUTES = 20

/** @throws Error if the file measured nothing, fails in any way, or takes too long. */
export async function measureFile(name: string): Promise<StoredRow[]> {
  const child = fork(join(import.meta.dirname, 'processes/suite.ts'), [name], {
    execArgv: ['--import', 'tsx'],
  })
  const timer = setTimeout(() => {
    console.error(`${name} took more than ${FILE_MINUTES} minutes.`)
    // This ends its process.
    child.disconnect()
  }, FILE_MINUTES * 60_000)
  let measured: unknown = []
  child.once('message', (rows) => {
    measured = rows
  })
  const [code] = await once(child, 'exit')
  clearTimeout(timer)
  if (code !== 0) throw new Error(`${name} exited with code ${code}.`)
  const rows = z.array(StoredRow).parse(measured)
  // A suite without figures must not pass.
  if (rows.length === 0) throw new Error(`${name} measured nothing.`)
  return rows
}
