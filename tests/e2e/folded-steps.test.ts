// The steps of an answer: finished ones fold into one line; what failed stays in view.
import { expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, leave, say } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

const sum = (expression: string) => ({ name: 'calculator', arguments: { expression } })

describeInBrowser('the steps of an answer', (visitor) => {
  const on = usePageServer(visitor)

  test('finished steps fold into one line with their number, and a failed one between them stays a row', async () => {
    on.upstream.enqueue(
      turn.toolCalls([sum('1 + 1'), sum('2 + 2'), sum('3 + 3'), sum('4 +')]),
      turn.toolCalls([sum('5 + 5')]),
      turn.text('All added.'),
    )
    const page = await visitor.open(on.server.url)
    await say(page, 'Add.')
    await page.getByText('All added.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    const answer = page.getByRole('article', { name: 'Answer' })
    const line = answer.getByRole('button', { name: /^3 steps/ })
    await line.waitFor()
    await answer.getByText('4 +', { exact: true }).waitFor()
    await answer.getByText('5 + 5', { exact: true }).waitFor()
    expect(await answer.getByText('1 + 1', { exact: true }).count()).toBe(0)
    await expectAccessible(page)
    await line.click()
    for (const expression of ['1 + 1', '2 + 2', '3 + 3'])
      await answer.getByText(expression, { exact: true }).waitFor()
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/folded.png` })
    await leave(page)
  })

  test('a row that was unfolded stays in view when its group folds, and figures are in the menu unless they are wanted below', async () => {
    let open = (): void => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    on.upstream.enqueue(
      turn.toolCalls([sum('1 + 1'), sum('2 + 2')]),
      turn.toolCalls([sum('3 + 3'), sum('4 + 4')], { until: gate }),
      turn.text('All added.'),
    )
    const page = await visitor.open(on.server.url)
    await say(page, 'Add.')
    const answer = page.getByRole('article', { name: 'Answer' })
    const row = answer.getByRole('button', { name: /2 \+ 2/ })
    await row.click()
    await expect.poll(() => row.getAttribute('aria-expanded')).toBe('true')
    open()
    await page.getByText('All added.').waitFor()
    await answer.getByRole('button', { name: /^4 steps/ }).waitFor()
    await expect.poll(() => row.getAttribute('aria-expanded')).toBe('true')

    const figures = page.getByText(/^\d+ tokens?\b/)
    await answer.getByRole('button', { name: 'More actions' }).waitFor()
    expect(await figures.count()).toBe(0)
    await answer.getByRole('button', { name: 'More actions' }).click()
    await page
      .getByRole('menu')
      .getByText(/^\d+ tokens?\b/)
      .waitFor()
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/figures.png` })
    await leave(page)
  })
})
