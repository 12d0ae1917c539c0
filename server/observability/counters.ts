// Prometheus counters of what happens outside of runs: failed sign-ins, messages of messengers, due times of schedules.
import { Counter, Histogram, type Registry } from 'prom-client'

/** Adds the counter of sign-ins that failed. Returns the function that counts one. */
export function addSignInMetrics(registry: Registry): () => void {
  const failed = new Counter({
    name: 'nanoclaw_failed_sign_ins_total',
    help: 'Sign-ins with a wrong password, code, passkey or answer of the identity provider.',
    registers: [registry],
  })
  return () => failed.inc()
}

/** Counts the messages of messengers. */
export function countMessages(
  registry: Registry,
): (seen: { type: string; direction: string; outcome: string }) => void {
  const messages = new Counter({
    name: 'nanoclaw_channel_messages_total',
    help: 'Messages of messengers, by what came of them.',
    labelNames: ['type', 'direction', 'outcome'],
    registers: [registry],
  })
  return (seen) => messages.inc(seen)
}

/** Counts what comes of occurrences. */
export function countOccurrences(
  registry: Registry,
): (seen: { kind: 'ended'; state: string } | { kind: 'delay'; seconds: number }) => void {
  const registers = [registry]
  const ends = new Counter({
    name: 'nanoclaw_schedule_occurrences_total',
    help: 'Due times of schedules, by what came of them.',
    labelNames: ['state'],
    registers,
  })
  const delay = new Histogram({
    name: 'nanoclaw_schedule_delay_seconds',
    help: 'Time from the due time of a schedule until it was begun.',
    buckets: [0.5, 1, 2, 5, 10, 30, 60, 300, 3_600],
    registers,
  })
  return (seen) => {
    if (seen.kind === 'ended') ends.inc({ state: seen.state })
    else delay.observe(seen.seconds)
  }
}
