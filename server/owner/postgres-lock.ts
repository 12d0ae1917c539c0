// The owner's lock of a PostgreSQL store: an advisory lock of a dedicated session, watched and reacquired when lost.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { PostgresSettings } from '../db/database.ts'
import { clientConfig } from '../db/postgres/connect.ts'
import { postgresUnusable } from '../db/postgres/errors.ts'
import type { OnLockChange, ProcessLock } from './process-lock.ts'

/** A pair of numbers that no other program locks in this database; migrations lock a single number. */
const LOCK = [0x6e616e6f, 0x6f776e] as const
const CONNECT_TIMEOUT_MS = 5_000
const RETRY_MS = 100
/**
 * This process gives up a silent connection after one heartbeat and its timeout, at most 10 s; the server drops a silent
 * session after at least 30 s (below). So this process always notices before another one can get the lock.
 */
const HEARTBEAT_MS = 5_000
const HEARTBEAT_TIMEOUT_MS = 5_000
const SERVER_KEEPALIVE =
  'set tcp_keepalives_idle = 15; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3'
/** Delay between attempts to regain a lost lock. */
const REGAIN_MS = { first: 20, longest: 1_000 }

/** `pid`: the backend process of this session; distinguishes a former session of this process from another process. */
interface Session {
  client: pg.Client
  pid: number
}

/**
 * Acquires the lock, or returns null when another process still holds it after `waitMs`.
 * @param mayResume called before a lost lock that was free counts as regained: false when another process has owned the
 * store in between.
 * @throws AppError when the server cannot be reached.
 */
export async function acquirePostgresLock(
  settings: PostgresSettings,
  options: {
    waitMs: number
    mayResume: () => Promise<boolean>
    onChange: OnLockChange
    /** Whether others may hold it, too, if they ask for the same. */
    isShared?: boolean
  },
): Promise<ProcessLock | null> {
  const first = await openSession(settings).catch((error: unknown) => {
    throw postgresUnusable(error)
  })
  const isShared = options.isShared ?? false
  if (!(await lockWithin(first.client, options.waitMs, isShared))) {
    await close(first.client)
    return null
  }
  let session: Session | null = first
  let released = false
  const { onChange } = options

  const watch = (watched: Session): void => {
    const heartbeat = setInterval(() => {
      watched.client
        .query({ text: 'select 1', query_timeout: HEARTBEAT_TIMEOUT_MS } as pg.QueryConfig)
        .catch(() => lose())
    }, HEARTBEAT_MS)
    heartbeat.unref()
    const lose = (): void => {
      clearInterval(heartbeat)
      watched.client.off('end', lose)
      if (session !== watched) return
      session = null
      void close(watched.client)
      if (released) return
      onChange('lost')
      void regain(watched.pid)
    }
    watched.client.on('end', lose)
  }

  async function regain(formerPid: number): Promise<void> {
    for (let delay = REGAIN_MS.first; !released; delay = Math.min(delay * 2, REGAIN_MS.longest)) {
      const outcome = await tryAgain(formerPid).catch(() => 'unreachable' as const)
      if (outcome === 'taken') onChange('taken')
      if (outcome !== 'unreachable') return
      await sleep(delay, undefined, { ref: false })
    }
  }

  async function tryAgain(formerPid: number): Promise<'regained' | 'taken' | 'unreachable'> {
    const next = await openSession(settings)
    try {
      if (!(await tryLock(next.client, isShared))) {
        // Our former session may still be ending on the server; any other holder has taken over the store.
        const holder = await holderOf(next.client)
        await close(next.client)
        return holder === null || holder === formerPid ? 'unreachable' : 'taken'
      }
      if (!(await options.mayResume())) {
        await close(next.client)
        return 'taken'
      }
    } catch (error) {
      await close(next.client)
      throw error
    }
    if (released) await close(next.client)
    else {
      session = next
      watch(next)
      onChange('regained')
    }
    return 'regained'
  }

  watch(first)
  return {
    async release() {
      released = true
      const open = session
      session = null
      if (open !== null) await close(open.client)
    },
  }
}

/** Whether a process holds the lock of this store. */
export async function isPostgresLocked(settings: PostgresSettings): Promise<boolean> {
  const { client } = await openSession(settings)
  try {
    return (await holderOf(client)) !== null
  } finally {
    await close(client)
  }
}

async function openSession(settings: PostgresSettings): Promise<Session> {
  const client = new pg.Client({
    ...clientConfig(settings),
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'nanoclaw owner',
  })
  // The watch handles lost connections; without a listener, the error would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(SERVER_KEEPALIVE)
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    return { client, pid: rows[0]?.pid ?? 0 }
  } catch (error) {
    await close(client)
    throw error
  }
}

async function tryLock(client: pg.Client, isShared: boolean): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    `select pg_try_advisory_lock${isShared ? '_shared' : ''}($1, $2) as locked`,
    [...LOCK],
  )
  return rows[0]?.locked === true
}

async function lockWithin(client: pg.Client, waitMs: number, isShared: boolean): Promise<boolean> {
  const deadline = performance.now() + waitMs
  while (!(await tryLock(client, isShared))) {
    if (performance.now() >= deadline) return false
    await sleep(RETRY_MS)
  }
  return true
}

/** The backend process of the session that holds the lock; null when none does. */
async function holderOf(client: pg.Client): Promise<number | null> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_locks
     where locktype = 'advisory' and granted and classid = $1 and objid = $2 and objsubid = 2
       and database = (select oid from pg_database where datname = current_database())`,
    [...LOCK],
  )
  return rows[0]?.pid ?? null
}

/** Closes a session, even if its server is silent. */
async function close(client: pg.Client): Promise<void> {
  const end = client.end().catch(() => {})
  const timeout = new AbortController()
  await Promise.race([end, sleep(1_000, undefined, { signal: timeout.signal, ref: false })]).catch(
    () => {},
  )
  timeout.abort()
}
