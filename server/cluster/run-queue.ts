// The queue of runs in Redis. It only announces that a run waits; the run's row decides whether and where it is performed.
import { Queue, Worker } from 'bullmq'
import type { RunId } from '../protocol/ids.ts'
import { COMMAND_MS, type RedisConnections, within } from './redis.ts'

const NAME = 'runs'
/** Runs that one instance takes at the same moment. This does not limit how many it performs. */
const TAKEN_AT_ONCE = 16

/** The queue of stored runs that any instance may perform. */
export interface RunQueue {
  /** Resolves to false if the queue does not respond in time. The run may be queued nevertheless. */
  add(id: RunId): Promise<boolean>
  /** Runs that no instance has taken yet; NaN if Redis does not respond. */
  waiting(): Promise<number>
  /** Takes no more runs. */
  stopTaking(): Promise<void>
  close(): Promise<void>
}

/** @param take performs the run unless another instance does; never rejects. */
export function createRunQueue({
  redis,
  namespace,
  onRun,
}: {
  redis: RedisConnections
  namespace: string
  onRun(id: RunId): Promise<void>
}): RunQueue {
  const prefix = `${namespace}:queue`
  // The worker waits for jobs as long as necessary, even for Redis.
  const waiting = redis.connect({ waits: true })
  const adding = redis.connect()
  const worker = new Worker(
    NAME,
    async ({ data }: { data: { run: RunId } }) => {
      await onRun(data.run)
    },
    {
      connection: waiting,
      prefix,
      concurrency: TAKEN_AT_ONCE,
      // The run's row decides how often the run is attempted.
      maxStalledCount: 1_000,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    },
  )
  // Reported by `redis` already; without listeners they would end the process.
  const ignore = (): void => {}
  for (const connection of [waiting, adding]) connection.on('error', ignore)
  worker.on('error', ignore)

  let queue: Queue | null = null
  /** Only while the connection works: a queue whose first command fails would refuse everything afterwards. */
  const open = (): Queue => {
    const opened = new Queue(NAME, { connection: adding, prefix })
    opened.on('error', ignore)
    return opened
  }

  return {
    async add(run) {
      if (!redis.isReady || adding.status !== 'ready') return false
      queue ??= open()
      const used = queue
      try {
        const options = { jobId: run, removeOnComplete: true, removeOnFail: true }
        await within(COMMAND_MS, used.add('run', { run }, options))
        return true
      } catch {
        // The next run gets a new one.
        if (queue === used) queue = null
        used.close().catch(ignore)
        return false
      }
    },
    async waiting() {
      if (!redis.isReady || adding.status !== 'ready') return Number.NaN
      queue ??= open()
      return await within(COMMAND_MS, queue.getWaitingCount()).catch(() => Number.NaN)
    },
    async stopTaking() {
      await within(COMMAND_MS, worker.close(true)).catch(() => undefined)
    },
    async close() {
      if (queue !== null) await within(COMMAND_MS, queue.close()).catch(() => undefined)
      waiting.disconnect()
      adding.disconnect()
    },
  }
}
