// Preloaded into a server under test: counts SQL statements, profiles CPU time and measures the heap when the benchmark requests it.
import { Session } from 'node:inspector/promises'
import { createRequire, findSourceMap } from 'node:module'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)

/** How often each statement ran since the last `start`, by its text. */
const statements = new Map()
const count = (text) => statements.set(text, (statements.get(text) ?? 0) + 1)

/** Counts the statements of better-sqlite3, which all share one prototype. */
function countSqlite() {
  // The same choice as in server/lib/sqlite-driver.ts.
  const Database = require(
    Number(process.versions.napi) >= 10 ? 'better-sqlite3' : 'better-sqlite3-12',
  )
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

const STARTUP_VERSION = 196_608
const [QUERY, BIND, SYNC, READY] = [0x51, 0x42, 0x53, 0x5a]
/** Messages to PostgreSQL that were sent while no earlier one was unanswered: round trips. */
let roundTrips = 0

/** Calls `visit` with the type of each message in the pieces of a stream, as PostgreSQL frames them. */
function messagesOf(visit) {
  let rest = Buffer.alloc(0)
  return (piece) => {
    rest = Buffer.concat([rest, piece])
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      visit(rest[0])
      rest = rest.subarray(1 + rest.readInt32BE(1))
    }
  }
}

/** Follows a connection: each `query` and each `sync` is answered with one `ready`. */
function watchRoundTrips(socket) {
  // The response to the start of the connection.
  let unanswered = 1
  const received = messagesOf((type) => {
    if (type === READY) unanswered -= 1
  })
  socket.on('data', received)
  return messagesOf((type) => {
    if (type !== QUERY && type !== SYNC) return
    if (unanswered === 0) roundTrips += 1
    unanswered += 1
  })
}

/**
 * Counts messages to PostgreSQL by the names of prepared statements. The driver is part of the server's bundle, so its
 * messages are read from the socket: https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
function countPostgres() {
  const sockets = new WeakMap()
  const original = Socket.prototype.write
  Socket.prototype.write = function (message, ...rest) {
    if (Buffer.isBuffer(message)) {
      const sent = sockets.get(this)
      sent?.(message)
      const isLong = message.length > 8
      if (isLong && message.readInt32BE(4) === STARTUP_VERSION)
        sockets.set(this, watchRoundTrips(this))
      else if (isLong && sent !== undefined) {
        const text = message.toString('utf8', 5)
        if (message[0] === QUERY) count(text.replace('\0', ''))
        // The name of a portal, which is empty, then the name of the statement.
        if (message[0] === BIND) count(text.split('\0')[1] || '(built for the call)')
      }
    }
    return original.call(this, message, ...rest)
  }
}

/** The origin of a function: `server/runs/recorder.ts`, a package, or the name that Node and V8 use. */
function originOf({ url, lineNumber, columnNumber }) {
  if (url === '') return '(native)'
  if (url.startsWith('node:')) return url
  const path = url.startsWith('file:') ? fileURLToPath(url) : url
  const source = findSourceMap(path)?.findEntry(lineNumber, columnNumber)?.originalSource ?? path
  const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(source)
  if (inPackage !== null) return inPackage[1]
  return source.replace(/^.*?(?=\/server\/)\//, '').split('?')[0]
}

/** Self time of each function, in microseconds. */
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
    roundTrips = 0
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: 500 })
    await session.post('Profiler.start')
    return null
  },
  async stop() {
    const counted = { statements: [...statements], roundTrips }
    const { profile } = await session.post('Profiler.stop')
    return { ...counted, functions: selfTimes(profile) }
  },
  /** Bytes on V8's heap that are still in use. */
  async heap() {
    await session.post('HeapProfiler.collectGarbage')
    return process.memoryUsage().heapUsed
  },
}

process.setSourceMapsEnabled(true)
countSqlite()
countPostgres()
process.on('message', async (command) => process.send?.(await commands[command]()))
process.channel?.unref()
