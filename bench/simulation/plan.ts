// Sizing: simulates one instance with a growing number of users until it is too slow.
import { percentile } from '../row.ts'
import type { Figures } from './figures.ts'
import { createMachine } from './machine.ts'

/** An active user: one message a minute, answered by 500 tokens in ten seconds. */
const USER = { secondsBetween: 60, tokens: 500, answerSeconds: 10 }
/** Allowed time to start an answer, without the model, at the 95th percentile. */
const BEGIN_MS = 100
/** The time until the load is steady, which does not count. */
const SIMULATED_S = 100
const WARM_UP_S = 60
/** The part of a core that an instance may use; the rest is for bursts. */
const CORE_SHARE = 0.7
/** Reads of a stream per second: what 50 ms of text make one event. */
const BATCHES_PER_S = 20
/** The throughput per second of one PostgreSQL primary and one Redis at half load. */
const POSTGRES_CORES = 16
const REDIS_SHARE = 0.5
const POSTGRES_SHARE = 0.5

/** A generator of numbers between 0 and 1 with a fixed seed. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return (state + 1) / (2 ** 32 + 1)
  }
}

/** Whether an instance on its own core starts answers in time and has capacity left with this many users. */
function isEnough({ answer, steadyTokenUs }: Figures, users: number): boolean {
  const machine = createMachine(1)
  const instance = machine.thread()
  const random = createRandom(42)
  const times: number[] = []
  const until = SIMULATED_S * 1e6
  const exponential = (mean: number): number => -mean * Math.log(random())
  const batches = USER.answerSeconds * BATCHES_PER_S
  const batchUs = (steadyTokenUs * USER.tokens) / batches
  const live = (): void => {
    machine.after(exponential(USER.secondsBetween * 1e6), () => {
      const sentAt = machine.now
      instance.add(answer.instanceUs, () => {
        if (sentAt > WARM_UP_S * 1e6) times.push((machine.now - sentAt) / 1_000)
        const stream = (left: number): void => {
          if (left === 0) live()
          else
            machine.after(1e6 / BATCHES_PER_S, () => instance.add(batchUs, () => stream(left - 1)))
        }
        stream(batches)
      })
    })
  }
  for (let user = 0; user < users; user += 1) live()
  machine.run(until)
  return percentile(times, 0.95) <= BEGIN_MS && instance.used / until <= CORE_SHARE
}

let perInstance: number | undefined
/** The largest number of users that one instance can serve. */
function usersPerInstance(figures: Figures): number {
  if (perInstance !== undefined) return perInstance
  let [fits, fails] = [100, 5_000]
  while (fails - fits > 100) {
    const middle = Math.round((fits + fails) / 2)
    if (isEnough(figures, middle)) fits = middle
    else fails = middle
  }
  perInstance = fits
  return fits
}

/** One line for `docs/scaling.md`. */
export function plan(figures: Figures, users: number): string {
  const { answer, memory } = figures
  const each = usersPerInstance(figures)
  const answersPerSecond = users / (USER.secondsBetween + USER.answerSeconds)
  const streams = Math.round(answersPerSecond * USER.answerSeconds)
  // A third more, so that a lost machine or an upgrade does not slow anybody down.
  const instances = Math.max(2, Math.ceil((users / each) * 1.33))
  const statements =
    answersPerSecond * (answer.statements + USER.answerSeconds * answer.statementsPerSecond)
  const postgresCores =
    (statements * (answer.postgresUs / answer.statements)) / 1e6 / POSTGRES_SHARE
  const commands = streams * answer.redisCommandsPerSecond
  const shards = Math.ceil((commands * answer.redisUs) / 1e6 / REDIS_SHARE)
  const megabytes = memory.instance + (streams / instances) * memory.stream
  return [
    `${users.toLocaleString('en')} users at work (${Math.round(answersPerSecond).toLocaleString('en')} answers/s, ${streams.toLocaleString('en')} streams):`,
    `  ${instances} instances of one core and ${Math.round(megabytes)} MB (${each} users each at p95 ≤ ${BEGIN_MS} ms)`,
    `  PostgreSQL: ${Math.round(statements).toLocaleString('en')} statements/s, ${Math.ceil(postgresCores)} cores: ${Math.ceil(postgresCores / POSTGRES_CORES)} primaries of ${POSTGRES_CORES} cores`,
    `  Redis: ${Math.round(commands).toLocaleString('en')} commands/s, ${Math.max(1, shards)} shards`,
  ].join('\n')
}
