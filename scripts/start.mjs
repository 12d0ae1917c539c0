// `npm start`: checks the version of Node, builds what is missing or outdated, and runs the server.
import { readFileSync } from 'node:fs'
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

/** The SQLite driver is compiled for one version of Node. Explains a mismatch instead of failing with a stack trace. */
function checkDatabaseDriver() {
  const require = createRequire(join(root, 'package.json'))
  try {
    const { version } = JSON.parse(
      readFileSync(join(root, 'node_modules/better-sqlite3/package.json'), 'utf8'),
    )
    if (Number(version.split('.')[0]) >= 13 && major < 22)
      fail(
        `better-sqlite3 ${version} does not run on Node ${major}. Run \`npm ci\` with this version of Node.`,
      )
    const Database = require('better-sqlite3')
    new Database(':memory:').close()
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'MODULE_NOT_FOUND')
      fail('Packages are missing. Run `npm ci` first.')
    fail(
      `The SQLite driver does not load on Node ${process.version} (it was installed for another one). Run \`npm rebuild better-sqlite3\` or \`npm ci\`.\n${error.message.split('\n')[0]}`,
    )
  }
}

checkDatabaseDriver()
if (!buildOutdated()) fail('The build failed; see the output above.')

// The server runs in this process, so that signals of a supervisor reach it directly.
nameSourcesInTraces()
await import(pathToFileURL(join(root, 'dist/server/main.js')).href)
