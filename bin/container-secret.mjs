// The secret that signs tokens in a container without JWT_SECRET: a file on the volume, found by the server and all commands.
import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** If several instances start on one volume at the same moment, all use the secret of the first. */
function createSecret(folder, file) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const own = `${file}.${process.pid}.${randomBytes(6).toString('hex')}`
  writeFileSync(own, `${newSecret()}\n`, { mode: 0o600, flag: 'wx', flush: true })
  try {
    linkSync(own, file)
    console.log(
      `The secret that signs sessions of accounts was created in ${file}; backups include it. JWT_SECRET would replace it.`,
    )
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  } finally {
    rmSync(own, { force: true })
  }
}

function readSecret(file) {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    return null
  }
}

const newSecret = () => randomBytes(32).toString('hex')

/**
 * Sets JWT_SECRET if it is absent and NANOCLAW_DATA names the volume, as in the image. A start creates the file; a command
 * creates nothing: before the first start, no token exists that another secret could invalidate.
 * @param {string | undefined} command
 */
export function provideContainerSecret(command) {
  const { NANOCLAW_DATA: folder, JWT_SECRET: given } = process.env
  if (given || !folder) return
  const file = join(folder, 'jwt-secret')
  const isStart = [undefined, 'start', '--workers'].includes(command)
  if (readSecret(file) === null && isStart) createSecret(folder, file)
  process.env.JWT_SECRET = readSecret(file) ?? newSecret()
}
