// The chat by keyboard alone: where the focus is after messages are replaced, and continuing an answer that was cut off.
import type { Page } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { composer, describeInBrowser, leave, say, visit } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

/** The accessible name of what has the focus, or its id; "body" when the focus is lost. */
const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(
    "document.activeElement === document.body ? 'body' : document.activeElement.id === 'composer' ? 'composer' : document.activeElement.getAttribute('aria-label')",
  )

const expectFocus = (page: Page, name: string): Promise<void> =>
  expect.poll(() => focused(page)).toBe(name)

describeInBrowser('the chat by keyboard', (visitor) => {
  const on = usePageServer(visitor)
  beforeEach(() => on.upstream.reset())

  test('after sending an edit the focus is in the message field, and after switching or choosing a branch it stays where it was', async () => {
    on.upstream.enqueue(turn.text('It is blue.'), turn.text('It is green.'))
    const page = await visitor.open(on.server.url)
    await say(page, 'Which colour is the sky?')
    await page.getByText('It is blue.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()

    const edit = page.getByRole('button', { name: 'Edit', exact: true })
    await edit.press('Enter')
    await page.getByRole('textbox', { name: 'Edit' }).press('Escape')
    await expectFocus(page, 'Edit')
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Edit' }).fill('Which colour is grass?')
    await page.keyboard.press('Control+Enter')
    await page.getByText('It is green.').waitFor()
    await expectFocus(page, 'composer')

    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    await page.getByRole('button', { name: 'Previous version' }).press('Enter')
    await page.getByText('It is blue.').waitFor()
    await expectFocus(page, 'Version 1 of 2. Show all branches')
    await page.keyboard.press('Enter')
    const tree = page.getByRole('tree', { name: 'Branches' })
    await tree
      .getByRole('treeitem', { name: /shown now/ })
      .and(page.locator(':focus'))
      .waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByText('It is green.').waitFor()
    await expectFocus(page, 'Version 2 of 2. Show all branches')
    await leave(page)
  })

  test('hiding and showing the sidebar leaves the focus on the button for the way back', async () => {
    const page = await visitor.open(on.server.url)
    await page.getByRole('button', { name: 'Hide sidebar' }).press('Enter')
    await expectFocus(page, 'Show sidebar')
    await page.keyboard.press('Enter')
    await expectFocus(page, 'Hide sidebar')
    await leave(page)
  })

  test('on a phone, closing the drawer leaves the focus on the button that opens it, and a new answer keeps it in the view', async () => {
    on.upstream.enqueue(turn.text('One.'), turn.text('Two.'))
    const page = await visitor.open(on.server.url, { phone: true })
    await page.getByRole('button', { name: 'Show sidebar' }).press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expectFocus(page, 'Show sidebar')

    await page.getByRole('button', { name: 'Show sidebar' }).press('Enter')
    await page.getByRole('dialog').getByRole('link', { name: 'Memory' }).press('Enter')
    await page.getByRole('heading', { name: 'Memory' }).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expectFocus(page, 'Show sidebar')

    await visit(page, '/')
    await say(page, 'Count.')
    await page.getByText('One.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).press('Enter')
    await page.getByText('Two.').waitFor()
    await expect.poll(() => focused(page)).not.toBe('body')
    await leave(page)
  })

  test('a view that is opened by a button of the view before has the focus', async () => {
    const page = await visitor.open(`${on.server.url}/settings/models`)
    await page.getByRole('button', { name: 'Add', exact: true }).press('Enter')
    await page.getByRole('heading', { name: 'Connect a provider' }).waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main')
    const provider = page.getByRole('button', { name: 'OpenAI' })
    await provider.waitFor()
    await page.keyboard.press('Tab')
    await provider.and(page.locator(':focus')).waitFor()
    await leave(page)
  })

  test('an edited and a regenerated answer keep the focus', async () => {
    on.upstream.enqueue(turn.text('Bonn.'), turn.text('Berlin.'))
    const page = await visitor.open(on.server.url)
    await say(page, 'What is the capital?')
    const more = page.getByRole('button', { name: 'More actions' })
    await more.waitFor()
    const openEditor = async (): Promise<void> => {
      await more.press('Enter')
      await page.getByRole('menuitem', { name: 'Edit text' }).press('Enter')
      await page.getByRole('textbox', { name: 'Edit' }).and(page.locator(':focus')).waitFor()
    }
    await openEditor()
    await page.keyboard.press('Escape')
    await expectFocus(page, 'More actions')
    await openEditor()
    await page.keyboard.type(' Was it?')
    await page.keyboard.press('Control+Enter')
    await page.getByText('Edited by you').waitFor()
    await expectFocus(page, 'More actions')
    await page.getByRole('button', { name: 'Regenerate' }).press('Enter')
    await page.getByText('Berlin.').waitFor()
    await expect.poll(() => focused(page)).not.toBe('body')
    await leave(page)
  })

  test('editing or removing a queued message moves the focus to where the user continues', async () => {
    const whole = turn.text('An endless story.', { chunkSize: 4 })
    const never = new Promise<void>(() => undefined)
    on.upstream.enqueue({
      ...whole,
      actions: [...whole.actions.slice(0, 3), { until: never }, ...whole.actions.slice(3)],
    })
    const page = await visitor.open(on.server.url)
    await say(page, 'Tell me a story.')
    await page.getByText('An end').waitFor()
    await say(page, 'A mistake')
    await say(page, 'A question')
    const remove = page.getByRole('button', { name: 'Remove from queue' })
    await remove.nth(1).waitFor()
    await remove.first().press('Enter')
    await page.getByText('A mistake').waitFor({ state: 'detached' })
    await expectFocus(page, 'Remove from queue')
    await page.getByRole('button', { name: 'Edit queued message' }).press('Enter')
    await page.getByRole('textbox', { name: 'Edit queued message' }).press('Escape')
    await expectFocus(page, 'Edit queued message')
    await remove.press('Enter')
    await expectFocus(page, 'composer')
    await composer(page).press('Escape')
    await page.getByText('Stopped.').waitFor()
    await leave(page)
  })

  test('an answer that the output limit cut off says so and can be continued', async () => {
    on.upstream.enqueue(
      turn.text('The first half', { finishReason: 'length' }),
      turn.text('and the second.'),
    )
    const page = await visitor.open(on.server.url)
    await say(page, 'Tell me everything.')
    const notice = page.getByText('The answer was cut off at the model’s output limit.')
    await notice.waitFor()
    await page.reload()
    await notice.waitFor()
    await page.getByRole('button', { name: 'Continue', exact: true }).press('Enter')
    await page.getByText('and the second.').waitFor()
    // It has been continued, without a visible question.
    expect(await page.getByRole('article', { name: 'Your message' }).count()).toBe(1)
    await notice.waitFor({ state: 'detached' })
    expect(await page.getByRole('button', { name: 'Continue', exact: true }).count()).toBe(0)
    await leave(page)
  })

  test('an answer that failed before its first word offers nothing that needs a text', async () => {
    on.upstream.enqueue(turn.error(401, 'bad key'))
    const page = await visitor.open(on.server.url)
    await say(page, 'Will this work?')
    const answer = page.getByRole('article', { name: 'Answer' })
    await answer.getByRole('alert').getByRole('button', { name: 'Regenerate' }).waitFor()
    for (const name of ['Continue', 'Copy', 'Copy as Markdown', 'Good answer'])
      expect(await answer.getByRole('button', { name, exact: true }).count()).toBe(0)
    await leave(page)
  })

  test('asking for a second answer moves the focus to the choice of its model, also on a phone', async () => {
    on.upstream.enqueue(turn.text('Bonn.'), turn.text('Berlin.'))
    const page = await visitor.open(on.server.url, { phone: true })
    await say(page, 'What is the capital?')
    await page.getByRole('button', { name: 'Regenerate' }).click()
    await page.getByText('Berlin.').waitFor()
    const more = page.getByRole('button', { name: 'More actions' })
    await more.press('Enter')
    // Also the first time, when that key loads the code of the menus.
    await page.getByRole('menuitem').first().and(page.locator(':focus')).waitFor()
    await page.getByRole('menuitem', { name: 'Compare with another model' }).press('Enter')
    await page.getByRole('button', { name: 'Version 1' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('Bonn.').waitFor()
    await page.getByRole('tabpanel').and(page.locator(':focus')).waitFor()
    await leave(page)
  })
})
