// Opens pages of the measured server in Chromium, and builds the rows of its figures.
import type { Browser, CDPSession, Page } from 'playwright-core'
import type { Turn } from '../../tests/support/provider/upstream-turns.ts'
import type { Row } from '../row.ts'
import { type ContentText, contentAnswer } from './answers.ts'

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
export interface Target {
  url: string
  browser: Browser
  /** Decides what the model answers next. Other answers are short. */
  answerNext(turn: Turn): void
}

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

/** Resolves when no answer is streaming. Playwright's own search reads every element of a long answer, in tasks of up to 190 ms at a quarter of the speed. */
export async function idle(page: Page): Promise<void> {
  const isIdle = `document.querySelector('form.composer button[aria-label="Send"]') !== null`
  for (let waited = 0; !(await page.evaluate<boolean>(isIdle)); waited += 100) {
    if (waited > 120_000) throw new Error('The answer does not end')
    await page.waitForTimeout(100)
  }
}

/** Resolves when the page has drawn everything and has nothing left to do. */
export const settled = (page: Page) =>
  page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(done))))',
  )

/**
 * Sends a message and resolves once the burst of its answer is on the page, however long that takes. The rest of the answer
 * comes once the returned function is called.
 */
export async function sayAndHold(
  { answerNext }: Target,
  page: Page,
  text: ContentText,
): Promise<() => void> {
  let goOn = (): void => {}
  const goesOn = new Promise<void>((resolve) => {
    goOn = resolve
  })
  answerNext(contentAnswer(text, goesOn))
  await say(page, 'Something long, please.')
  const isDrawn = `[...document.querySelectorAll('article .prose')].at(-1)?.textContent.includes(${JSON.stringify(text.lastSign)}) === true`
  // The page's content security policy does not let Playwright's own waiting evaluate code.
  while (!(await page.evaluate<boolean>(isDrawn))) await page.waitForTimeout(100)
  await settled(page)
  return goOn
}
