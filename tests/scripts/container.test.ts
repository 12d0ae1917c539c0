// What the container starts with: a secret of its own where none is given.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-container-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('containers that start on one volume without JWT_SECRET create one secret, log that, and reuse it', async () => {
  const program = join(folder, 'program.mjs')
  const data = join(folder, 'data')
  writeFileSync(program, 'console.log(process.env.JWT_SECRET, ...process.argv.slice(2))')
  const start = async (secret?: string): Promise<string> => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [resolve(import.meta.dirname, '../../docker/entrypoint.mjs'), program, 'doctor'],
      { env: { NANOCLAW_DATA: data, ...(secret === undefined ? {} : { JWT_SECRET: secret }) } },
    )
    return stdout
  }
  const both = await Promise.all([start(), start('')])
  const secrets = [...both, await start()].map((text) => /([0-9a-f]{64}) doctor$/m.exec(text)?.[1])
  expect(secrets[0]).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(secrets).size).toBe(1)
  expect(both.join('').match(/a secret was created in/g)).toHaveLength(1)
  expect(readdirSync(data)).toEqual(['jwt-secret'])
  expect(statSync(join(data, 'jwt-secret')).mode & 0o777).toBe(0o600)
  expect(await start('given by the operator')).toBe('given by the operator doctor\n')
})
