// The 'schedules' figures: what schedules cost while none is due, many that are due at once, and how soon a message of a messenger starts its run.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { z } from 'zod'
import { prepareSends, product, startProduct } from './contenders.ts'
import { type ProbedServer, startProgram } from './processes/start.ts'
import { median, percentile, type Row } from './row.ts'
import { stream } from './stream-client.ts'

const SCHEDULES = 10_000
const DUE_AT_ONCE = 500
/** Before the due time: by then all of them have been made. */
const LEAD_MS = 60_000
const REST_MS = 2 * 60_000
const SETTLE_MS = 10_000
/** Each has what schedules cost in a minute; the least has the least of all else, such as collecting garbage. */
const MINUTES_AT_REST = 4
/** Of `/proc/<pid>/stat`. */
const TICKS_PER_SECOND = 100
const WARM_UP_SENDS = 300
const MESSAGES = 40
/** How long a message waits for others that belong to it. */
const MERGE_MS = 1_500
const fewAtOnce = pLimit(16)

const row = (figure: string, value: number, unit: string, target: string, ok: boolean): Row => ({
  suite: 'schedules',
  figure,
  value,
  unit,
  target,
  ok,
})

const Occurrences = z.object({ items: z.array(z.object({ started_at: z.string().nullable() })) })
const Made = z.object({ id: z.string() })
const Runs = z.object({
  items: z.array(z.object({ conversation_title: z.string(), created_at: z.string() })),
})

/** Calls a route of the server, and checks what it answers. */
async function call<Output>(
  { port }: Pick<ProbedServer, 'port'>,
  schema: z.ZodType<Output>,
  method: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Output> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
  return z.object({ data: schema }).parse(await response.json()).data
}

const schedule = (server: ProbedServer, name: string, when: Record<string, unknown>) =>
  call(server, Made, 'POST', '/api/schedules', {
    body: { name, text: 'Go on.', when, conversation: 'new' },
  })

/** Milliseconds of CPU of all threads of a process, those that have ended included, in steps of ten. */
function processMs({ pid }: ProbedServer): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND
}

/** Milliseconds of CPU and statements a minute of a server that nobody uses. */
async function atRest(server: ProbedServer): Promise<{ cpuMs: number; statements: number }> {
  await sleep(SETTLE_MS)
  const minutes: number[] = []
  for (let minute = 0; minute < MINUTES_AT_REST; minute += 1) {
    const before = processMs(server)
    await sleep(60_000)
    minutes.push(processMs(server) - before)
  }
  const cpuMs = Math.min(...minutes)
  // Counting costs CPU time, so that it has a time of its own.
  const report = await server.probe(() => sleep(REST_MS))
  const ofSchedules = report.statements
    .filter(([text]) => /\bfrom "schedules"/.test(text))
    .reduce((sum, [, count]) => sum + count, 0)
  return { cpuMs, statements: (ofSchedules * 60_000) / REST_MS }
}

/** Median milliseconds to the first token of a person who sends one message after the other, until `isOver`. */
async function firstTokens(server: ProbedServer, isOver: () => boolean): Promise<number> {
  const times: number[] = []
  while (!isOver()) {
    const { firstTokenMs } = await stream(await product(server).target('single-1'))
    times.push(firstTokenMs)
    await sleep(100)
  }
  return median(times)
}

async function untilAllStarted(server: ProbedServer, ids: readonly string[]): Promise<number> {
  const starts = await Promise.all(
    ids.map((id) =>
      fewAtOnce(async () => {
        for (;;) {
          const path = `/api/schedules/${id}/occurrences`
          const { items } = await call(server, Occurrences, 'GET', path)
          const started = items[0]?.started_at
          if (started !== undefined && started !== null) return Date.parse(started)
          await sleep(1_000)
        }
      }),
    ),
  )
  return Math.max(...starts)
}

