// Promises of the stack traces that the started server writes.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { transform } from 'esbuild'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const SOURCE = `interface Unused { a: string }


export function fail(): never {
  throw new TypeError('too bad')
}
`

test('a stack trace names source lines, and leaves lines of code without a source map unchanged', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-traces-'))
  try {
    const { code, map } = await transform(SOURCE, {
      loader: 'ts',
      sourcemap: 'external',
      sourcefile: 'src/fail.ts',
    })
    await writeFile(join(folder, 'built.mjs'), code)
    await writeFile(join(folder, 'built.mjs.map'), map)
    const naming = pathToFileURL(resolve(import.meta.dirname, '../../bin/stack-traces.mjs'))
    await writeFile(
      join(folder, 'main.mjs'),
      `import { nameSourcesInTraces } from ${JSON.stringify(naming.href)}
import { fail } from './built.mjs'
nameSourcesInTraces()
try { fail() } catch (error) { console.log(error.stack) }`,
    )
    const { stdout } = await run(process.execPath, [join(folder, 'main.mjs')])
    const [title, first, second] = stdout.split('\n')
    expect(title).toBe('TypeError: too bad')
    expect(first).toContain(`at fail (${join(folder, 'src/fail.ts')}:5:`)
    expect(second).toContain('main.mjs:4:7')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
