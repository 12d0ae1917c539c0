// Distinguishes a slow statement from a silent server: probes over a second connection whether the server responds.
import pg from 'pg'
import { isConnectionLost, postgresCode } from './errors.ts'

/** Settles as the statement does, or rejects when the server stops responding before that. */
export type SilenceWatch = <T>(statement: Promise<T>) => Promise<T>

/**
 * @param config as for a client; a probe uses its own connection, outside the pool.
 * @param timing `silenceMs`: how long a statement may take before each probe; `probeMs`: how long a probe may take.
 */
export function createSilenceWatch(
  config: pg.ClientConfig,
  { silenceMs, probeMs }: { silenceMs: number; probeMs: number },
): SilenceWatch {
  let pendingProbe: Promise<boolean> | undefined
  /** Concurrent statements share one probe. */
  const isResponding = (): Promise<boolean> => {
    pendingProbe ??= probe(config, probeMs).finally(() => {
      pendingProbe = undefined
    })
    return pendingProbe
  }

  return (statement) =>
    new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      let isSettled = false
      const watch = (): void => {
        timer = setTimeout(async () => {
          if (await isResponding()) {
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
