// `npm run bench -- profile [postgres]`: where the server's CPU time goes, by module and function, and its SQL statements.
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPostgres, onServer, withDatabase } from '../tests/support/store/postgres-server.ts'
import {
  type Contender,
  passThrough,
  prepareSends,
  product,
  startProduct,
  steadyCpu,
  warmUp,
} from './contenders.ts'
import { type ProbeReport, startProgram } from './processes/start.ts'
import { stream } from './stream-client.ts'

const SENDS = 400
/** V8 compiles the code of a send meanwhile. */
const WARM_UP_SENDS = 1_000
const AT_ONCE = 8
/** Turns of the long conversation. */
const TURNS = 300
const LONG_SENDS = 50
const STREAMS = 300
const PACED_TOKENS = 450
const models = ['single-1', 'single-2000', `paced-${PACED_TOKENS}`]

const TOP_FUNCTIONS = 25
const TOP_MODULES = 14

/** Sends messages sequentially in one conversation. */
async function converse(contender: Contender): Promise<(count: number) => Promise<void>> {
  const target = await contender.target('single-1')
  return async (count) => {
    for (let sent = 0; sent < count; sent += 1) await stream(target)
  }
}

/** The folder of our own code, or the package. */
const moduleOf = (origin: string): string =>
  /^server\/([^/]+)/.exec(origin)?.[0] ?? (origin.startsWith('node:') ? 'node' : origin)

const isIdle = (name: string): boolean => name === '(idle)' || name === '(program)'

function print(
  title: string,
  { statements, roundTrips, functions }: ProbeReport,
  sends: number,
): void {
  const busy = functions.filter(({ name }) => !isIdle(name))
  const total = busy.reduce((sum, { us }) => sum + us, 0)
  const line = (us: number, text: string): void =>
    console.log(`  ${((us / total) * 100).toFixed(1).padStart(5)} %  ${text}`)
  console.log(`\n${title}: ${(total / 1000 / sends).toFixed(2)} ms in JavaScript for each`)
  const modules = new Map<string, number>()
  for (const { name, origin, us } of busy) {
    const module = name === '(garbage collector)' ? 'garbage collection' : moduleOf(origin)
    modules.set(module, (modules.get(module) ?? 0) + us)
  }
  for (const [module, us] of [...modules].sort((a, b) => b[1] - a[1]).slice(0, TOP_MODULES))
    line(us, module)
  console.log('  functions:')
  for (const { name, origin, us } of busy.sort((a, b) => b.us - a.us).slice(0, TOP_FUNCTIONS))
    line(us, `${name}  ${origin}`)
  const all = statements.reduce((sum, [, count]) => sum + count, 0)
  const waits = roundTrips === 0 ? '' : `, ${(roundTrips / sends).toFixed(1)} round trips`
  console.log(`  SQL: ${(all / sends).toFixed(1)} statements for each${waits}`)
  for (const [text, count] of statements.sort((a, b) => b[1] - a[1]).slice(0, 40))
    console.log(`  ${(count / sends).toFixed(2).padStart(7)}  ${shown(text)}`)
}

const shown = (sql: string): string => {
  const short = sql.replaceAll(/\s+/g, ' ').replaceAll('"', '').trim()
  return short.length <= 150 ? short : `${short.slice(0, 60)} … ${short.slice(-85)}`
}

/** Creates a database on PostgreSQL for the time of the profile. */
async function createPostgres(): Promise<{
  keys: Record<string, unknown>
  remove(): Promise<void>
}> {
  const found = await findPostgres()
  const name = `nanoclaw_profile_${process.pid}`
  await onServer(found.url, `create database ${name}`)
  return {
    keys: { db_type: 'postgresql', database_url: withDatabase(found.url, name) },
    async remove() {
      await onServer(found.url, `drop database ${name} with (force)`)
      await found.stop()
    },
  }
}

/** Profiles single sends, sends in a long conversation, and many steady streams, and prints the results. */
export async function profile(parts: readonly string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-profile-'))
  const database = parts.includes('postgres')
    ? await createPostgres()
    : { keys: {}, remove: async () => {} }
  const wants = (part: string): boolean =>
    parts.every((one) => one === 'postgres') || parts.includes(part)
  const upstream = await startProgram('upstream')
  const rawProcess = await startProgram('raw-proxy', String(upstream.port))
  const server = await startProduct(folder, upstream.port, models, database.keys, {
    withProbe: true,
  })
  const own = product(server)
  try {
    console.log(`load average ${loadavg().map((load) => load.toFixed(1))}, Node ${process.version}`)
    if (wants('sends')) {
      await (await prepareSends(own, WARM_UP_SENDS, AT_ONCE))()
      const sends = await prepareSends(own, SENDS, AT_ONCE)
      const cpu = server.cpuSeconds()
      await sends()
      const each = ((server.cpuSeconds() - cpu) / SENDS) * 1000
      console.log(`the first send of a conversation: ${each.toFixed(2)} ms of CPU`)
      const probed = await prepareSends(own, SENDS, AT_ONCE)
      const report = await server.probe(async () => void (await probed()))
      print('the first send of a conversation', report, SENDS)
    }
    if (wants('long')) {
      const send = await converse(own)
      await send(TURNS)
      const cpu = server.cpuSeconds()
      const report = await server.probe(() => send(LONG_SENDS))
      const each = ((server.cpuSeconds() - cpu) / LONG_SENDS) * 1000
      console.log(`\na send after ${TURNS} turns: ${each.toFixed(2)} ms of CPU`)
      print(`a send after ${TURNS} turns`, report, LONG_SENDS)
    }
    if (wants('streams')) {
      const proxy = passThrough(rawProcess)
      for (const one of [proxy, own]) await warmUp(one)
      const raw = await steadyCpu(proxy, PACED_TOKENS, STREAMS)
      const plain = await steadyCpu(own, PACED_TOKENS, STREAMS)
      console.log(
        `\n${STREAMS} streams of 30 tokens/s: ${plain.toFixed(1)} µs of CPU for each token, ` +
          `raw ${raw.toFixed(1)}: ${(plain / raw).toFixed(2)} × raw`,
      )
      const report = await server.probe(
        async () => void (await steadyCpu(own, PACED_TOKENS, STREAMS)),
      )
      print('1,000 tokens of steady streams', report, (STREAMS * PACED_TOKENS) / 1000)
    }
  } finally {
    await Promise.all([server.stop(), rawProcess.stop(), upstream.stop()])
    await database.remove()
    await rm(folder, { recursive: true, force: true })
  }
}
