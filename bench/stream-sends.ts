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
import { startProgram } from './processes/start.ts'
import type { Row } from './row.ts'

const SENDS = 100
/** Memory for the start is given back within this time. */
const SETTLE_MS = 20_000

const row = (figure: string, value: number, unit: string, target: string, ok: boolean): Row => ({
  suite: 'stream',
  figure,
  value,
  unit,
  target,
  ok,
})

/** Counted one send at a time, so that no two of them share a transaction; as many before them warm up. */
async function statements(folder: string): Promise<Row[]> {
  const upstream = await startProgram('upstream')
  const server = await startProduct(folder, upstream.port, ['single-1'], {}, { withProbe: true })
  try {
    await (await prepareSends(product(server), SENDS, 1))()
    const sends = await prepareSends(product(server), SENDS, 1)
    const report = await server.probe(async () => void (await sends()))
    const sum = (matches: (text: string) => boolean): number =>
      report.statements.reduce((total, [text, count]) => total + (matches(text) ? count : 0), 0) /
      SENDS
    const transactions = sum((text) => text === 'commit')
    const others = sum((text) => !/^(begin immediate|commit)$/.test(text))
    return [
      row('SQL statements, first send of a conversation', others, '', '≤ 16', others <= 16.5),
      row('transactions of a send', transactions, '', '≤ 2', transactions <= 2.05),
    ]
  } finally {
    await Promise.all([server.stop(), upstream.stop()])
  }
}

/** The process and everything that it started. */
function treeOf(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean),
  )
  return [pid, ...children.flatMap((child) => treeOf(Number(child)))]
}

const residentMegabytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

/** Resident memory of `npm start` with all its processes, without work. */
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
    // A process group, which ends together.
    detached: true,
  })
  const { pid } = child
  if (pid === undefined) throw new Error('npm did not start')
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
      ended.then(() => Promise.reject(new Error('`npm start` ended before the server was ready'))),
    ])
    await sleep(SETTLE_MS)
    const processes = treeOf(pid)
    const total = processes.reduce((sum, one) => sum + residentMegabytes(one), 0)
    const name = `resident memory of all ${processes.length} processes of npm start, idle`
    return [row(name, total, 'MB', '≤ 150', total <= 150)]
  } finally {
    process.kill(-pid, 'SIGTERM')
    await ended
  }
}

/** Runs the suite on the built server. */
export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-bench-'))
  try {
    return [...(await statements(folder)), ...(await memory(folder))]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
