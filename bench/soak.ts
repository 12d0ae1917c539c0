// `npm run soak [-- --minutes 10 --chats 300]`: many chats for minutes, with faults; checks for growth and data loss.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '../tests/support/server/free-port.ts'
import { type Measured, startNanoClaw, startProgram } from './processes/start.ts'
import { beginResult } from './results.ts'
import type { Row } from './row.ts'
import { createSoakChat, type SoakChat } from './soak/chat.ts'
import { type Sample, sampleOf, slopePerMinute } from './soak/samples.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    chats: { type: 'string', default: '300' },
  },
})
const minutes = Number(values.minutes)
const chats = Number(values.chats)
const MODELS = ['tool-60', 'paced-90', 'single-400']

/** Shares of the time. Faults come first, because a restarted process starts with fresh memory. */
const KILL_AT = 0.1
const UPSTREAM_AT = 0.2
const TERM_AT = 0.3
/** Slopes are measured from here on, when caches are full and the restarted server is warm. */
const WARM_AT = 0.5
const SAMPLE_MS = 2_000
/** Time for the last answers after the end, and then for resources that close a little later. */
const QUIET_MS = 60_000
const REST_MS = 10_000
/** Timers that may be left then. During chats, their number depends on the load of the machine. */
const TIMERS_AT_REST = 10
/** A shorter soak prints its slopes without judging them: memory is still filling caches. */
const JUDGED_MINUTES = 8
/** Allowed growth per minute after warm-up: this much, or this share of the mean. Less than that is noise. */
const ALLOWED_SHARE = 0.02
const ALLOWED: Record<keyof Sample, number> = {
  'memory MB': 3,
  handles: 1,
  sockets: 1,
  processes: 0.2,
  // Judged when idle.
  timers: Number.POSITIVE_INFINITY,
}

const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-soak-'))
let upstream = await startProgram('upstream')
const port = await freePort()
const configFile = join(folder, 'config.yml')
await writeFile(
  configFile,
  JSON.stringify({
    data_dir: join(folder, 'data'),
    workspace_root: join(folder, 'workspaces'),
    log_level: 'error',
    titles: 'first_message',
    limits: { runs_per_user: 100_000, streams_per_user: 100_000, connections_per_address: 100_000 },
    models: MODELS.map((id) => ({
      id,
      api_url: `http://127.0.0.1:${upstream.port}/v1`,
      api_key: 'none',
    })),
  }),
)
let server: Measured = await startNanoClaw(configFile, port, folder)
const url = `http://127.0.0.1:${port}`
const state = { isOver: false }
const result = beginResult('soak')

console.log(
  `${chats} chats for ${minutes} minutes; load ${loadavg().map((load) => load.toFixed(1))}`,
)
const people: SoakChat[] = []
for (let at = 0; at < chats; at += 1)
  people.push(createSoakChat(url, MODELS[at % MODELS.length] ?? 'paced-90', at, state))
const working = people.map((person) => person.work())

const startedAt = performance.now()
const totalMs = minutes * 60_000
const passed = (): number => (performance.now() - startedAt) / totalMs
const until = (share: number) =>
  sleep(Math.max(0, share * totalMs - (performance.now() - startedAt)))

await until(KILL_AT)
console.log('Killing the server (SIGKILL) and restarting it.')
await server.stop()
server = await startNanoClaw(configFile, port, folder)
await until(UPSTREAM_AT)
console.log('Restarting the model server.')
const upstreamPort = upstream.port
await upstream.stop()
await sleep(1_000)
upstream = await startProgram('upstream', String(upstreamPort))
await until(TERM_AT)
console.log('Restarting the server (SIGTERM).')
await server.terminate()
server = await startNanoClaw(configFile, port, folder)
await until(WARM_AT)

const samples: { atMinutes: number; sample: Sample }[] = []
while (passed() < 1) {
  samples.push({ atMinutes: passed() * minutes, sample: await sampleOf(server, url) })
  await sleep(SAMPLE_MS)
}
state.isOver = true
await Promise.race([Promise.all(working), sleep(QUIET_MS)])
await sleep(REST_MS)
const rest = await sampleOf(server, url)

const rows: Row[] = []
const report = (figure: string, value: number, unit: string, target: string, ok = true): void =>
  void rows.push({ suite: 'soak', figure, value, unit, target, ok })
report('minutes', minutes, '', '≥ 10', minutes >= 10)
report('chats at once', chats, '', '≥ 300', chats >= 300)
const failures: string[] = []
for (const name of ['memory MB', 'handles', 'sockets', 'processes', 'timers'] as const) {
  const points = samples.map(({ atMinutes, sample }) => [atMinutes, sample[name]] as const)
  const slope = slopePerMinute(points)
  const last = points.at(-1)?.[1] ?? 0
  const mean = points.reduce((total, [, value]) => total + value, 0) / points.length
  const isGrowing =
    minutes >= JUDGED_MINUTES && slope > Math.max(ALLOWED[name], mean * ALLOWED_SHARE)
  console.log(
    `${isGrowing ? 'GROWS' : 'ok   '}  ${name.padEnd(10)} ${slope.toFixed(2).padStart(8)} per minute, ${last.toFixed(0)} at the end`,
  )
  if (isGrowing) failures.push(name)
  if (name !== 'timers')
    report(`${name}, growth (to ${last.toFixed(0)})`, slope, 'per minute', '', !isGrowing)
}
console.log(
  `At rest: ${Object.entries(rest)
    .map(([name, value]) => `${name} ${value.toFixed(0)}`)
    .join(', ')}`,
)
report('idle timers', rest.timers, '', `≤ ${TIMERS_AT_REST}`, rest.timers <= TIMERS_AT_REST)
if (rest.timers > TIMERS_AT_REST) failures.push(`${rest.timers} timers are left`)
const audits = await Promise.all(people.map((person) => person.audit()))
const sum = (count: (audit: (typeof audits)[number]) => number): number =>
  audits.reduce((total, audit) => total + count(audit), 0)
console.log(
  `${sum(({ sent }) => sent)} messages accepted; ${sum(({ completed }) => completed)} answers complete, ` +
    `${sum(({ failed }) => failed)} failed or stopped with an error`,
)
console.log(
  `${sum(({ left }) => left)} clients disconnected, ${sum(({ slow }) => slow)} read slowly, ` +
    `${sum(({ refused }) => refused)} requests refused during restarts`,
)
report(
  `messages accepted (${sum(({ failed }) => failed)} answers failed or were stopped during restarts)`,
  sum(({ sent }) => sent),
  '',
  '',
)
for (const [text, count] of [
  ['accepted messages missing', sum(({ missing }) => missing)],
  ['answers that differ from what the model sent', sum(({ wrong }) => wrong)],
  ['answers that never ended', sum(({ open }) => open)],
] as const) {
  report(text, count, '', '0', count === 0)
  if (count > 0) failures.push(`${count} ${text}`)
}
result.store(rows, failures)
console.log(
  failures.length === 0
    ? 'OK: nothing was lost and nothing grows.'
    : `FAILED: ${failures.join('; ')}`,
)
await Promise.all([server.stop(), upstream.stop()])
await rm(folder, { recursive: true, force: true })
process.exit(failures.length === 0 ? 0 : 1)
