// Several answers to one question: two models side by side, and the overview of the branches.
import { expect, test } from 'vitest'
import { describeInBrowser, leave, say } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

describeInBrowser('branches', (visitor) => {
  const on = usePageServer(visitor)

  test('two models answer one message side by side, one is chosen, and the branch overview leads back to the other', async () => {
    const other = { id: 'other', name: 'Another one', api_url: on.upstream.url, api_key: 'k' }
    await on.server.call('POST', '/api/admin/models', { body: other })
    let open = (): void => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    on.upstream.enqueueFor({ model: 'scripted' }, turn.text('Blue, I say.', { until: gate }))
    on.upstream.enqueueFor({ model: 'other' }, turn.text('Green, of course.'))
    const page = await visitor.open(on.server.url)
    await page.getByRole('button', { name: 'Add files and options' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Compare two models' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Comparing with Another one' }).waitFor()
    await say(page, 'Which colour?')
    const pair = page.getByRole('region', { name: 'Two answers side by side' })
    await pair.getByText('Answers as soon as the first answer is complete.').waitFor()
    open()
    const second = pair.getByRole('region', { name: 'Another one' })
    await second.getByText('Green, of course.').waitFor()
    const first = pair.getByRole('region', { name: 'Scripted' })
    await first.getByText('Blue, I say.').waitFor()
    expect(on.upstream.requests.at(-1)?.messages.at(-1)?.content).toContain('Which colour?')
    await page.reload()
    await first.getByText('Blue, I say.').waitFor()

    await page.setViewportSize({ width: 390, height: 800 })
    const tab = pair.getByRole('tab', { name: 'Another one' })
    await expect.poll(() => tab.getAttribute('aria-selected')).toBe('true')
    await tab.press('ArrowLeft')
    await pair.getByText('Blue, I say.').waitFor()
    await pair.getByRole('button', { name: 'Continue with this answer' }).click()
    await pair.waitFor({ state: 'detached' })
    await page.getByText('Blue, I say.').waitFor()
    expect(await page.getByText('Green, of course.').count()).toBe(0)

    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('button', { name: 'Version 1 of 2. Show all branches' }).click()
    const tree = page.getByRole('tree', { name: 'Branches' })
    const current = tree.getByRole('treeitem', { name: /Blue, I say\..*shown now/ })
    await current.and(page.locator(':focus')).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByText('Green, of course.').waitFor()
    expect(await page.getByText('Blue, I say.').count()).toBe(0)
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
