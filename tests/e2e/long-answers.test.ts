// A long answer: typing below it stays cheap, and its end on a slow machine moves nothing; a limit, failure or stop offers a next step.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import {
  composer,
  describeInBrowser,
  leave,
  onSlowCpu,
  REMOTE_HOST,
  say,
} from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { type Turn, turn } from '../support/provider/upstream-turns.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

const PARAGRAPHS = Array.from(
  { length: 40 },
  (_, at) => `## Part ${at}\n\nThis is **paragraph ${at}** with \`code\`.\n\n- one\n- two`,
)
const LONG = [...PARAGRAPHS, '| a | b |\n| - | - |\n| 1 | 2 |', 'The very last line.'].join('\n\n')

/** A turn that sends the whole text, then waits for `release` before it finishes. */
function heldAtTheEnd(text: string, chunkSize = 200) {
  let release = (): void => {}
  const until = new Promise<void>((resolve) => {
    release = resolve
  })
  const whole = turn.text(text, { chunkSize })
  const finish = whole.actions.findIndex(
    (action) => 'send' in action && String(action.send).includes('"finish_reason":"stop"'),
  )
  const held: Turn = {
    ...whole,
    actions: [...whole.actions.slice(0, finish), { until }, ...whole.actions.slice(finish)],
  }
  return { turn: held, release }
}

/** Observes the thread at every DOM change and not only at every frame, because a slow machine renders few frames. */
const watchThread = (page: Page): Promise<unknown> =>
  page.evaluate(`(() => {
    const thread = document.querySelector('section[aria-label="Messages"]')
    const seen = (window.seen = { shrunk: [], moved: [], top: thread.scrollTop })
    let height = thread.scrollHeight
    const look = () => {
      if (thread.scrollHeight < height - 1) seen.shrunk.push([height, thread.scrollHeight])
      height = thread.scrollHeight
      if (Math.abs(thread.scrollTop - seen.top) > 1) seen.moved.push(thread.scrollTop)
    }
    new MutationObserver(look).observe(thread, { childList: true, subtree: true, characterData: true, attributes: true })
    new ResizeObserver(look).observe(thread.firstElementChild)
  })()`)
const seen = (page: Page) =>
  page.evaluate<{ shrunk: number[][]; moved: number[] }>(
    '({ shrunk: seen.shrunk, moved: seen.moved })',
  )

/** The space above a question at the top of the view. */
const TOP = 16

/** How far below the top of the view the row of the last question begins. */
const placeOfQuestion = (page: Page) =>
  page.evaluate<number>(`(() => {
    const thread = document.querySelector('section[aria-label="Messages"]')
    const own = [...thread.querySelectorAll('article[aria-label="Your message"]')].at(-1)
    const row = own.closest('[data-message]').getBoundingClientRect()
    return Math.round(row.top - thread.getBoundingClientRect().top)
  })()`)

const TraceEvent = z.object({
  name: z.string(),
  args: z.object({ elementCount: z.number().optional() }).optional(),
})

/** How many elements the browser styles until the frame after `action`; an element counts each time. */
async function styledElements(page: Page, action: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page)
  let styled = 0
  session.on('Tracing.dataCollected', ({ value }) => {
    for (const { name, args } of z.array(TraceEvent).parse(value))
      if (name === 'UpdateLayoutTree') styled += args?.elementCount ?? 0
  })
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['devtools.timeline'] },
  })
  await action()
  await nextFrame(page)
  const isComplete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve))
  await session.send('Tracing.end')
  await isComplete
  await session.detach()
  return styled
}

/** Resolves when what is changed now has been painted. */
const nextFrame = (page: Page): Promise<unknown> =>
  page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(done))))',
  )

/** How often the page has read messages to the end; it counts those that the service worker passed on, too. */
const readsOfMessages = (page: Page) =>
  page.evaluate<number>(
    "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/messages?limit=')).length",
  )

