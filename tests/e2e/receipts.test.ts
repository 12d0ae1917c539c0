// What an answer planned, did and cites, as a person sees it: a checklist, a quiet line that unfolds, quotes that open.
import { expect, test } from 'vitest'
import {
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
  say,
} from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

describeInBrowser('what an answer did', (visitor) => {
  const on = usePageServer(visitor)
  const plan = (...states: string[]) => ({
    name: 'plan',
    arguments: {
      items: states.map((state, index) => ({ id: `${index}`, text: `Part ${index + 1}`, state })),
    },
  })

  test('its plan is changed while it works, its receipt unfolds with the change of a file, and its quote opens the passage', async () => {
    const id = await on.createProject('Receipts', { 'report.md': 'Costs fell by half.\n' })
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    on.upstream.enqueue(
      turn.toolCalls([plan('done', 'doing')]),
      turn.toolCalls([{ id: 'read', name: 'file_read', arguments: { path: 'report.md' } }], {
        until: released,
      }),
      turn.toolCalls([
        { name: 'cite', arguments: { source: 'read', quote: 'Costs fell by half.' } },
        { id: 'edit', name: 'file_write', arguments: { path: 'new.md', content: 'one\ntwo\n' } },
        { name: 'file_read', arguments: { path: 'missing.md' } },
      ]),
      turn.text('I have changed nothing at all. Costs fell [c1].'),
    )
    const page = await visitor.open(`${on.server.url}/?project=${id}`)
    await page.getByRole('button', { name: 'Project: Receipts' }).waitFor()
    await say(page, 'Sum it up.')
    const checklist = page.getByRole('region', { name: 'Plan' })
    await checklist.getByText('1 of 2 done').waitFor()
    await expectAccessible(page)
    await checklist.getByRole('button', { name: 'Edit plan' }).click()
    await page.getByLabel('Step 2', { exact: true }).fill('Only this part')
    await checklist.getByRole('button', { name: 'Save' }).click()
    await checklist.getByText('Only this part').waitFor()
    await checklist.getByText('Changed by').waitFor()
    release()
    await page.getByRole('button', { name: 'Approve', exact: true }).first().click()
    const receipt = page.getByRole('region', { name: 'What was done' })
    const line = receipt.getByRole('button', { name: /1 file changed/ })
    await line.waitFor()
    expect(await line.textContent()).toContain('1 failed step not put right')
    await line.click()
    await receipt.getByText('new.md').waitFor()
    await expectAccessible(page)
    await page.setViewportSize({ width: 390, height: 844 })
    await expectNoScrolling(page)
    await receipt.getByRole('button', { name: 'Show change' }).click()
    await page.getByRole('dialog').getByText('two').waitFor()
    await page.keyboard.press('Escape')
    // From its mark in the text, and from the list below the answer.
    for (const place of ['.cite-chip', '[data-quotes] button']) {
      await page
        .locator(place)
        .and(page.getByLabel(/Open the quote c1/))
        .click()
      await page.getByRole('dialog').locator('mark').getByText('Costs fell by half.').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    }
    await leave(page)
  })

  test('its receipt leads to each schedule that it made, and to the list once one is deleted', async () => {
    const made = (name: string) => ({
      name: 'schedule_create',
      arguments: { name, text: 'Look.', when: { cron: '0 9 1 1 *', tz: 'UTC' } },
    })
    on.upstream.enqueue(
      turn.toolCalls([made('Look at prices'), made('Look at mails')]),
      turn.text('Both are set up.'),
    )
    const { json } = await on.server.call('POST', '/api/conversations', {
      body: { approval: 'auto' },
    })
    const page = await visitor.open(`${on.server.url}/c/${json.data.id}`)
    await say(page, 'Look at both each year.')
    const receipt = page.getByRole('region', { name: 'What was done' })
    await receipt.getByRole('button').first().click()
    await receipt.getByRole('link', { name: 'Look at mails' }).waitFor()
    await receipt.getByRole('link', { name: 'Look at prices' }).click()
    const heading = page.getByRole('heading', { name: 'Look at prices' })
    await heading.and(page.locator(':focus')).waitFor()

    const { items } = (await on.server.call('GET', '/api/schedules')).json.data
    const gone = items.find(({ name }: { name: string }) => name === 'Look at mails')
    await on.server.call('DELETE', `/api/schedules/${gone.id}`)
    await page.goBack()
    await receipt.getByRole('button').first().click()
    await receipt.getByRole('link', { name: 'Look at prices' }).waitFor()
    await receipt.getByRole('link', { name: 'Schedules', exact: true }).waitFor()
    await leave(page)
  })
})
