// The events of runs in Redis: one bounded, expiring stream per run, which every instance can read.

import { z } from 'zod'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { Store } from '../db/store.ts'
import { RunId } from '../protocol/ids.ts'
import type { RunLog } from '../runs/log/log.ts'
import { createMirror, type Mirror } from '../runs/shared/mirror.ts'
import { publishLog } from '../runs/shared/publish.ts'
import { WireBatch } from '../runs/shared/wire.ts'
import type { Bus } from './bus.ts'
import { COMMAND_MS, type RedisConnections, within } from './redis.ts'

/** Messages that the stream of a run keeps; older events are read from the store. */
const MAX_MESSAGES = 1_000
/** Runs whose listeners one message reports: well below the size that the bus sends. */
const REPORTED_AT_ONCE = 500
/** How long a stream remains after its last message. */
const EXPIRE_MS = { running: 15 * 60_000, ended: 60_000 }
const READ_COUNT = 200
/** While Redis is unreachable or has a gap, a followed run is read from the store at this interval. */
const STORE_EVERY_MS = 500
/** Otherwise, its row is read at this interval, in case a message was lost. */
const CHECK_EVERY_MS = 5_000
/** A log without listeners is dropped after this time. */
const IDLE_MS = 15_000
/** Listeners of an instance that has not reported for this long count as gone. */
const REPORT_MS = { every: 5_000, expires: 20_000 }

const Listeners = z.array(
  z.object({
    run: RunId,
    count: z.int().min(0),
    /** Pages of people among them; an earlier version does not tell them apart. */
    pages: z.int().min(0).optional(),
  }),
)

interface Followed {
  mirror: Mirror
  run: RunRow
  /** The last message of the stream that was read. */
  lastMessage: string
  isReading: boolean
  isReadAgain: boolean
  hasGap: boolean
  listeners: number
  pages: number
  idleSince: number
  checkedAt: number
  end(): void
}

/**
 * `publish` returns a function that ends it. `follow` resolves to the log of a run that another
 * instance performs.
 */
export interface RunStreams {
  publish(run: RunRow, runLog: RunLog, options: { isNew: boolean }): () => void
  follow(run: RunRow): Promise<RunLog>
  /** Number of runs of other instances that this instance follows. */
  readonly count: number
  close(): void
}

/** The dependencies of `createRunStreams`. */
interface RunStreamsOptions {
  redis: RedisConnections
  bus: Bus
  namespace: string
  store: Pick<Store, 'runs' | 'steps' | 'runInputs'>
  log: { warn(details: object, message: string): void }
  /** The number of listeners on all other instances has changed. */
  onListeners(id: RunId, count: number, pages: number): void
}

/** The options, and what is known of runs and their listeners. */
interface Streams extends RunStreamsOptions {
  /** Runs of other instances. */
  followed: Map<RunId, Followed>
  /** Listeners of the runs of this instance, by run and by the instance that reported them. */
  remote: Map<RunId, Map<string, { count: number; pages: number; at: number }>>
  /** When this instance has last reported its listeners. */
  reportedAt: number
}

/** Redis only makes following fast. What is missing there is read from the store. */
export function createRunStreams(options: RunStreamsOptions): RunStreams {
  const { redis, bus } = options
  const streams: Streams = { ...options, followed: new Map(), remote: new Map(), reportedAt: 0 }
  const { followed } = streams
  bus.on('listeners', (data, from) => {
    for (const report of Listeners.parse(data)) receiveReport(streams, from, report)
  })
  const timer = setInterval(() => tick(streams), STORE_EVERY_MS).unref()
  redis.onChange((isReady) => {
    if (isReady) for (const one of followed.values()) void read(streams, one)
  })

  return {
    publish: (run, runLog, publishing) =>
      publishLog(runLog, run.attempt, (batch) => send(streams, run.id, batch), publishing),
    async follow(run) {
      const known = followed.get(run.id)
      if (known !== undefined && known.mirror.runLog.terminal === null) return known.mirror.runLog
      const one = add(streams, run)
      const { runLog } = one.mirror
      // A run that nobody has begun yet has nothing to read.
      if (run.status === 'queued') one.mirror.catchUp({ run, rows: [], approvals: [], inputs: [] })
      else await catchUp(streams, one)
      await read(streams, one)
      return runLog
    },
    get count() {
      return followed.size
    },
    close() {
      clearInterval(timer)
      for (const one of [...followed.values()]) forget(streams, one, true)
    },
  }
}

const keyOf = ({ namespace }: Streams, id: RunId): string => `${namespace}:run:${id}`

const channelOf = ({ namespace }: Streams, id: RunId): string => `${namespace}:wake:${id}`

async function send(streams: Streams, id: RunId, batch: WireBatch): Promise<boolean> {
  const { redis } = streams
  if (!redis.isReady) return false
  const isEnd = batch.entries.some(
    (entry) =>
      entry.kind === 'event' && (entry.event.event === 'done' || entry.event.event === 'error'),
  )
  try {
    const results = await within(
      COMMAND_MS,
      redis.commands
        .pipeline()
        .xadd(keyOf(streams, id), 'MAXLEN', '~', MAX_MESSAGES, '*', 'batch', JSON.stringify(batch))
        .pexpire(keyOf(streams, id), isEnd ? EXPIRE_MS.ended : EXPIRE_MS.running)
        .publish(channelOf(streams, id), '')
        .exec(),
    )
    return results?.[0]?.[0] === null
  } catch {
    return false
  }
}

