// The 'page' figures (`npm run bench:web`): what the browser downloads, how a long conversation opens, and how the page
// moves while an answer streams in. Needs Chromium and the built server and page (`npm run build`).
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import { connect } from '../server/db/connect.ts'
import type { MessageRow } from '../server/db/repositories/messages.ts'
import { createStore } from '../server/db/store.ts'
import { newId } from '../server/lib/ids.ts'
import type { ConversationId, MessageId, UserId } from '../server/protocol/ids.ts'
import { startUpstream } from '../tests/support/upstream.ts'
import { type Action, chunk, dataLine, type Turn } from '../tests/support/upstream-turns.ts'
import { startNanoClaw } from './processes/start.ts'
import { median, percentile, type Row } from './row.ts'

const webRoot = resolve(import.meta.dirname, '../dist/web')
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  .concat(process.env.CHROMIUM_PATH ?? [])
  .find((path) => existsSync(path))
const flags = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync']

const row = (figure: string, target: string, value: number, unit: string, ok: boolean): Row => ({
  suite: 'page',
  figure,
  target,
  value,
  unit,
  ok,
})

// ---- What is downloaded ----

const gzipKilobytes = (file: string): number =>
  gzipSync(readFileSync(join(webRoot, file))).length / 1024

/** The scripts that the document itself names, and the largest of all others. */
function sizes(): Row[] {
  const html = readFileSync(join(webRoot, 'index.html'), 'utf8')
  const first = new Set(
    [...html.matchAll(/(?:src|href)="\/([^"]+\.js)"/g)].map(([, name]) => name ?? ''),
  )
  const total = [...first].reduce((sum, file) => sum + gzipKilobytes(file), 0)
  const lazy = readdirSync(join(webRoot, 'assets'))
    .map((name) => `assets/${name}`)
    .filter((name) => name.endsWith('.js') && !first.has(name))
  const largest = Math.max(...lazy.map(gzipKilobytes))
  return [
    row('JavaScript for the first screen, gzip', '≤ 150 KB', total, 'KB', total <= 150),
    row('largest lazy chunk, gzip', '≤ 160 KB', largest, 'KB', largest <= 160),
  ]
}

// ---- What is answered ----

const part = (number: number): string => `## Part ${number}

A paragraph with **bold**, *italic*, \`code\` and a [link](https://example.org) that goes on for a while, as answers do.

| name | value |
| --- | ---: |
| alpha | ${number} |
| beta | ${number * 2} |

\`\`\`python
def part_${number}(values):
    """What part ${number} computes."""
    return [value * ${number} for value in values if value % 2 == 0]

print(part_${number}(range(10)))
\`\`\`

- first point of part ${number}
- second point, a little longer than the first one
`

/** Markdown of about this many tokens of five characters. */
function markdown(tokens: number): string {
  let text = ''
  for (let number = 1; text.length < tokens * 5; number += 1) text += part(number)
  return text.slice(0, tokens * 5)
}

const burstTokens = 8_000
const measuredTokens = 1_600
const tokensPerSecond = 200

/** 8,000 tokens in a burst, then 200 a second while the page is watched. */
function longAnswer(): Turn {
  const text = markdown(burstTokens + measuredTokens)
  const send = (from: number, to: number): Action => ({
    send: dataLine(chunk({ content: text.slice(from * 5, to * 5) })),
  })
  const actions: Action[] = []
  for (let at = 0; at < burstTokens; at += 100) actions.push(send(at, at + 100))
  const portion = 5
  for (let at = burstTokens; at < burstTokens + measuredTokens; at += portion)
    actions.push({ wait: (portion / tokensPerSecond) * 1_000 }, send(at, at + portion))
  return finished(actions)
}

const finished = (actions: Action[]): Turn => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  actions: [
    ...actions,
    { send: dataLine(chunk({}, 'stop')) },
    { send: dataLine('[DONE]') },
    { finish: 'end' },
  ],
})

const shortAnswer = (): Turn => finished([{ send: dataLine(chunk({ content: markdown(150) })) }])

// ---- How the page moves ----

