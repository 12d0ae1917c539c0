// Several instances on one machine behind one port: one process per core, and a new one for each that dies.
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { relayMetrics } from './worker-metrics.ts'

/** Pauses before a process is replaced; they grow while processes die soon after their start. */
const RESTART_MS = { first: 500, longest: 30_000 }
const HEALTHY_AFTER_MS = 60_000

/** Whether this process only starts and replaces the others. */
export const { isPrimary } = cluster

/**
 * Reads `--workers auto` or `--workers 4`.
 * @returns null when the option is absent, 'invalid' when its value is neither `auto` nor a positive number.
 */
export function workersAskedFor(values: readonly string[]): number | null | 'invalid' {
  const [option, value, ...rest] = values
  if (option !== '--workers') return null
  if (rest.length > 0) return 'invalid'
  if (value === 'auto') return availableParallelism()
  return /^[1-9]\d{0,2}$/.test(value ?? '') ? Number(value) : 'invalid'
}

/**
 * Starts the processes and replaces those that die. `SIGUSR2` replaces all of them by processes of the program as it is on disk
 * then, one after the other. Resolves with the exit code when a signal has ended all of them.
 */
export function runWorkers(count: number, say: (line: string) => void): Promise<number> {
  return new Promise((resolve) => {
    let isEnding = false
    let isReplacing = false
    let delay = RESTART_MS.first
    const startedAt = new Map<number, number>()
    /** Those that are not replaced when they end: they take the place of others, or others have taken theirs. */
    const extra = new Set<Worker>()
    /** Those that were told to end because others have taken their places. */
    const leaving = new Set<Worker>()
    const fork = (): Worker => {
      const worker = cluster.fork()
      startedAt.set(worker.id, performance.now())
      return worker
    }
    const start = (): void => {
      if (!isEnding) fork()
    }
    const alive = (): Worker[] => Object.values(cluster.workers ?? {}).flatMap((one) => one ?? [])
    relayMetrics(alive)
    cluster.on('exit', (worker, code, signal) => {
      const lived = performance.now() - (startedAt.get(worker.id) ?? 0)
      startedAt.delete(worker.id)
      if (isEnding) {
        if (alive().length === 0) resolve(0)
        return
      }
      leaving.delete(worker)
      if (extra.delete(worker)) return
      delay = lived > HEALTHY_AFTER_MS ? RESTART_MS.first : Math.min(delay * 2, RESTART_MS.longest)
      say(`Instance ${worker.process.pid} ended (${signal ?? code}); another one starts.`)
      setTimeout(start, delay)
    })
    /** Whether another process serves in the place of this one, which has ended. */
    const replace = async (old: Worker): Promise<boolean> => {
      const next = fork()
      extra.add(next)
      const isServing = await Promise.race([
        once(next, 'listening').then(() => true),
        once(next, 'exit').then(() => false),
      ])
      // Whatever ended meanwhile, the new process is one of those that are replaced when they end.
      if (!isServing || isEnding || old.isDead()) return isServing
      extra.delete(next)
      extra.add(old)
      leaving.add(old)
      const ended = once(old, 'exit')
      old.process.kill('SIGTERM')
      await ended
      return true
    }
    process.on('SIGUSR2', async () => {
      if (isReplacing || isEnding) return
      isReplacing = true
      const replaced = alive()
      for (const worker of replaced)
        if (!isEnding && !worker.isDead() && !(await replace(worker))) {
          if (!isEnding)
            say('A new instance ended before it was ready: the others are not replaced.')
          break
        }
      isReplacing = false
    })
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
      process.on(signal, () => {
        // One that is ending anyway would take a second signal as the wish to end at once.
        const told = alive().filter((worker) => isEnding || !leaving.has(worker))
        isEnding = true
        if (alive().length === 0) resolve(0)
        for (const worker of told) worker.process.kill(signal)
      })
    for (let index = 0; index < count; index += 1) start()
  })
}