/** Many that are due at the same moment, and a person who goes on writing. */
async function burst(server: ProbedServer): Promise<Row[]> {
  const due = Date.now() + LEAD_MS
  const when = { at: new Date(due).toISOString() }
  const ids = await Promise.all(
    Array.from({ length: DUE_AT_ONCE }, (_, at) =>
      fewAtOnce(async () => (await schedule(server, `At once ${at}`, when)).id),
    ),
  )
  const calm = await firstTokens(server, () => Date.now() >= due - 1_000)
  const minute = firstTokens(server, () => Date.now() >= due + 60_000)
  await sleep(due + 60_000 - Date.now())
  const slowed = (await minute) / calm
  const seconds = ((await untilAllStarted(server, ids)) - due) / 1_000
  return [
    row(
      `${DUE_AT_ONCE} due at once: the last one starts after`,
      seconds,
      's',
      '≤ 60',
      seconds <= 60,
    ),
    row(
      `${DUE_AT_ONCE} due at once: first tokens of a person in that minute, p50`,
      slowed,
      '× before',
      '≤ 1.2',
      slowed <= 1.2,
    ),
  ]
}

/** From a message that a bridge hands over to its run. */
async function incoming(server: ProbedServer): Promise<Row[]> {
  const program = createServer((request, response) => {
    request.resume().on('end', () => response.end('{}'))
  })
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = program.address() as AddressInfo // never null or a path: the server listens on TCP
    const channel = await call(
      server,
      Made.extend({ token: z.string() }),
      'POST',
      '/api/channels',
      {
        body: {
          type: 'bridge',
          name: 'bench',
          settings: { url: `http://127.0.0.1:${port}` },
          receive: {},
        },
      },
    )
    const give = (id: string) =>
      call(server, z.unknown(), 'POST', `/api/channels/${channel.id}/incoming`, {
        body: { id, chat_id: id, sender: { id: 'ann' }, text: 'Go on.' },
        headers: { authorization: `Bearer ${channel.token}` },
      })
    await give('stranger')
    const senders = `/api/channels/${channel.id}/senders`
    const [sender] = (await call(server, z.object({ items: z.array(Made) }), 'GET', senders)).items
    await call(server, z.unknown(), 'PUT', `${senders}/${sender?.id}`, {
      body: { state: 'allowed' },
    })
    const times: number[] = []
    for (let at = 0; at < MESSAGES; at += 1) {
      const receivedAt = Date.now()
      await give(`message-${at}`)
      for (;;) {
        const { items } = await call(server, Runs, 'GET', '/api/runs?limit=1')
        const [newest] = items
        const startedAt = Date.parse(newest?.created_at ?? '')
        if (startedAt >= receivedAt) {
          times.push(startedAt - receivedAt - MERGE_MS)
          break
        }
        await sleep(50)
      }
    }
    const [p50, p95] = [median(times), percentile(times, 0.95)]
    const figure = 'message of a messenger until its run, beyond the 1.5 s in which others join it'
    return [
      row(`${figure}, p50`, p50, 'ms', '≤ 300', p50 <= 300),
      row(`${figure}, p95`, p95, 'ms', '≤ 300', p95 <= 300),
    ]
  } finally {
    program.closeAllConnections()
    program.close()
  }
}

/** Runs the suite on the built server. */
export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-bench-'))
  const upstream = await startProgram('upstream')
  const keys = {
    schedules: { max_per_user: 2 * SCHEDULES },
    network: { allow_private: ['127.0.0.1'] },
  }
  const server = await startProduct(folder, upstream.port, ['single-1'], keys, { withProbe: true })
  try {
    await (await prepareSends(product(server), WARM_UP_SENDS, 4))()
    const messages = await incoming(server)
    const many = await burst(server)
    const none = await atRest(server)
    const yearly = { cron: '17 3 1 1 *', tz: 'UTC' }
    await Promise.all(
      Array.from({ length: SCHEDULES }, (_, at) =>
        fewAtOnce(() => schedule(server, `Yearly ${at}`, yearly)),
      ),
    )
    const all = await atRest(server)
    const more = all.cpuMs - none.cpuMs
    return [
      row(
        '10,000 schedules, none due: CPU in a minute beyond that without any',
        more,
        'ms',
        '≤ 20',
        more <= 20,
      ),
      row(
        '10,000 schedules, none due: statements a minute',
        all.statements,
        '',
        '≤ 1',
        all.statements <= 1.5,
      ),
      ...many,
      ...messages,
    ]
  } finally {
    await Promise.all([server.stop(), upstream.stop()])
    await rm(folder, { recursive: true, force: true })
  }
}
