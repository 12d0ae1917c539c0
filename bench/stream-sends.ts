// The 'stream' figures that are counts: SQL statements and transactions of a send, and the memory of everything `npm start` runs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../tests/support/server/free-port.ts'
import { prepareSends, product, startProduct } from './contenders.ts'
import { onPostgres } from './postgres.ts'
import { type ProbedServer, startProgram } from './processes/start.ts'
import type { Row } from './row.ts'
import { stream } from './stream-client.ts'

const SENDS = 100
/** Sends in one conversation. */
const LATER_SENDS = 40
/** Memory used for startup is released within this time. */
const SETTLE_MS = 20_000

const row = (figure: string, value: number, unit: string, target: string, ok: boolean): Row => ({
  suite: 'stream',
  figure,
  value,
  unit,
  target,
  ok,
})

/** Statements and transactions of each of `count` sends. */
async function counted(server: ProbedServer, count: number, sends: () => Promise<unknown>) {
  const report = await server.probe(async () => void (await sends()))
  const sum = (matches: (text: string) => boolean): number =>
    report.statements.reduce((total, [text, ran]) => total + (matches(text) ? ran : 0), 0) / count
  return {
    statements: sum((text) => !/^(begin( immediate)?|commit)$/.test(text)),
    transactions: sum((text) => text === 'commit'),
  }
}

/** Counts one send at a time, so that no two share a transaction, after the same number for warm-up. */
async function statements(
  folder: string,
  { keys, prefix }: { keys: Record<string, unknown>; prefix: string },
): Promise<Row[]> {
  const upstream = await startProgram('upstream')
  const server = await startProduct(folder, upstream.port, ['single-1'], keys, { withProbe: true })
  const own = product(server)
  try {
    await (await prepareSends(own, SENDS, 1))()
    const first = await counted(server, SENDS, await prepareSends(own, SENDS, 1))
    const conversation = await own.target('single-1')
    await stream(conversation)
    const later = await counted(server, LATER_SENDS, async () => {
      for (let sent = 0; sent < LATER_SENDS; sent += 1) await stream(conversation)
    })
    const countRow = (name: string, value: number, limit: number): Row =>
      // Background work occasionally adds a few statements to a hundred sends.
      row(prefix + name, value, '', `≤ ${limit}`, value <= limit * 1.025)
    return [
      countRow('SQL statements, first send of a conversation', first.statements, 14),
      countRow('SQL statements, later send', later.statements, 14),
      countRow('transactions per send', first.transactions, 2),
    ]
  } finally {
    await Promise.all([server.stop(), upstream.stop()])
  }
}

/** The process and all its descendants. */
function treeOf(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean),
  )
  return [pid, ...children.flatMap((child) => treeOf(Number(child)))]
}

const residentMegabytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

/** Resident memory of all processes of an idle `npm start`. */
async function memory(folder: string): Promise<Row[]> {
  const config = join(folder, 'start.yml')
  await writeFile(
    config,
    JSON.stringify({
      data_dir: join(folder, 'start-data'),
      workspace_root: join(folder, 'start-workspaces'),
    }),
  )
  const child = spawn('npm', ['start'], {
    cwd: join(import.meta.dirname, '..'),
    env: { ...process.env, NANOCLAW_CONFIG: config, PORT: String(await freePort()) },
    stdio: ['ignore', 'pipe', 'ignore'],
    // A process group, so that all of it ends together.
    detached: true,
  })
  const { pid } = child
  if (pid === undefined) throw new Error('npm did not start.')
  const ended = once(child, 'exit')
  try {
    const lines = createInterface({ input: child.stdout })
    const ready = new Promise<void>((resolve) => {
      lines.on('line', (text) => {
        if (text.includes('ready')) resolve()
      })
    })
    await Promise.race([
      ready,
      ended.then(() =>
        Promise.reject(new Error('`npm start` exited before the server was ready.')),
      ),
    ])
    await sleep(SETTLE_MS)
    const processes = treeOf(pid)
    const total = processes.reduce((sum, one) => sum + residentMegabytes(one), 0)
    const name = `idle memory of all processes of npm start (${processes.length})`
    return [row(name, total, 'MB', '≤ 130', total <= 130)]
  } finally {
    process.kill(-pid, 'SIGTERM')
    await ended
  }
}

/** Runs the suite on the built server. */
export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-bench-'))
  try {
    const onPostgreSql = await onPostgres(async (newDatabase) =>
      statements(await mkdtemp(join(folder, 'postgres-')), {
        keys: { db_type: 'postgresql', database_url: await newDatabase() },
        prefix: 'PostgreSQL: ',
      }),
    )
    return [
      ...(await statements(folder, { keys: {}, prefix: '' })),
      ...onPostgreSql,
      ...(await memory(folder)),
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
