// Several answers to one question: two models side by side, and the overview of the branches.
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import {
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
  say,
} from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { chunk, dataLine, turn } from '../support/provider/upstream-turns.ts'
import { openEvents } from '../support/server/events.ts'

/** A promise that ends an answer of the scripted model, and what resolves it. */
function createGate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** The parts of a stream with a long list. */
const linesOf = (word: string): string[] =>
  Array.from({ length: 80 }, (_, at) => dataLine(chunk({ content: `- ${word} ${at}\n` })))

/** Whether the element is within the visible part of its column. */
async function isInView(column: Locator, element: Locator): Promise<boolean> {
  const [outer, inner] = [await column.boundingBox(), await element.boundingBox()]
  if (outer === null || inner === null) return false
  const end = Math.min(outer.y + outer.height, 800)
  return inner.y >= outer.y && inner.y + inner.height <= end
}

describeInBrowser('branches', (visitor) => {
  const on = usePageServer(visitor)

  test('two models answer one message side by side, one is chosen, and the branch overview leads back to the other', async () => {
    const model = { id: 'other', name: 'Another one', api_url: on.upstream.url, api_key: 'k' }
    await on.server.call('POST', '/api/admin/models', { body: model })
    const [first, second] = [createGate(), createGate()]
    on.upstream.enqueueFor(
      { model: 'scripted' },
      turn.text('Blue, I say.', { until: first.opened }),
    )
    on.upstream.enqueueFor(
      { model: 'other' },
      turn.raw([
        ...linesOf('Green'),
        { until: second.opened },
        ...linesOf('at last'),
        dataLine(chunk({}, 'stop')),
        dataLine('[DONE]'),
      ]),
    )
    const page = await visitor.open(on.server.url)
    await page.getByRole('button', { name: 'Add files and options' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Compare two models' }).click()
    await page.keyboard.press('Escape')
    // Both are chosen beside each other.
    await page.getByRole('button', { name: 'Model: Scripted' }).waitFor()
    await page.getByRole('button', { name: 'Compared with: Another one' }).waitFor()
    await say(page, 'Which colour?')
    const pair = page.getByRole('region', { name: 'Two answers side by side' })
    const one = pair.getByRole('region', { name: 'Scripted' }).first()
    const other = pair.getByRole('region', { name: 'Another one' }).first()

    // The second answer grows while the first has not begun, and its end is in view.
    await other.getByText('Green 79').waitFor()
    await expect.poll(() => isInView(other, other.getByText('Green 79'))).toBe(true)
    expect(await one.getByText('Blue').count()).toBe(0)
    // Nothing of a column is behind the message field.
    const spaceBelow = async () => {
      const column = await other.boundingBox()
      const field = await page.locator('.composer-tools').locator('..').boundingBox()
      return (field?.y ?? 0) - (column?.y ?? 0) - (column?.height ?? 0)
    }
    await expect.poll(spaceBelow).toBeGreaterThan(0)
    // A reload finds both again, and each is stopped on its own.
    await page.reload()
    await other.getByText('Green 79').waitFor()
    await other.getByRole('button', { name: 'Stop', exact: true }).waitFor()
    first.open()
    await one.getByText('Blue, I say.').waitFor()
    await one.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })
    // What is written meanwhile waits for both.
    await say(page, 'And why?')
    const queue = page.getByRole('region', { name: 'Queued messages' })
    await queue.getByText('And why?').waitFor()
    await queue.getByRole('button', { name: 'Remove' }).click()
    second.open()
    await other.getByText('at last 79').waitFor()
    await expect.poll(() => isInView(other, other.getByText('at last 79'))).toBe(true)
    await other.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })
    expect(on.upstream.requests.at(-1)?.messages.at(-1)?.content).toContain('Which colour?')
    // What happens to who does not choose stands above the edge that fades into the message field.
    const fadesBelow = async (): Promise<number> => {
      const hint = await page.getByText('without choosing').boundingBox()
      const field = await page.locator('.composer-tools').locator('..').boundingBox()
      return (field?.y ?? 0) - (hint?.y ?? 0) - (hint?.height ?? 0)
    }
    await expect.poll(fadesBelow).toBeGreaterThan(16)
    await page.reload()
    await one.getByText('Blue, I say.').waitFor()
    await other.getByRole('button', { name: 'Continue with this answer' }).waitFor()
    await expectAccessible(page)

    await page.setViewportSize({ width: 390, height: 800 })
    const tab = pair.getByRole('tab', { name: 'Scripted' })
    await expect.poll(() => tab.getAttribute('aria-selected')).toBe('true')
    await pair.getByText('Blue, I say.').waitFor()
    await tab.press('ArrowRight')
    const end = pair.getByText('at last 79')
    await end.scrollIntoViewIfNeeded()
    // At the end of a long answer, the way to the other one is still there.
    await expect.poll(() => isInView(page.getByLabel('Messages', { exact: true }), tab)).toBe(true)
    await pair.getByRole('button', { name: 'Continue with this answer' }).click()
    await pair.waitFor({ state: 'detached' })
    await page.getByText('at last 79').waitFor()
    expect(await page.getByText('Blue, I say.').count()).toBe(0)

    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('button', { name: 'Version 2 of 2. Show all branches' }).click()
    const tree = page.getByRole('tree', { name: 'Branches' })
    const current = tree.getByRole('treeitem', { name: /shown now/ })
    await current.and(page.locator(':focus')).waitFor()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.getByText('Blue, I say.').waitFor()
    expect(await page.getByText('at last 79').count()).toBe(0)
    await leave(page)
  })

  test('of two answers, another model takes the place of the one that does not come, and the other one goes on', async () => {
    const add = (id: string, name: string) =>
      on.server.call('POST', '/api/admin/models', {
        body: { id, name, api_url: on.upstream.url, api_key: 'k' },
      })
    await add('slow', 'Slow')
    await add('spare', 'Spare')
    const first = createGate()
    on.upstream.enqueueFor({ model: 'slow' }, turn.error(429, 'slow down', { 'retry-after': '45' }))
    on.upstream.enqueueFor({ model: 'spare' }, turn.text('Green, of course.'))
    on.upstream.enqueueFor({ model: 'scripted' }, turn.text('Blue.', { until: first.opened }))
    const page = await visitor.open(on.server.url)
    await page.getByRole('button', { name: 'Add files and options' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Compare two models' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^Compared with: / }).click()
    await page.getByRole('option', { name: /^Slow/ }).click()
    await say(page, 'Which colour?')
    const pair = page.getByRole('region', { name: 'Two answers side by side' })
    await pair.getByRole('button', { name: 'Use another model' }).click()
    await page.getByRole('menuitemradio', { name: 'Spare' }).click()
    await pair.getByRole('region', { name: 'Spare' }).first().waitFor()
    await pair.getByText('Green, of course.').waitFor()
    first.open()
    await pair.getByText('Blue.').waitFor()
    await leave(page)
  })

  test('on a phone, the names of two compared models can be read', async () => {
    const model = { name: 'DeepSeek Chat', api_url: on.upstream.url, api_key: 'k' }
    await on.server.call('POST', '/api/admin/models', { body: { ...model, id: 'long' } })
    const page = await visitor.open(on.server.url, { phone: true })
    await page.getByRole('button', { name: 'Add files and options' }).tap()
    await page.getByRole('menuitemcheckbox', { name: 'Compare two models' }).tap()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^Compared with: / }).tap()
    await page.getByRole('option', { name: /^DeepSeek Chat/ }).tap()
    const name = page.getByRole('button', { name: 'Compared with: DeepSeek Chat' })
    await name.waitFor()
    const shown = await name
      .getByText('DeepSeek Chat')
      .evaluate<number, { scrollWidth: number; clientWidth: number }>(
        ({ scrollWidth, clientWidth }) => clientWidth / scrollWidth,
      )
    // Beside the buttons of the line, among them the one to dictate.
    expect(shown).toBeGreaterThan(0.85)
    await expectNoScrolling(page)
    await leave(page)
  })

  test('what an answer that is not shown asks for can be decided above the message field', async () => {
    const { call } = on.server
    const project = await call('POST', '/api/projects', { body: { name: 'Colours' } })
    const { json } = await call('POST', '/api/conversations', {
      body: { project_id: project.json.data.id },
    })
    const { id } = json.data
    on.upstream.enqueue(turn.text('Blue.'))
    await call('POST', `/api/conversations/${id}/messages`, {
      body: { text: 'Which colour?', stream: false },
    })
    const shown = await call('GET', `/api/conversations/${id}/messages`)
    const write = { name: 'file_write', arguments: { path: 'a.txt', content: 'green' } }
    on.upstream.enqueue(turn.toolCalls([write]), turn.text('Written.'))
    // Another device requests it and never shows it here.
    const path = `/api/conversations/${id}/regenerate/${shown.json.data.items.at(-1).id}`
    const answered = await openEvents(`${on.server.url}${path}`, { body: { beside: true } })
    await expect
      .poll(async () => (await call('GET', `/api/conversations/${id}`)).json.data.active_run_status)
      .toBe('awaiting_approval')
    const page = await visitor.open(`${on.server.url}/c/${id}`)
    await page.getByText('Blue.').waitFor()
    const waiting = page.getByRole('region', { name: 'The agent is waiting for you.' })
    await waiting.getByRole('button', { name: 'Approve', exact: true }).click()
    await waiting.waitFor({ state: 'detached' })
    expect((await answered.all()).at(-1)?.event).toBe('done')
    await leave(page)
  })

  test('a second answer that may not be written at the same time follows the first', async () => {
    const body = { id: 'later', name: 'Later', api_url: on.upstream.url, api_key: 'k' }
    await on.server.call('POST', '/api/admin/models', { body })
    const first = createGate()
    on.upstream.enqueueFor(
      { model: 'scripted' },
      turn.text('Blue, I say.', { until: first.opened }),
    )
    on.upstream.enqueueFor({ model: 'later' }, turn.text('Green, of course.'))
    const page = await visitor.open(on.server.url)
    let refused = 0
    await page.route('**/regenerate/**', async (route) => {
      refused += 1
      if (refused > 1) return route.fallback()
      await route.fulfill({
        status: 429,
        json: { code: 'too_many_runs', reason: 'runs_exhausted', message: 'Too many.' },
      })
    })
    await page.getByRole('button', { name: 'Add files and options' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Compare two models' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^Compared with: / }).click()
    await page.getByRole('option', { name: /^Later/ }).click()
    await say(page, 'Which colour?')
    const pair = page.getByRole('region', { name: 'Two answers side by side' })
    await pair.getByText('Answers as soon as the first answer is complete.').waitFor()
    first.open()
    await pair.getByText('Green, of course.').waitFor()
    await pair.getByText('Blue, I say.').waitFor()
    expect(refused).toBe(2)
    await leave(page)
  })

  test('on a right-to-left page, the arrow to the left leads into the branches that fork, and the one to the right leads out', async () => {
    on.upstream.enqueue(turn.text('A first answer.'), turn.text('A second answer.'))
    const page = await visitor.open(on.server.url)
    await say(page, 'A question.')
    await page.getByText('A first answer.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).last().click()
    await page.getByText('A second answer.').waitFor()
    await page.evaluate("document.documentElement.dir = 'rtl'")
    await page.getByRole('button', { name: 'Version 2 of 2. Show all branches' }).click()
    const items = page.getByRole('treeitem')
    const focused = page.locator('[role=treeitem]:focus')
    await focused.waitFor()
    await page.keyboard.press('Home')
    await items.first().and(focused).waitFor()
    await page.keyboard.press('ArrowRight')
    await items.first().and(focused).waitFor()
    await page.keyboard.press('ArrowLeft')
    await items.nth(1).and(focused).waitFor()
    await page.keyboard.press('ArrowRight')
    await items.first().and(focused).waitFor()
    // The indent is on the right.
    const edge = async (at: number) => {
      const box = await items.nth(at).boundingBox()
      return box === null ? 0 : box.x + box.width
    }
    expect(await edge(1)).toBeLessThan(await edge(0))
    await leave(page)
  })
})