/** Runs in the page before its own code: notes long tasks, and the time from a key press to the paint after it. */
const watcher = `
  globalThis.longTasks = []
  globalThis.keyTimes = []
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) globalThis.longTasks.push(entry.duration)
  }).observe({ type: 'longtask' })
  addEventListener('keydown', (event) => {
    requestAnimationFrame(() => {
      const channel = new MessageChannel()
      channel.port1.onmessage = () => globalThis.keyTimes.push(performance.now() - event.timeStamp)
      channel.port2.postMessage(0)
    })
  }, true)
`

type Place = { url: string; browser: Browser }

async function open(
  { url, browser }: Place,
  path: string,
): Promise<{ page: Page; cdp: CDPSession }> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-US',
  })
  const page = await context.newPage()
  await page.addInitScript(watcher)
  await page.goto(url + path)
  return { page, cdp: await context.newCDPSession(page) }
}

async function say(page: Page, text: string): Promise<void> {
  await page.locator('#composer').fill(text)
  await page.keyboard.press('Enter')
}

const idle = (page: Page) =>
  page.getByRole('button', { name: 'Send' }).waitFor({ timeout: 120_000 })

/** Streams the long answer once and types into the field meanwhile. */
async function streaming(
  place: Place,
  slowdown: number,
): Promise<{ tasks: number[]; keys: number[] }> {
  const { page, cdp } = await open(place, '/')
  await page.locator('#composer').waitFor()
  // Everything that is loaded late is loaded before the watching begins.
  await say(page, 'warm up')
  await page.locator('article .prose').first().waitFor()
  await idle(page)
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
  await say(page, 'long')
  await page
    .getByText(/Part 1\\d{1,2}|Part 8\d/)
    .last()
    .waitFor({ timeout: 120_000 })
  await page.waitForTimeout(1_500)
  await page.evaluate('globalThis.longTasks.length = 0; globalThis.keyTimes.length = 0')
  await page.locator('#composer').focus()
  for (let typed = 0; typed < 40; typed += 1) {
    await page.keyboard.press('a')
    await page.waitForTimeout(110)
  }
  const tasks = await page.evaluate<number[]>('globalThis.longTasks')
  const keys = await page.evaluate<number[]>('globalThis.keyTimes')
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  await page.context().close()
  return { tasks, keys }
}

async function movement(place: Place): Promise<Row[]> {
  const plain = await streaming(place, 1)
  const slow = await streaming(place, 4)
  const over = ({ tasks }: { tasks: number[] }): number => tasks.filter((ms) => ms > 50).length
  const keys = percentile(plain.keys, 0.95)
  return [
    row(
      'tasks over 50 ms at 8,000 tokens, 200 tokens/s',
      'none',
      over(plain),
      '',
      over(plain) === 0,
    ),
    row('the same at 4 × slowdown', '≤ 5', over(slow), '', over(slow) <= 5),
    row('key press to paint meanwhile, p95', '≤ 50 ms', keys, 'ms', keys <= 50),
  ]
}

/** Heap after 50 answers of one conversation against after 5. */
async function heap(place: Place): Promise<Row> {
  const { page, cdp } = await open(place, '/')
  await page.locator('#composer').waitFor()
  const used = async (): Promise<number> => {
    await cdp.send('HeapProfiler.collectGarbage')
    return (await cdp.send('Runtime.getHeapUsage')).usedSize
  }
  let after5 = 0
  for (let count = 1; count <= 50; count += 1) {
    await say(page, `question ${count}`)
    await page.locator('article').getByText(`question ${count}`, { exact: true }).waitFor()
    await idle(page)
    if (count === 5) after5 = await used()
  }
  const ratio = (await used()) / after5
  await page.context().close()
  return row('heap after 50 answers against after 5', '≤ 1.5 ×', ratio, '×', ratio <= 1.5)
}

// ---- How a long conversation opens ----

/** Milliseconds from navigation to the newest message on the screen. */
async function opening(place: Place, id: string, last: string): Promise<number> {
  const began = performance.now()
  const { page } = await open(place, `/c/${id}`)
  await page.getByText(last, { exact: true }).first().waitFor()
  const took = performance.now() - began
  await page.context().close()
  return took
}

/** Milliseconds until something is there, at a first visit over a line of 50 KB/s and 100 ms. */
async function overSlowLine({ url, browser }: Place, path: string, what: string): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  const cdp = await context.newCDPSession(page)
  await cdp.send('Network.enable')
  await cdp.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 100,
    downloadThroughput: 50 * 1024,
    uploadThroughput: 50 * 1024,
  })
  const began = performance.now()
  await page.goto(url + path, { waitUntil: 'commit' })
  await page.locator(what).first().waitFor()
  const took = performance.now() - began
  await context.close()
  return took
}

