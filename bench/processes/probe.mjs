// Preloaded into a server under test: counts its SQL statements and profiles its CPU time when the benchmark asks for it.
import { Session } from 'node:inspector/promises'
import { createRequire, findSourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)

/** How often each statement ran since the last `start`, by its text. */
const statements = new Map()
const count = (text) => statements.set(text, (statements.get(text) ?? 0) + 1)

/** Counts what better-sqlite3 runs: all its statements share one prototype. */
function countSqlite() {
  const Database = require('better-sqlite3')
  const database = new Database(':memory:')
  const prototype = Object.getPrototypeOf(database.prepare('select 1'))
  database.close()
  for (const name of ['run', 'get', 'all', 'iterate']) {
    const original = prototype[name]
    prototype[name] = function (...values) {
      count(this.source)
      return original.apply(this, values)
    }
  }
}

/** Counts what the PostgreSQL driver sends. */
function countPostgres() {
  const { Client } = require('pg')
  const original = Client.prototype.query
  Client.prototype.query = function (query, ...rest) {
    count(typeof query === 'string' ? query : query.text)
    return original.call(this, query, ...rest)
  }
}

/** Where a function was written: `server/runs/recorder.ts`, a package, or what Node and V8 call it. */
function originOf({ url, lineNumber, columnNumber }) {
  if (url === '') return '(native)'
  if (url.startsWith('node:')) return url
  const path = url.startsWith('file:') ? fileURLToPath(url) : url
  const source = findSourceMap(path)?.findEntry(lineNumber, columnNumber)?.originalSource ?? path
  const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(source)
  if (inPackage !== null) return inPackage[1]
  return source.replace(/^.*?(?=\/server\/)\//, '').split('?')[0]
}

/** Microseconds of each function itself, without what it calls. */
function selfTimes({ nodes, samples, timeDeltas }) {
  const nodesById = new Map(nodes.map((node) => [node.id, node]))
  const times = new Map()
  for (const [at, id] of samples.entries()) {
    const { callFrame } = nodesById.get(id)
    const name = callFrame.functionName || '(anonymous)'
    const key = `${name} ${callFrame.url}:${callFrame.lineNumber}:${callFrame.columnNumber}`
    const known = times.get(key) ?? { name, callFrame, us: 0 }
    known.us += timeDeltas[at]
    times.set(key, known)
  }
  return [...times.values()].map(({ name, callFrame, us }) => ({
    name,
    origin: originOf(callFrame),
    us,
  }))
}

const session = new Session()
session.connect()

const commands = {
  async start() {
    statements.clear()
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: 500 })
    await session.post('Profiler.start')
    return null
  },
  async stop() {
    const counted = [...statements]
    const { profile } = await session.post('Profiler.stop')
    return { statements: counted, functions: selfTimes(profile) }
  },
}

process.setSourceMapsEnabled(true)
countSqlite()
countPostgres()
process.on('message', async (command) => process.send?.(await commands[command]()))
process.channel?.unref()
