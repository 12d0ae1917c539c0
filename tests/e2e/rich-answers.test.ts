// Diagrams, images, tables and code in answers: drawn apart from the page, shown large, copied into other programs, run.
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import {
  composer,
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
  REMOTE_HOST,
  say,
} from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

const RED_DOT =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC'
const PYTHON = Array.from({ length: 12 }, (_, at) => `print(${at})`)
  .concat(`# ${'a long comment '.repeat(20)}`)
  .join('\n')
const ANSWER = [
  '```mermaid\nflowchart LR\n  A[One] --> B\n  click A "javascript:parent.hacked=1"\n```',
  '```mermaid\nflowchart LR\n  A[[[ -->\n```',
  `![A red dot](${RED_DOT})`,
  '| City | People |\n| - | - |\n| **Tokyo**, Japan | 14 |',
  `\`\`\`python\n${PYTHON}\n\`\`\``,
].join('\n\n')

/** The channels of CSS colours, from 0 to 255. */
const channelsOf = (page: Page, colours: readonly string[]): Promise<number[][]> =>
  page.evaluate<number[][]>(`${JSON.stringify(colours)}.map((colour) => {
    const context = document.createElement('canvas').getContext('2d')
    context.fillStyle = colour
    context.fillRect(0, 0, 1, 1)
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3)
  })`)

/** It scrolls sideways. */
const isWider = ({ scrollWidth, clientWidth }: { scrollWidth: number; clientWidth: number }) =>
  scrollWidth > clientWidth

/** What another program receives, read by pasting into a field, which works on every origin. */
const pasted = async (page: Page, type: string): Promise<string> => {
  await page.evaluate(
    `document.addEventListener('paste', (event) => { window.pasted = event.clipboardData.getData('${type}') }, { once: true, capture: true })`,
  )
  await composer(page).focus()
  await page.keyboard.press('Control+v')
  await composer(page).fill('')
  return page.evaluate<string>('window.pasted')
}

