// What the container starts with: a secret of its own where none is given.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-container-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('containers that start on one volume without JWT_SECRET create one secret, log that, and reuse it; commands create none', async () => {
  const provider = pathToFileURL(resolve(import.meta.dirname, '../../bin/container-secret.mjs'))
  const program = join(folder, 'program.mjs')
  const data = join(folder, 'data')
  writeFileSync(
    program,
    `import { provideContainerSecret } from '${provider}'
provideContainerSecret(process.argv[2])
console.log(process.env.JWT_SECRET)`,
  )
  const run = async (command: string, secret?: string): Promise<string> => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, command], {
      env: { NANOCLAW_DATA: data, ...(secret === undefined ? {} : { JWT_SECRET: secret }) },
    })
    return stdout
  }
  expect(await run('doctor')).toMatch(/^[0-9a-f]{64}\n$/)
  expect(existsSync(data)).toBe(false)
  const both = await Promise.all([run('start'), run('start', '')])
  const printed = [...both, await run('start'), await run('doctor'), await run('admin')]
  const secrets = printed.map((text) => /([0-9a-f]{64})$/m.exec(text)?.[1])
  expect(secrets[0]).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(secrets).size).toBe(1)
  expect(both.join('').match(/was created in \S+jwt-secret/g)).toHaveLength(1)
  expect(readdirSync(data)).toEqual(['jwt-secret'])
  expect(statSync(join(data, 'jwt-secret')).mode & 0o777).toBe(0o600)
  expect(await run('start', 'given by the operator')).toBe('given by the operator\n')
})