async function slowLine(place: Place, conversation: string): Promise<Row[]> {
  const write: number[] = []
  const read: number[] = []
  for (let round = 0; round < 3; round += 1) {
    write.push(await overSlowLine(place, '/', '#composer'))
    read.push(await overSlowLine(place, `/c/${conversation}`, 'article strong'))
  }
  const [first, content] = [median(write), median(read)]
  return [
    row('a line of 50 KB/s: one can write after', '≤ 4,000 ms', first, 'ms', first <= 4_000),
    row('… read a conversation after', '≤ 6,000 ms', content, 'ms', content <= 6_000),
  ]
}

async function longConversation(place: Place, file: string): Promise<Row[]> {
  const profile: { data: { id: UserId } } = JSON.parse(
    await (await fetch(`${place.url}/api/auth/profile`)).text(),
  )
  const userId = profile.data.id
  const database = await connect({ dialect: 'sqlite', file }, { log: { info() {}, warn() {} } })
  const store = createStore(database)
  const fill = async (count: number): Promise<ConversationId> => {
    const { id } = await store.conversations.create(userId, { title: `${count} messages` })
    await database.write(async (tx) => {
      let parentId: MessageId | null = null
      for (let index = 1; index <= count; index += 1) {
        const message: MessageId = newId<MessageId>()
        const row: MessageRow = {
          id: message,
          conversationId: id,
          parentId,
          role: index % 2 === 1 ? 'user' : 'assistant',
          text: index === count ? `last of ${count}` : `${markdown(60)} ${index}`,
          tokenCount: 60,
          model: null,
          runId: null,
          status: 'completed',
          error: null,
          createdAt: new Date(),
        }
        await store.messages.insert(tx, [row])
        parentId = message
      }
    })
    return id
  }
  const [large, small] = [await fill(2_000), await fill(20)]
  await database.close()
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < 7; round += 1) {
    times[0].push(await opening(place, large, 'last of 2000'))
    times[1].push(await opening(place, small, 'last of 20'))
  }
  const [value, base] = [median(times[0]), median(times[1])]
  return [
    row(
      `opening a conversation of 2,000 messages over one of 20 (${base.toFixed(0)} ms)`,
      '≤ 2 ×',
      value / base,
      '×',
      value / base <= 2,
    ),
    ...(await slowLine(place, small)),
  ]
}

// ---- All of it ----

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })

async function run(browserPath: string): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-bench-web-'))
  const upstream = await startUpstream()
  upstream.program((request) =>
    String(request.messages.at(-1)?.content).startsWith('long') ? longAnswer() : shortAnswer(),
  )
  const port = await freePort()
  const file = join(folder, 'data.sqlite')
  const config = join(folder, 'config.yml')
  writeFileSync(
    config,
    JSON.stringify({
      backend_port: port,
      data_dir: join(folder, 'data'),
      db_sqlite_file: file,
      workspace_root: join(folder, 'workspaces'),
      titles: 'off',
      models: [{ id: 'bench', api_url: upstream.url, api_key: 'none' }],
    }),
  )
  const server = await startNanoClaw(config, port, folder)
  const browser = await chromium.launch({ executablePath: browserPath, args: flags })
  const place = { url: `http://127.0.0.1:${port}`, browser }
  try {
    return [
      ...sizes(),
      ...(await longConversation(place, file)),
      ...(await movement(place)),
      await heap(place),
    ]
  } finally {
    await browser.close()
    await server.stop()
    await upstream.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

if (executablePath === undefined) {
  console.error(
    'The page is measured in Chromium, which is not here: install it, or name it in CHROMIUM_PATH.',
  )
  process.exit(2)
}
const rows = await run(executablePath)
for (const { ok, figure, value, unit, target } of rows)
  console.log(
    `${ok ? 'ok    ' : 'MISSED'}  ${figure}: ${Number(value.toPrecision(3))} ${unit} (${target})`,
  )
const results = join(import.meta.dirname, 'results')
mkdirSync(results, { recursive: true })
writeFileSync(join(results, 'web.json'), `${JSON.stringify(rows, null, 2)}\n`)