describeInBrowser('rich answers', (visitor) => {
  const site = usePageServer(visitor, { trusted_hosts: [REMOTE_HOST] })

  test('a diagram is an image without scripts, an invalid diagram stays source code, and an image can be enlarged', async () => {
    site.upstream.enqueue(turn.text(ANSWER))
    const page = await visitor.open(site.server.url, { theme: 'dark' })
    await say(page, 'Show me')
    const diagram = page.getByRole('img', { name: 'Diagram' })
    await diagram.waitFor()
    const width = () =>
      page.evaluate<number>("document.querySelector('img[alt=Diagram]').naturalWidth")
    await expect.poll(width).toBeGreaterThan(100)
    await page.getByText('Couldn’t draw this diagram').waitFor()
    await page.getByText('A[[[').waitFor()
    expect(await page.evaluate<boolean>("'hacked' in window")).toBe(false)

    await page.getByRole('button', { name: 'Show source' }).click()
    await page.getByText('flowchart LR').first().waitFor()
    await page.getByRole('button', { name: 'Show A red dot' }).click()
    const box = page.getByRole('dialog', { name: 'A red dot' })
    await box.getByRole('button', { name: 'Zoom in' }).click()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await box.waitFor({ state: 'detached' })
    await leave(page)
  })

  test('formulas without dollars, a README with fences of its own, amounts and a table in HTML look as meant', async () => {
    site.upstream.enqueue(
      turn.text(
        [
          '\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}',
          '```math\ny^2\n```',
          'It costs 5$, not 10$.\nIn all shops.',
          '```markdown\n# Title\n\n```bash\nnpm i\n```\n\nMore\n```',
          '<table>\n<tr><th colspan="2">Both</th></tr>\n\n<tr><td>One<br>two</td><td><script>window.hacked = 1</script>Three</td></tr>\n</table>',
        ].join('\n\n'),
      ),
    )
    const page = await visitor.open(site.server.url)
    await say(page, 'Show me')
    await expect.poll(() => page.locator('.prose .katex-display').count()).toBe(2)
    const text = await page.locator('.prose').innerText()
    expect(text).toContain('It costs 5$, not 10$.\nIn all shops.')
    expect(await page.locator('.prose figure').count()).toBe(1)
    expect(await page.locator('.prose figure pre').innerText()).toContain('```bash\nnpm i\n```')
    expect(await page.getByRole('columnheader', { name: 'Both' }).getAttribute('colspan')).toBe('2')
    expect(await page.getByRole('cell', { name: 'Three' }).innerText()).toBe('Three')
    expect(await page.evaluate<boolean>("'hacked' in window")).toBe(false)
  })

  test('for the keyboard and screen readers, messages are headings, a key leads to the last answer, and wide formulas and tables scroll', async () => {
    const wide = Array.from({ length: 40 }, (_, at) => `x_{${at}}`).join(' + ')
    const rows = Array.from({ length: 60 }, (_, at) => `| ${at} | row ${at} |`).join('\n')
    const columns = Array.from({ length: 14 }, (_, at) => `Measurement${at}`)
    const line = (cells: string[]): string => `| ${cells.join(' | ')} |`
    const table = [columns, columns.map(() => '---'), columns].map(line).join('\n')
    site.upstream.enqueue(
      turn.text(
        `$$\n${wide}\n$$\n\n$$\na + b\n$$\n\n| Number | Name |\n| --- | --- |\n${rows}\n\n${table}`,
      ),
    )
    const page = await visitor.open(site.server.url)
    await say(page, 'Show me a long formula')
    const scrolling = page.getByRole('group', { name: 'Formula' })
    await scrolling.waitFor()
    // Only the one that is too wide is a stop.
    expect(await scrolling.count()).toBe(1)
    await scrolling.focus()
    await page.keyboard.press('ArrowRight')
    await expect
      .poll(() =>
        page.evaluate<number>("document.querySelector('.katex-display[tabindex]').scrollLeft"),
      )
      .toBeGreaterThan(0)
    // The header stays in view.
    const header = page.getByRole('columnheader', { name: 'Name' })
    const frame = page.locator('.table-frame').first()
    await page.evaluate(
      "(one => one.scrollTo(0, one.scrollHeight))(document.querySelector('.table-frame'))",
    )
    const places = async () => [
      (await header.boundingBox())?.y ?? 0,
      (await frame.boundingBox())?.y ?? 0,
    ]
    const [top = 0, edge = 0] = await places()
    expect(Math.abs(top - edge)).toBeLessThan(4)
    // A table that needs more than the column of text takes the room beside it, and scrolls by keyboard.
    const wideTable = page.locator('.table-frame').nth(1)
    const widthOf = async (one: typeof frame) => (await one.boundingBox())?.width ?? 0
    expect(await widthOf(wideTable)).toBeGreaterThan((await widthOf(frame)) + 100)
    const thread = page.getByRole('region', { name: 'Messages' })
    expect(await widthOf(wideTable)).toBeLessThan(await widthOf(thread))
    await wideTable.focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => wideTable.evaluate((one) => one.scrollLeft)).toBeGreaterThan(0)
    await expect.poll(() => page.getByRole('heading', { name: 'Your message' }).count()).toBe(1)
    await page.getByRole('heading', { name: 'Answer', exact: true }).waitFor({ state: 'attached' })
    await page.locator('#composer').focus()
    await page.keyboard.press('Control+.')
    await page.locator('article[data-answer]:focus').waitFor()
    await expectAccessible(page)
    await leave(page)
  })

  test('the buttons of a table cover nothing of it, and a cell with a name stays on one line', async () => {
    const rows = Array.from({ length: 40 }, (_, at) => `| ${at} | Person Number ${at} |`).join('\n')
    const more = Array.from({ length: 9 }, (_, at) => `Measurement ${at}`)
    const line = (cells: string[]): string => `| ${cells.join(' | ')} |`
    const wide = [more, more.map(() => '---'), more.map((_, at) => `Person Number ${at}`)]
    site.upstream.enqueue(
      turn.text(
        `| Number | Name |\n| --- | --- |\n${rows}\n\nA text.\n\n${wide.map(line).join('\n')}`,
      ),
    )
    const page = await visitor.open(site.server.url)
    await say(page, 'Show me tables')
    const frame = page.locator('.table-frame').first()
    await frame.waitFor()
    const header = page.getByRole('columnheader', { name: 'Name', exact: true })
    await header.hover()
    const copy = page.getByRole('button', { name: 'Copy table' }).first()
    const tools = copy.locator('..')
    await expect
      .poll(() => tools.evaluate((one) => one.checkVisibility({ opacityProperty: true })))
      .toBe(true)
    const [table, row] = [await frame.boundingBox(), await tools.boundingBox()]
    expect(row?.y).toBeGreaterThanOrEqual((table?.y ?? 0) + (table?.height ?? 0))
    await copy.scrollIntoViewIfNeeded()
    await copy.click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const heightOf = async (name: string) =>
      (await page.getByRole('cell', { name, exact: true }).last().boundingBox())?.height ?? 0
    expect(await heightOf('Person Number 8')).toBeLessThan(50)
    await expectAccessible(page)
    await leave(page)
  })

  test('on a phone, a wide diagram keeps a readable size and scrolls in its frame, and a chart that still fits is shown whole', async () => {
    const steps = ['Reading the request', 'Choosing a tool', 'Running the tool', 'The answer']
    const flow = steps.map((step, at) => `N${at}[${step}]`).join(' --> ')
    const chart = 'xychart-beta\n  x-axis [Jan, Feb]\n  bar [50, 60]'
    site.upstream.enqueue(
      turn.text(
        [`flowchart LR\n  ${flow}`, chart]
          .map((each) => `\`\`\`mermaid\n${each}\n\`\`\``)
          .join('\n\n'),
      ),
    )
    const page = await visitor.open(site.server.url, { phone: true })
    await say(page, 'Show me')
    const sizes = () =>
      page.evaluate<{ scale: number; scrolls: boolean }[]>(
        `[...document.querySelectorAll('img[alt=Diagram]')].map((image) => {
          const frame = image.closest('.overflow-x-auto')
          return { scale: image.clientWidth / image.naturalWidth, scrolls: frame.scrollWidth > frame.clientWidth }
        })`,
      )
    await expect.poll(sizes).toEqual([
      { scale: expect.closeTo(0.6), scrolls: true },
      { scale: expect.closeTo(0.47, 1), scrolls: false },
    ])
    // Where it goes on, it fades: a touch screen shows no scroll bar.
    const edges = () =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll('.sideways-edges')].map((one) =>
          ['before', 'after'].filter((side) => one.hasAttribute('data-' + side)).join())`,
      )
    await expect.poll(edges).toEqual(['after', ''])
    await page.evaluate(
      `(() => { const one = document.querySelector('.sideways-edges'); one.scrollLeft = one.scrollWidth })()`,
    )
    await expect.poll(edges).toEqual(['before', ''])
    await expectNoScrolling(page)
    await leave(page)
  })

  test.each(['light', 'dark'] as const)(
    'the slices of a pie chart have clearly distinct colours, %s',
    async (theme) => {
      const pie = `pie\n${[30, 25, 20, 15].map((part) => `  "Slice ${part}" : ${part}`).join('\n')}`
      site.upstream.enqueue(turn.text(`\`\`\`mermaid\n${pie}\n\`\`\``))
      const page = await visitor.open(site.server.url, { theme })
      await say(page, 'Show me')
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download as SVG' }).click(),
      ])
      const svg = await readFile(await download.path(), 'utf8')
      const slices = [...svg.matchAll(/<path[^>]*class="pieCircle"[^>]*>/g)]
      const fills = await channelsOf(
        page,
        slices.map(([tag]) => / fill="([^"]+)"/.exec(tag)?.[1] ?? ''),
      )
      expect(fills).toHaveLength(4)
      const distances = fills.flatMap((one, at) =>
        fills
          .slice(0, at)
          .map((other) => Math.hypot(...one.map((part, channel) => part - (other[channel] ?? 0)))),
      )
      expect(Math.min(...distances)).toBeGreaterThan(40)
      await leave(page)
    },
  )

  test('a hostile diagram reaches neither the page nor the network, even where Mermaid lets HTML through', async () => {
    site.upstream.enqueue(
      turn.text(
        '```mermaid\nflowchart LR\n  A[<img src="/api/models?x" onerror="parent.hacked=1">] --> B[Two]\n```\n\nThe end.',
      ),
    )
    // The browser reports what the frame's policy blocked, so this page has a context of its own.
    const page = await visitor.open(site.server.url, { ownContext: true })
    const responses: string[] = []
    page.on('response', (response) => responses.push(response.url()))
    await say(page, 'Show me')
    await page.getByRole('img', { name: 'Diagram' }).waitFor()
    const frame = page.frames().find((each) => each.url().endsWith('/diagram.html'))
    expect(await frame?.evaluate<string>('origin')).toBe('null')
    expect(await page.evaluate<boolean>("'hacked' in window")).toBe(false)
    expect(responses.filter((url) => url.includes('/api/models?x'))).toEqual([])
    await page.context().close()
  })

  test.each([
    { name: 'on this machine', remote: false },
    { name: 'over plain HTTP', remote: true },
  ])(
    'a table is copied as cells and an answer with its formatting, or as Markdown, $name',
    async ({ remote }) => {
      site.upstream.enqueue(turn.text(ANSWER))
      const page = await visitor.open(site.server.url, { remote })
      await say(page, 'Show me')
      const answer = page.getByRole('article', { name: 'Answer' })
      await answer.getByRole('button', { name: 'Copy as Markdown' }).waitFor()
      // The word is shown for a moment only, which may be over when a slow machine reports the click.
      const copied = answer.getByText('Copied').waitFor()
      await answer.getByRole('button', { name: 'Copy table' }).click()
      await copied
      expect(await pasted(page, 'text/plain')).toBe('City\tPeople\nTokyo, Japan\t14')
      expect(await pasted(page, 'text/html')).toMatch(
        /<td[^>]*><strong>Tokyo<\/strong>, Japan<\/td>/,
      )

      await answer.getByRole('button', { name: 'Copy', exact: true }).last().click()
      await page
        .getByRole('region', { name: /Notifications/ })
        .getByText('Copied')
        .waitFor()
      const html = await pasted(page, 'text/html')
      expect(html).toContain('print(0)\nprint(1)')
      expect(html).not.toMatch(/<button|class=|Copy table/)
      await answer.getByRole('button', { name: 'Copy as Markdown' }).click()
      await expect.poll(() => pasted(page, 'text/html')).toBe('')
      expect(await pasted(page, 'text/plain')).toContain('| **Tokyo**, Japan | 14 |')
      await leave(page)
    },
  )

  test('Python code is numbered and wraps', async () => {
    site.upstream.enqueue(turn.text(ANSWER))
    const page = await visitor.open(site.server.url)
    await say(page, 'Show me')
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
    expect(await page.locator('.code-numbered').count()).toBe(1)
    const wrap = page.getByRole('button', { name: 'Wrap lines' }).last()
    expect(await page.locator('.code-numbered').evaluate(isWider)).toBe(true)
    await wrap.click()
    expect(await wrap.getAttribute('aria-pressed')).toBe('true')
    await expect.poll(() => page.locator('.code-numbered').evaluate(isWider)).toBe(false)
    await leave(page)
  })
})
