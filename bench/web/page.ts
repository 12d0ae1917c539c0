// Opens pages of the measured server in Chromium, and builds the rows of its figures.
import type { Browser, CDPSession, Page } from 'playwright-core'
import type { Row } from '../row.ts'

export const row = (
  figure: string,
  target: string,
  value: number,
  unit: string,
  ok: boolean,
): Row => ({
  suite: 'page',
  figure,
  target,
  value,
  unit,
  ok,
})

/** Injected before the page's own scripts: records long tasks, and the time from a key press to the next paint. */
const RECORDER = `
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

/** The measured server and the browser that opens its pages. */
export type Target = { url: string; browser: Browser }

/** Opens a page in a new browser context. */
export async function open(
  { url, browser }: Target,
  path: string,
): Promise<{ page: Page; cdp: CDPSession }> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-US',
  })
  const page = await context.newPage()
  await page.addInitScript(RECORDER)
  await page.goto(url + path)
  return { page, cdp: await context.newCDPSession(page) }
}

/** Sends a message. */
export async function say(page: Page, text: string): Promise<void> {
  await page.locator('#composer').fill(text)
  await page.keyboard.press('Enter')
}

/** Resolves when no answer is streaming. A search by role reads every element of a long answer, in tasks of up to 190 ms at a quarter of the speed. */
export const idle = (page: Page) =>
  page.locator('button[aria-label="Send"]').waitFor({ timeout: 120_000 })