describeInBrowser('a long answer', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({
      config: { ...scripted(upstream), max_iterations: 1, trusted_hosts: [REMOTE_HOST] },
      webRoot: visitor.webRoot(),
    })
  })
  afterAll(() => upstream.close())

  test.each([
    { name: 'on this machine', options: {} },
    { name: 'on a phone over plain HTTP', options: { phone: true, remote: true } },
  ])(
    "when an answer ends $name, the thread does not shrink and the reader's position does not move",
    async ({ options }) => {
      const held = heldAtTheEnd(LONG)
      upstream.enqueue(held.turn)
      const page = await visitor.open(server.url, options)
      await say(page, 'A long one, please.')
      await page.getByText('The very last line.').waitFor()
      await page.getByRole('table').waitFor()
      const thread = page.getByRole('region', { name: 'Messages' })
      await thread.hover()
      await page.mouse.wheel(0, -1_500)
      await page.getByRole('button', { name: 'Jump to latest message' }).waitFor()
      await watchThread(page)
      await onSlowCpu(page, 4, async () => {
        const before = await readsOfMessages(page)
        held.release()
        await page.getByRole('button', { name: 'Regenerate' }).waitFor()
        await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
        await expect.poll(() => readsOfMessages(page)).toBeGreaterThan(before)
        await nextFrame(page)
      })
      expect(await seen(page)).toEqual({ shrunk: [], moved: [] })
      await page.reload()
      await page.getByText('The very last line.').waitFor()
      await leave(page)
    },
  )

  test('a long table, list and paragraph keep the elements of their finished rows, items and sentences while they stream in, and look the same when they are opened again', async () => {
    const rows = Array.from({ length: 120 }, (_, at) => `| row ${at} | **${at}** | \`c${at}\` |`)
    const table = `| name | *count* | code |\n| :- | -: | - |\n${rows.join('\n')}`
    const items = Array.from({ length: 90 }, (_, at) => `- item ${at} is **bold**\n  - \`c${at}\``)
    const sentences = Array.from({ length: 80 }, (_, at) => `Sentence ${at} has **bold** words.`)
    const shown = `[...document.querySelectorAll('article .prose')].at(-1)`
    const layers = `[...${shown}.querySelectorAll('*')].filter((one) => getComputedStyle(one).willChange === 'opacity').length`
    for (const { text, early, late } of [
      { text: table, early: 'thead + tbody tr:nth-child(3)', late: 'row 119' },
      { text: items.join('\n'), early: 'ul li:nth-child(3)', late: 'c89' },
      { text: sentences.join(' '), early: 'p strong:nth-of-type(3)', late: 'Sentence 79' },
    ]) {
      let release = (): void => {}
      const until = new Promise<void>((resolve) => {
        release = resolve
      })
      const { actions, ...whole } = turn.text(text, { chunkSize: 40 })
      const middle = Math.floor(actions.length / 2)
      upstream.enqueue({
        ...whole,
        actions: [...actions.slice(0, middle), { until }, ...actions.slice(middle)],
      })
      const page = await visitor.open(server.url)
      await say(page, 'A long one, please.')
      await page.locator(`article .prose ${early}`).waitFor()
      await page.evaluate(`globalThis.early = ${shown}.querySelector('${early}')`)
      // The layers of a table that grows are given back when it is finished.
      if (text === table) expect(await page.evaluate<number>(layers)).toBeGreaterThan(1)
      release()
      await page.getByText(late).waitFor()
      await page.getByRole('button', { name: 'Regenerate' }).waitFor()
      expect(await page.evaluate<number>(layers)).toBe(0)
      expect(await page.evaluate(`${shown}.contains(globalThis.early)`)).toBe(true)
      const streamed = await page.evaluate<string>(`${shown}.innerHTML`)
      await page.reload()
      await page.getByText(late).waitFor()
      expect(await page.evaluate<string>(`${shown}.innerHTML`)).toBe(streamed)
      await leave(page)
    }
  })

  test('between the rows of a long table there is one line, and none above the first row and below the last', async () => {
    const rows = Array.from({ length: 15 }, (_, at) => `| row ${at} | ${at} |`)
    upstream.enqueue(turn.text(`| name | count |\n| - | - |\n${rows.join('\n')}`))
    const page = await visitor.open(server.url)
    await say(page, 'A table, please.')
    await page.getByText('row 14').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    const lines = await page.evaluate<string[]>(`
      [...document.querySelectorAll('article .prose tr')].map(({ cells: [cell] }) => {
        const { borderTopWidth, borderBottomWidth } = getComputedStyle(cell)
        return borderTopWidth + ' ' + borderBottomWidth
      })`)
    expect(lines).toEqual(['0px 1px', '0px 0px', ...rows.slice(1).map(() => '1px 0px')])
    await leave(page)
  })

  test.each([
    { name: 'with a mouse', options: {} },
    { name: 'on a phone', options: { phone: true } },
  ])(
    'a new question stands at the top of the view $name while its answer grows below it, also when a keyboard opens, until the reader scrolls',
    async ({ options }) => {
      upstream.enqueue(turn.text(LONG, { chunkSize: 200 }))
      const page = await visitor.open(server.url, options)
      await say(page, 'A long one, please.')
      await page.getByRole('button', { name: 'Regenerate' }).waitFor()
      const held = heldAtTheEnd('A short one.')
      const growing = heldAtTheEnd(LONG)
      upstream.enqueue(held.turn)
      await say(page, 'And a short one?')
      await page.getByText('A short one.').waitFor()
      await expect.poll(() => placeOfQuestion(page)).toBeCloseTo(TOP, -1)
      const { width, height } = page.viewportSize() ?? { width: 0, height: 0 }
      await page.setViewportSize({ width, height: Math.round(height * 0.6) })
      await expect.poll(() => placeOfQuestion(page)).toBeCloseTo(TOP, -1)
      await page.setViewportSize({ width, height })
      held.release()
      await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
      await expect.poll(() => placeOfQuestion(page)).toBeCloseTo(TOP, -1)

      upstream.enqueue(growing.turn)
      await say(page, 'And another long one?')
      await page.getByText('The very last line.').nth(1).waitFor()
      await expect.poll(() => placeOfQuestion(page)).toBeCloseTo(TOP, -1)
      const thread = page.getByRole('region', { name: 'Messages' })
      await thread.hover()
      await page.mouse.wheel(0, 300)
      await expect.poll(() => placeOfQuestion(page)).toBeCloseTo(TOP - 300, -1)
      await watchThread(page)
      growing.release()
      await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
      await nextFrame(page)
      expect(await seen(page)).toEqual({ shrunk: [], moved: [] })
      await page.getByRole('button', { name: 'Jump to latest message' }).click()
      expect(await page.getByText('The very last line.').nth(1).isVisible()).toBe(true)
      await leave(page)
    },
  )

  test.each([
    { name: 'with a mouse', options: {} },
    { name: 'on a phone', options: { phone: true } },
  ])(
    'an answer that comes at once below the view $name has its height when the reader scrolls to it, so that nothing shrinks',
    async ({ options }) => {
      const held = heldAtTheEnd(LONG, 100_000)
      upstream.enqueue(held.turn)
      const page = await visitor.open(server.url, options)
      await say(page, 'A long one, please.')
      await page.getByText('The very last line.').waitFor({ state: 'attached' })
      await page.getByRole('table').waitFor({ state: 'attached' })
      await page.locator('.prose-part-lazy').first().waitFor({ state: 'attached' })
      await watchThread(page)
      const isAtEnd = (): Promise<boolean> =>
        page.evaluate(`(() => {
          const { scrollHeight, scrollTop, clientHeight } = document.querySelector('section[aria-label="Messages"]')
          return scrollHeight - scrollTop - clientHeight < 2
        })()`)
      for (let step = 0; step < 60 && !(await isAtEnd()); step += 1) {
        await page.evaluate(
          `document.querySelector('section[aria-label="Messages"]').scrollBy(0, 300)`,
        )
        await nextFrame(page)
      }
      expect(await isAtEnd()).toBe(true)
      expect((await seen(page)).shrunk).toEqual([])
      held.release()
      await page.getByRole('button', { name: 'Regenerate' }).waitFor()
      await leave(page)
    },
  )

  test('a question after a short answer goes to the top of the view, also if its answer is there at once', async () => {
    const page = await visitor.open(server.url)
    upstream.enqueue(turn.text('A short one.'))
    await say(page, 'A short one, please.')
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    for (const count of [1, 2]) {
      upstream.enqueue(turn.text(LONG, { chunkSize: 2_000 }))
      await say(page, `Long one number ${count}.`)
      await page.getByRole('button', { name: 'Regenerate' }).nth(count).waitFor()
      await nextFrame(page)
      await expect.poll(() => placeOfQuestion(page)).toBeCloseTo(TOP, -1)
    }
    await leave(page)
  })

  test('typing below a long answer does not style the answer again', async () => {
    upstream.enqueue(turn.text(LONG, { chunkSize: 200 }))
    const page = await visitor.open(server.url)
    await say(page, 'A long one, please.')
    await page.getByText('The very last line.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    // The first letter changes the button that sends.
    await composer(page).pressSequentially('A')
    await nextFrame(page)
    const shown = await page.locator('article *').count()
    const styled = await styledElements(page, () => composer(page).pressSequentially('nd'))
    expect(styled).toBeGreaterThan(0)
    expect(styled).toBeLessThan(shown / 2)
    await composer(page).fill('')
    await leave(page)
  })

  test('when an answer with a long table ends, the browser does not style its cells again', async () => {
    const rows = Array.from({ length: 200 }, (_, at) => `| row ${at} | ${at} | \`c${at}\` |`)
    const held = heldAtTheEnd(`| name | count | code |\n| - | - | - |\n${rows.join('\n')}`)
    upstream.enqueue(held.turn)
    const page = await visitor.open(server.url)
    await say(page, 'A long table, please.')
    await page.getByText('row 199').waitFor()
    const styled = await styledElements(page, async () => {
      held.release()
      await page.getByRole('button', { name: 'Regenerate' }).waitFor()
      await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
    })
    expect(styled).toBeLessThan(3 * rows.length)
    await leave(page)
  })

  test('a long table, wide code and the list of conversations scroll without the thread that the scripts of the page keep busy', async () => {
    for (let count = 0; count < 40; count += 1)
      await server.call('POST', '/api/conversations', { body: { title: `Number ${count}` } })
    const rows = Array.from({ length: 80 }, (_, at) => `| row ${at} | ${at} |`)
    const code = `${'very '.repeat(80)}wide`
    upstream.enqueue(
      turn.text(`~~~\n${code}\n~~~\n\n| name | count |\n| - | - |\n${rows.join('\n')}`),
    )
    const page = await visitor.open(server.url)
    await say(page, 'A long table, please.')
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    for (const area of ['nav[aria-label="Conversations"]', 'article pre', 'article .table-frame'])
      expect(
        await page.evaluate(`(() => {
          const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.querySelector('${area}')
          return scrollWidth > clientWidth || scrollHeight > clientHeight
        })()`),
        area,
      ).toBe(true)
    const session = await page.context().newCDPSession(page)
    const scrolledByScripts = async (): Promise<boolean> => {
      const drawn = new Promise<string[]>((resolve) => {
        session.on('LayerTree.layerTreeDidChange', ({ layers }) => {
          if (layers !== undefined)
            resolve(layers.flatMap(({ scrollRects = [] }) => scrollRects.map(({ type }) => type)))
        })
      })
      await session.send('LayerTree.enable')
      const types = await drawn
      await session.send('LayerTree.disable')
      return types.includes('RepaintsOnScroll')
    }
    expect(await scrolledByScripts()).toBe(false)
    // Without its background, it would: the browser tells so.
    await page.evaluate(
      `document.querySelector('article .table-frame').style.background = 'transparent'`,
    )
    expect(await scrolledByScripts()).toBe(true)
    await session.detach()
    await leave(page)
  })

  test('an answer that reached its iteration limit can continue, also after a reload', async () => {
    upstream.enqueue(
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '1 + 1' } }]),
      turn.text('This far I came.'),
    )
    const page = await visitor.open(server.url)
    await say(page, 'Use your tools.')
    await page.getByText('This far I came.').waitFor()
    await page.getByText('The agent reached the limit of steps').waitFor()
    await page.reload()
    await page.getByText('The agent reached the limit of steps').waitFor()
    upstream.enqueue(turn.text('And now to the end.'))
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('And now to the end.').waitFor()
    await leave(page)
  })

  test('an answer that the output limit cut off within code goes on as one text and one code block, without a visible question, also in the export', async () => {
    upstream.enqueue(
      turn.text('Here:\n\n```js\nconst one = 1\nconst tw', { finishReason: 'length' }),
      turn.thinking('Where was I?', 'o = 2\n```\n\nThat is all.'),
    )
    const page = await visitor.open(server.url)
    await say(page, 'Write code.')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('That is all.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    for (const isReloaded of [false, true]) {
      if (isReloaded) await page.reload()
      await page.getByText('That is all.').waitFor()
      expect(await page.locator('article pre').count()).toBe(1)
      expect(await page.locator('article pre').innerText()).toContain('const two = 2')
      expect(await page.getByRole('article', { name: 'Your message' }).count()).toBe(1)
    }
    const id = new URL(page.url()).pathname.split('/')[2]
    const exported = await fetch(`${server.url}/api/conversations/${id}/export?format=md`)
    expect(await exported.text()).toContain('```js\nconst one = 1\nconst two = 2\n```')
    await leave(page)
  })

  test('an answer that was cut off offers to continue only until another message follows', async () => {
    upstream.enqueue(
      turn.text('The first half', { finishReason: 'length' }),
      turn.text('The second half.'),
    )
    const page = await visitor.open(server.url)
    await say(page, 'Tell me.')
    const more = page.getByRole('button', { name: 'Continue', exact: true })
    await more.waitFor()
    await say(page, 'Go on.')
    await page.getByText('The second half.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).nth(1).waitFor()
    await page.getByText('The answer was cut off').waitFor()
    expect(await more.count()).toBe(0)
    await leave(page)
  })

  test('a conversation whose first answer failed or was stopped is titled with its first message', async () => {
    const page = await visitor.open(server.url)
    const list = page.getByRole('navigation', { name: 'Conversations' })
    upstream.enqueue(turn.error(401, 'bad key'))
    await say(page, 'Fails at once')
    await page.getByRole('alert').first().waitFor()
    await list.getByText('Fails at once').waitFor()
    await page
      .getByRole('button', { name: 'New conversation' })
      .or(page.getByRole('link', { name: 'New conversation' }))
      .first()
      .click()
    upstream.enqueue(heldAtTheEnd('Something long').turn)
    await say(page, 'Stopped at once')
    await page.getByText('Something long').waitFor()
    // While it is being answered, it already has its title.
    await list.getByText('Stopped at once').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Stopped.').waitFor()
    await list.getByText('Stopped at once').waitFor()
    await leave(page)
  })
})
