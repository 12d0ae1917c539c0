// How the list of conversations copes with 10,000 of them: opening the page, and scrolling through all on a slow machine.
import { connect } from '../../server/db/connect.ts'
import { createStore } from '../../server/db/store.ts'
import type { UserId } from '../../server/protocol/ids.ts'
import { median, type Row } from '../row.ts'
import { open, row, type Target } from './page.ts'

const CONVERSATIONS = 10_000
const SLOWDOWN = 4
/** Wheel turns per measurement; each scrolls about 17 rows. */
const TURNS = 150

async function fill(target: Target, file: string): Promise<void> {
  const profile: { data: { id: UserId } } = JSON.parse(
    await (await fetch(`${target.url}/api/auth/profile`)).text(),
  )
  const database = await connect({ dialect: 'sqlite', file }, { log: { info() {}, warn() {} } })
  const store = createStore(database)
  const now = Date.now()
  for (let from = 0; from < CONVERSATIONS; from += 500)
    await database.write(async (tx) => {
      for (let at = from; at < from + 500; at += 1) {
        const title = `Conversation ${at} about something that people talk about`
        const { id } = await store.conversations.createIn(tx, profile.data.id, { title })
        await store.conversations.touch(tx, id, new Date(now - (CONVERSATIONS - at) * 600_000))
      }
    })
  await database.close()
}

/** Milliseconds from navigation until the first rows of the list are shown. */
async function opening(target: Target): Promise<number> {
  const began = performance.now()
  const { page } = await open(target, '/')
  await page.locator('nav [data-row]').first().waitFor()
  const took = performance.now() - began
  await page.context().close()
  return took
}

/** @param file the server's SQLite database, which is filled directly. Run it last: other figures would change with it. */
export async function measureConversationList(target: Target, file: string): Promise<Row[]> {
  const before: number[] = []
  for (let round = 0; round < 5; round += 1) before.push(await opening(target))
  await fill(target, file)
  const after: number[] = []
  for (let round = 0; round < 5; round += 1) after.push(await opening(target))
  const { page, cdp } = await open(target, '/')
  await page.locator('nav [data-row]').first().waitFor()
  await page.waitForTimeout(1_500)
  const list = page.getByRole('navigation', { name: 'Conversations' })
  await list.hover()
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
  await page.evaluate('globalThis.longTasks.length = 0')
  for (let turn = 0; turn < TURNS; turn += 1) {
    await page.mouse.wheel(0, 600)
    await page.waitForTimeout(50)
  }
  const tasks = await page.evaluate<number[]>('globalThis.longTasks')
  const inDocument = await list.locator('[data-row]').count()
  const scrolled = await list.evaluate((element: { scrollTop: number }) => element.scrollTop / 36)
  await page.context().close()
  const longest = Math.max(0, ...tasks)
  const ratio = median(after) / median(before)
  return [
    row(
      `time until a list of 10,000 conversations is shown vs. a short list (${median(after).toFixed(0)} ms)`,
      '≤ 1.5 ×',
      ratio,
      '×',
      ratio <= 1.5,
    ),
    row(
      `longest task while that list scrolls, ${SLOWDOWN} × CPU slowdown (${scrolled.toFixed(0)} rows, ${tasks.filter((ms) => ms > 50).length} tasks over 50 ms)`,
      '≤ 200 ms',
      longest,
      'ms',
      longest <= 200,
    ),
    row('rows in the DOM while that list scrolls', '≤ 60', inDocument, '', inDocument <= 60),
  ]
}
