// Distinguishes a slow statement from a silent server: after a while, checks whether the server still responds to
// others.
import pg from 'pg'
import { isConnectionLost, postgresCode } from './errors.ts'

/** Passes on a statement's outcome; rejects when the server has fallen silent meanwhile. */
export type SilenceWatch = <T>(statement: Promise<T>) => Promise<T>

/**
 * @param config as for a client; the check uses a connection of its own, outside the pool. `silenceMs`: how long a
 * statement may take before the check, and again after each successful one.
 */
export function createSilenceWatch(
  config: pg.ClientConfig,
  { silenceMs, probeMs }: { silenceMs: number; probeMs: number },
): SilenceWatch {
  let asked: Promise<boolean> | undefined
  /** Concurrent waiters share one check. */
  const isAnswering = (): Promise<boolean> => {
    asked ??= probe(config, probeMs).finally(() => {
      asked = undefined
    })
    return asked
  }

  return (statement) =>
    new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      let isSettled = false
      const watch = (): void => {
        timer = setTimeout(async () => {
          if (await isAnswering()) {
            if (!isSettled) watch()
          } else reject(new Error('The server is silent.'))
        }, silenceMs)
      }
      watch()
      const settle = (): void => {
        isSettled = true
        clearTimeout(timer)
      }
      statement.then(resolve, reject).finally(settle)
    })
}

/** Whether the server responds to a new client in time; a refusal (too many connections) counts too. */
async function probe(config: pg.ClientConfig, limitMs: number): Promise<boolean> {
  const client = new pg.Client({
    ...config,
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs,
    application_name: 'nanoclaw probe',
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch (error) {
    const code = postgresCode(error)
    return code === '53300' || (/^[0-9A-Z]{5}$/.test(code) && !isConnectionLost(error))
  } finally {
    void client.end().catch(() => {})
  }
}
