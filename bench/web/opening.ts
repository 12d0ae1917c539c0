// How long a conversation takes to open: a long one, and a first visit over a slow connection.
import { connect } from '../../server/db/connect.ts'
import type { MessageRow } from '../../server/db/repositories/conversations/messages.ts'
import { createStore } from '../../server/db/store.ts'
import { newId } from '../../server/lib/ids.ts'
import type { ConversationId, MessageId, UserId } from '../../server/protocol/ids.ts'
import { median, type Row } from '../row.ts'
import { markdown } from './answers.ts'
import { open, row, type Target } from './page.ts'

/** Milliseconds from navigation until the newest message is shown. */
async function opening(target: Target, id: string, last: string): Promise<number> {
  const began = performance.now()
  const { page } = await open(target, `/c/${id}`)
  await page.getByText(last, { exact: true }).first().waitFor()
  const took = performance.now() - began
  await page.context().close()
  return took
}

/** Milliseconds until an element is shown, on a first visit over a 50 KB/s connection with 100 ms latency. */
async function overSlowLine(
  { url, browser }: Target,
  path: string,
  selector: string,
): Promise<number> {
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
  await page.locator(selector).first().waitFor()
  const took = performance.now() - began
  await context.close()
  return took
}

async function slowLine(target: Target, conversation: string): Promise<Row[]> {
  const write: number[] = []
  const read: number[] = []
  for (let round = 0; round < 3; round += 1) {
    write.push(await overSlowLine(target, '/', '#composer'))
    read.push(await overSlowLine(target, `/c/${conversation}`, 'article strong'))
  }
  const [first, content] = [median(write), median(read)]
  return [
    row('at 50 KB/s: time until the composer is ready', '≤ 4,000 ms', first, 'ms', first <= 4_000),
    row(
      'at 50 KB/s: time until a conversation is shown',
      '≤ 6,000 ms',
      content,
      'ms',
      content <= 6_000,
    ),
  ]
}

/** @param file the server's SQLite database, which is filled directly. */
export async function measureOpening(target: Target, file: string): Promise<Row[]> {
  const profile: { data: { id: UserId } } = JSON.parse(
    await (await fetch(`${target.url}/api/auth/profile`)).text(),
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
          origin: null,
          createdAt: new Date(),
        }
        await store.messages.insert(tx, userId, [row])
        parentId = message
      }
    })
    return id
  }
  const [large, small] = [await fill(2_000), await fill(20)]
  await database.close()
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < 7; round += 1) {
    times[0].push(await opening(target, large, 'last of 2000'))
    times[1].push(await opening(target, small, 'last of 20'))
  }
  const [value, base] = [median(times[0]), median(times[1])]
  return [
    row(
      `opening a conversation, 2,000 vs. 20 messages (${base.toFixed(0)} ms)`,
      '≤ 2 ×',
      value / base,
      '×',
      value / base <= 2,
    ),
    ...(await slowLine(target, small)),
  ]
}
