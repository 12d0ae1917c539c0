// The committed migrations are what the table definition says.
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')

test('`npm run db:generate` would change nothing', async () => {
  const script = resolve(root, 'scripts/generate-migrations.ts')
  const checked = promisify(execFile)(process.execPath, ['--import', 'tsx', script, '--check'], {
    cwd: root,
  })
  await expect(checked).resolves.toMatchObject({ stderr: '' })
})
