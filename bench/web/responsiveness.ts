// How responsive the page is while an answer streams in, and how its memory grows with the number of answers.
import type { CDPSession, Page } from 'playwright-core'
import type { Row } from '../row.ts'
import { median, percentile } from '../row.ts'
import { type Content, contentText, ONE_BLOCK } from './answers.ts'
import { idle, open, row, say, sayAndHold, settled, type Target } from './page.ts'
import { traced } from './trace.ts'

/** Presses a key so many times, as fast as people type. */
async function type(page: Page, presses: number): Promise<void> {
  for (let typed = 0; typed < presses; typed += 1) {
    await page.keyboard.press('a')
    await page.waitForTimeout(110)
  }
}

/** Streams the long answer once while typing into the composer. */
async function streaming(
  target: Target,
  slowdown: number,
): Promise<{ tasks: number[]; keys: number[] }> {
  const { page, cdp } = await open(target, '/')
  await page.locator('#composer').waitFor()
  // Triggers all lazy loading before the measurement begins.
  await say(page, 'warm up')
  await page.locator('article .prose').first().waitFor()
  await idle(page)
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
  const goOn = await sayAndHold(target, page, contentText('mixed', 8_000, 1_600))
  await page.evaluate('globalThis.keyTimes.length = 0')
  await page.locator('#composer').focus()
  const { taskMs: tasks } = await traced(cdp, async () => {
    goOn()
    await type(page, 40)
  })
  const keys = await page.evaluate<number[]>('globalThis.keyTimes')
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  await page.context().close()
  return { tasks, keys }
}

/** Long tasks (in processor time) and key press delay during a stream, at full CPU speed and throttled to a quarter. */
export async function measureResponsiveness(target: Target): Promise<Row[]> {
  const plain = await streaming(target, 1)
  const slow = await streaming(target, 4)
  const over = ({ tasks }: { tasks: number[] }): number => tasks.filter((ms) => ms > 50).length
  const [keys, slowKeys] = [percentile(plain.keys, 0.95), percentile(slow.keys, 0.95)]
  return [
    row(
      'tasks over 50 ms while 8,000 tokens arrive at 200 tokens/s',
      'none',
      over(plain),
      '',
      over(plain) === 0,
    ),
    row('tasks over 50 ms meanwhile, 4 × CPU slowdown', '≤ 5', over(slow), '', over(slow) <= 5),
    row('key press to paint meanwhile, p95', '≤ 50 ms', keys, 'ms', keys <= 50),
    row('key press to paint meanwhile, 4 × CPU slowdown, p95', '–', slowKeys, 'ms', true),
  ]
}

/**
 * Script and the longest task while the last 1,000 tokens of an answer of one content stream in, and until its end is drawn.
 * In processor time: other load on the machine makes neither longer.
 */
async function streamingContent(
  target: Target,
  content: Content,
  slowdown: number,
): Promise<{ scriptMs: number; longestMs: number }> {
  const { page, cdp } = await open(target, '/')
  await page.locator('#composer').waitFor()
  await say(page, 'warm up')
  await page.locator('article .prose').first().waitFor()
  await idle(page)
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
  const scriptSeconds = async (): Promise<number> => {
    const { metrics } = await cdp.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? Number.NaN
  }
  const goOn = await sayAndHold(target, page, contentText(content, 3_000, 1_000))
  const before = await scriptSeconds()
  const { taskMs } = await traced(cdp, async () => {
    goOn()
    await idle(page)
    // The stored answer takes the place of the streamed one.
    await page.waitForTimeout(500)
    await settled(page)
  })
  const scriptMs = ((await scriptSeconds()) - before) * 1_000
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  await page.context().close()
  return { scriptMs, longestMs: Math.max(...taskMs) }
}

