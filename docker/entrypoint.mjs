// Starts NanoClaw in a container. Without JWT_SECRET, it creates a secret on the volume at the first start and uses that.
import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [program = '/app/dist/server/main.js', ...operands] = process.argv.slice(2)
const folder = process.env.NANOCLAW_DATA ?? '/data'
const file = join(folder, 'jwt-secret')

/** If several instances start on one volume at the same moment, all use the secret of the first. */
function createSecret() {
  mkdirSync(folder, { recursive: true })
  const own = `${file}.${process.pid}.${randomBytes(6).toString('hex')}`
  writeFileSync(own, `${randomBytes(32).toString('hex')}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  })
  try {
    linkSync(own, file)
    console.log(
      `JWT_SECRET is not set: a secret was created in ${file}. Keep it with your backups; without it everybody must sign in again.`,
    )
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  } finally {
    rmSync(own, { force: true })
  }
}

function readSecret() {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    return null
  }
}

if (!process.env.JWT_SECRET) {
  if (readSecret() === null) createSecret()
  process.env.JWT_SECRET = readSecret() ?? ''
}
// The program expects its own path as the started script.
process.argv = [process.argv[0], program, ...operands]
await import(pathToFileURL(program).href)
