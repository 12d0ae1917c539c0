#!/usr/bin/env node
// `nanoclaw <command>`, the same in a checkout, in one without the packages that build it, in the installed package and in the
// image: checks the version of Node, builds what is missing or outdated where that is possible, and runs the built program.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { provideContainerSecret } from './container-secret.mjs'
import { nameSourcesInTraces } from './stack-traces.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const program = join(root, 'dist/server/main.js')
const [command] = process.argv.slice(2)
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

function fail(message) {
  console.error(message)
  process.exit(1)
}

if (major < 20 || (major === 20 && minor < 19) || (major === 22 && minor < 14))
  fail(
    `NanoClaw needs Node 20.19, 22.14, 24 or later; this is ${process.version}. Install a newer Node and start again.`,
  )

if (command === '--version') {
  console.log(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version)
  process.exit(0)
}

/** Whether npm installed this as a package: the folder then belongs to npm, which replaces it at every upgrade. */
const isPackage = root.split(sep).includes('node_modules')

/** What installs a driver for this version of Node. Node 20 needs another one than later versions, which npm compiles. */
const remedy = !isPackage
  ? `Run \`npm ci\` with Node ${process.version} first.`
  : Number(process.versions.napi) >= 10
    ? `Install NanoClaw again with Node ${process.version}.`
    : 'Run `npm install -g better-sqlite3-12@npm:better-sqlite3@12.11.1`, which compiles it for Node 20, or use Node 22.14 or later.'

/** The package keeps everything in the user's home, unless a configuration says where: the same wherever it is started. */
function chooseHome() {
  const { NANOCLAW_DATA, NANOCLAW_CONFIG } = process.env
  const home = join(homedir(), '.nanoclaw')
  // The file in that folder is of the installation there, also for a command that starts in it.
  const hasOwnFile = existsSync('config.yml') && process.cwd() !== home
  if (!isPackage || NANOCLAW_DATA || NANOCLAW_CONFIG || hasOwnFile) return
  process.env.NANOCLAW_DATA = home
}

/** Explains a SQLite driver that is missing or does not load, instead of failing with a stack trace. */
function checkDatabaseDriver() {
  const require = createRequire(join(root, 'package.json'))
  // The same choice as in server/lib/sqlite-driver.ts.
  const driver = Number(process.versions.napi) >= 10 ? 'better-sqlite3' : 'better-sqlite3-12'
  try {
    const Database = require(driver)
    new Database(':memory:').close()
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'MODULE_NOT_FOUND')
      fail(`The package ${driver} is missing. ${remedy}`)
    fail(
      `The SQLite driver does not load on Node ${process.version} (it was installed for another one). ${remedy}\n${error.message.split('\n')[0]}`,
    )
  }
}

/** Only a checkout with the packages that build it can be out of date: `npm prune` and copies change the times of sources. */
async function buildIfPossible() {
  const builder = join(root, 'scripts/build-outdated.mjs')
  const canBuild = ['esbuild', 'tsx', 'vite'].every((name) =>
    existsSync(join(root, 'node_modules', name, 'package.json')),
  )
  if (canBuild && existsSync(builder)) {
    const { buildOutdated } = await import(pathToFileURL(builder).href)
    if (!buildOutdated([undefined, 'start', '--workers'].includes(command)))
      fail('The build failed; see the output above.')
  } else if (!existsSync(program))
    fail(
      `NanoClaw is not built (${program} is missing), and the packages that build it are not installed. Run \`npm ci && npm run build\` first; \`npm prune --omit=dev\` may follow.`,
    )
}

chooseHome()
provideContainerSecret(command)
checkDatabaseDriver()
await buildIfPossible()

// The server runs in this process, so that signals of a supervisor reach it directly.
nameSourcesInTraces()
await import(pathToFileURL(program).href)