/** What an answer that is one growing block costs compared with mixed text, and its longest task. */
export async function measureContents(target: Target): Promise<Row[]> {
  const rows: Row[] = []
  for (const slowdown of [1, 4]) {
    const suffix = slowdown === 1 ? '' : `, ${slowdown} × CPU slowdown`
    const mixed: number[] = []
    for (const content of ONE_BLOCK) {
      // Mixed text runs beside each content, so that other load on the machine slows both.
      const beside = await streamingContent(target, 'mixed', slowdown)
      const { scriptMs, longestMs } = await streamingContent(target, content, slowdown)
      const ratio = scriptMs / beside.scriptMs
      mixed.push(beside.scriptMs)
      rows.push(
        row(
          `script per 1,000 tokens of one ${content} vs. mixed text${suffix} (${Math.round(scriptMs)} ms)`,
          '≤ 1.3 ×',
          ratio,
          '×',
          ratio <= 1.3,
        ),
      )
      if (slowdown > 1)
        rows.push(
          row(
            `longest task meanwhile, one ${content}${suffix}`,
            '≤ 100 ms',
            longestMs,
            'ms',
            longestMs <= 100,
          ),
        )
    }
    rows.push(row(`script per 1,000 tokens of mixed text${suffix}`, '–', median(mixed), 'ms', true))
  }
  return rows
}

/** How soon key presses and turns of the wheel are shown, p95, while `isOver` says no. */
async function typingAndScrolling(
  page: Page,
  cdp: CDPSession,
  isOver: (turns: number) => boolean,
): Promise<{ keyMs: number; scrollMs: number }> {
  await page.evaluate('globalThis.keyTimes.length = 0')
  const { scrollMs } = await traced(cdp, async () => {
    for (let turns = 0; !isOver(turns); turns += 1) {
      await type(page, 1)
      await page.mouse.wheel(0, 120)
      await page.waitForTimeout(50)
    }
    await settled(page)
  })
  const keyMs = await page.evaluate<number[]>('globalThis.keyTimes')
  return { keyMs: percentile(keyMs, 0.95), scrollMs: percentile(scrollMs, 0.95) }
}

/** How soon typing and scrolling are shown while a table grows to 400 rows, at a quarter of the CPU speed, and once it has ended. */
export async function measureBesideTable(target: Target): Promise<Row[]> {
  const { page, cdp } = await open(target, '/')
  await page.locator('#composer').waitFor()
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  const goOn = await sayAndHold(target, page, contentText('table', 3_000, 1_600))
  await page.locator('article .table-frame').hover()
  await page.locator('#composer').focus()
  goOn()
  let hasEnded = false
  const end = idle(page).then(() => {
    hasEnded = true
  })
  const growing = await typingAndScrolling(page, cdp, () => hasEnded)
  await end
  const still = await typingAndScrolling(page, cdp, (turns) => turns === 30)
  await page.context().close()
  const circumstances = (restMs: number): string =>
    `while a table grows to 400 rows, 4 × CPU slowdown, p95 (${Math.round(restMs)} ms once it is complete)`
  return [
    row(
      `key press to paint ${circumstances(still.keyMs)}`,
      '≤ 100 ms',
      growing.keyMs,
      'ms',
      growing.keyMs <= 100,
    ),
    row(
      `wheel to scrolled frame ${circumstances(still.scrollMs)}`,
      '≤ 100 ms',
      growing.scrollMs,
      'ms',
      growing.scrollMs <= 100,
    ),
  ]
}

/** The heap after 50 answers in one conversation compared with the heap after 5. */
export async function measureHeap(target: Target): Promise<Row> {
  const { page, cdp } = await open(target, '/')
  await page.locator('#composer').waitFor()
  const used = async (): Promise<number> => {
    // One collection sometimes leaves 2 MB that the next one frees.
    for (let round = 0; round < 3; round += 1) await cdp.send('HeapProfiler.collectGarbage')
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
  return row('heap after 50 answers vs. after 5', '≤ 1.5 ×', ratio, '×', ratio <= 1.5)
}