/** Reads the store: everything that was not received, the end, and what a person is asked for. */
async function catchUp(streams: Streams, one: Followed): Promise<void> {
  const { store } = streams
  one.checkedAt = performance.now()
  const { id } = one.run
  const run = await store.runs.find(id)
  if (run === undefined) return forget(streams, one, true)
  const [rows, approvals, inputs] = await Promise.all([
    store.steps.list(run.messageId),
    store.runs.pendingApprovals([id]),
    store.runInputs.pending([id]),
  ])
  one.run = run
  one.mirror.catchUp({
    run,
    rows,
    approvals: approvals.get(id) ?? [],
    inputs: inputs.get(id) ?? [],
  })
}

/** Reads what the stream has. A message that does not fit waits until the missing entries are read from the store. */
async function readStream(streams: Streams, one: Followed): Promise<void> {
  const { redis } = streams
  for (;;) {
    const messages = await within(
      COMMAND_MS,
      redis.commands.xrange(
        keyOf(streams, one.run.id),
        `(${one.lastMessage}`,
        '+',
        'COUNT',
        READ_COUNT,
      ),
    )
    for (const [messageId, fields] of messages) {
      const batch = WireBatch.parse(JSON.parse(fields[1] ?? ''))
      if (!one.mirror.receive(batch)) {
        await catchUp(streams, one)
        if (!one.mirror.receive(batch)) {
          one.hasGap = true
          return
        }
      }
      one.hasGap = false
      one.lastMessage = messageId
    }
    if (messages.length < READ_COUNT) return
  }
}

/** One read at a time for each run. */
async function read(streams: Streams, one: Followed): Promise<void> {
  const { redis, log } = streams
  if (one.isReading) {
    one.isReadAgain = true
    return
  }
  one.isReading = true
  try {
    do {
      one.isReadAgain = false
      if (redis.isReady) await readStream(streams, one).catch(() => catchUp(streams, one))
      else await catchUp(streams, one)
    } while (one.isReadAgain)
  } catch (error) {
    log.warn({ err: error, run_id: one.run.id }, 'a run of another instance could not be read')
  } finally {
    one.isReading = false
  }
  if (one.mirror.runLog.terminal !== null) forget(streams, one, false)
}

function forget({ followed }: Streams, one: Followed, isClosing: boolean): void {
  if (followed.get(one.run.id) === one) followed.delete(one.run.id)
  one.end()
  if (isClosing) one.mirror.runLog.close()
}

function add(streams: Streams, run: RunRow): Followed {
  const { bus, followed } = streams
  const mirror = createMirror(run.id)
  const one: Followed = {
    mirror,
    run,
    lastMessage: '0',
    isReading: false,
    isReadAgain: false,
    hasGap: false,
    listeners: 0,
    pages: 0,
    idleSince: performance.now(),
    checkedAt: performance.now(),
    end: bus.watch(channelOf(streams, run.id), () => void read(streams, one)),
  }
  mirror.runLog.onListenersChange((count) => {
    one.listeners = count
    one.pages = mirror.runLog.pageCount
    one.idleSince = performance.now()
    bus.send('listeners', [{ run: run.id, count, pages: one.pages }])
  })
  followed.set(run.id, one)
  return one
}

/** What another instance reported of the listeners of a run of this one. */
function receiveReport(
  { remote, onListeners }: Streams,
  from: string,
  { run: id, count, pages = count }: z.output<typeof Listeners>[number],
): void {
  const ofRun = remote.get(id) ?? new Map()
  if (count > 0) remote.set(id, ofRun.set(from, { count, pages, at: performance.now() }))
  else ofRun.delete(from)
  if (ofRun.size === 0) remote.delete(id)
  onListeners(id, ...sumOf(ofRun))
}

const sumOf = (
  reports: ReadonlyMap<string, { count: number; pages: number }>,
): [count: number, pages: number] => {
  const all = [...reports.values()]
  return [
    all.reduce((sum, { count }) => sum + count, 0),
    all.reduce((sum, { pages }) => sum + pages, 0),
  ]
}

function expireReports(streams: Streams): void {
  const { redis, remote, onListeners } = streams
  // While Redis is unreachable, no instance can report.
  if (!redis.isReady) {
    for (const ofRun of remote.values())
      for (const report of ofRun.values()) report.at = performance.now()
    return
  }
  for (const [id, ofRun] of remote) {
    for (const [from, { at }] of ofRun)
      if (performance.now() - at > REPORT_MS.expires) ofRun.delete(from)
    if (ofRun.size === 0) remote.delete(id)
    onListeners(id, ...sumOf(ofRun))
  }
}

/** Drops logs that nobody reads, reads others from the store where Redis is silent, and reports listeners. */
function tick(streams: Streams): void {
  const { followed, redis, bus, log } = streams
  const now = performance.now()
  for (const one of [...followed.values()]) {
    if (one.listeners === 0 && now - one.idleSince > IDLE_MS) forget(streams, one, false)
    else if (!redis.isReady || one.hasGap || now - one.checkedAt > CHECK_EVERY_MS) {
      one.checkedAt = now
      void catchUp(streams, one)
        .then(() => read(streams, one))
        .catch((error: unknown) =>
          log.warn({ err: error, run_id: one.run.id }, 'a run could not be read from the store'),
        )
    }
  }
  if (now - streams.reportedAt < REPORT_MS.every) return
  streams.reportedAt = now
  expireReports(streams)
  const counts = [...followed.values()].flatMap(({ run, listeners, pages }) =>
    listeners === 0 ? [] : [{ run: run.id, count: listeners, pages }],
  )
  for (let from = 0; from < counts.length; from += REPORTED_AT_ONCE)
    bus.send('listeners', counts.slice(from, from + REPORTED_AT_ONCE))
}
