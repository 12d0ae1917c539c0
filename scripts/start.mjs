// `npm start`: checks the version of Node, builds what is missing or outdated, and runs the server.
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildOutdated } from './build-outdated.mjs'
import { nameSourcesInTraces } from './stack-traces.mjs'

const root = resolve(import.meta.dirname ?? dirname(new URL(import.meta.url).pathname), '..')
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

function fail(message) {
  console.error(message)
  process.exit(1)
}

if (major < 20 || (major === 20 && minor < 19) || (major === 22 && minor < 12))
  fail(
    `NanoClaw needs Node 20.19, 22.12, 24 or later; this is ${process.version}. Install a newer Node and start again.`,
  )

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
      fail(`The package ${driver} is missing. Run \`npm ci\` with Node ${process.version} first.`)
    fail(
      `The SQLite driver does not load on Node ${process.version} (it was installed for another one). Run \`npm ci\` with this version of Node.\n${error.message.split('\n')[0]}`,
    )
  }
}

checkDatabaseDriver()
if (!buildOutdated()) fail('The build failed; see the output above.')

// The server runs in this process, so that signals of a supervisor reach it directly.
nameSourcesInTraces()
await import(pathToFileURL(join(root, 'dist/server/main.js')).href)
