// The page of what waits for the reader: requests of all conversations, decided there, with their count beside it.
import { expect, test } from 'vitest'
import {
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
} from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { openEvents } from '../support/server/events.ts'

describeInBrowser('what waits for the reader', (visitor) => {
  const on = usePageServer(visitor)

  /** A conversation whose run waits for permission to write a file. */
  async function waitingConversation(project: string, path: string) {
    on.upstream.enqueue(
      turn.toolCalls([{ name: 'file_write', arguments: { path, content: 'text\n' } }]),
    )
    const { json } = await on.server.call('POST', '/api/conversations', {
      body: { project_id: project, title: `About ${path}` },
    })
    const stream = await openEvents(`${on.server.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Go', on_disconnect: 'continue' },
    })
    await stream.next(({ event }) => event === 'approval_required')
    return stream
  }

  test('the conversations of a project say which of them waits for a decision', async () => {
    const project = await on.createProject('Undecided', {})
    const stream = await waitingConversation(project, 'later.txt')
    const page = await visitor.open(`${on.server.url}/projects/${project}`)
    await page.getByRole('tab', { name: 'Conversations' }).click()
    const row = page.getByRole('main').getByRole('link', { name: /^About later\.txt/ })
    await row.getByText('waiting for your approval').waitFor()
    on.upstream.enqueue(turn.text('Left.'))
    const { json } = await on.server.call('GET', '/api/approvals')
    const [request] = json.data.items
    await on.server.call('POST', `/api/runs/${request.run_id}/approvals`, {
      body: { id_ref: request.id_ref, decision: 'reject' },
    })
    await stream.all()
    await leave(page)
  })

  test('requests of several conversations are listed with their count, decided on the page, and kept with the decision', async () => {
    const project = await on.createProject('Waiting', {})
    const page = await visitor.open(on.server.url)
    const link = page.getByRole('link', { name: /Waiting for you/ })
    await link.waitFor()
    const first = await waitingConversation(project, 'first.txt')
    const second = await waitingConversation(project, 'second.txt')
    await page.getByText('2 requests wait for you').waitFor({ state: 'attached' })
    await link.click()
    await page.getByRole('heading', { name: 'Waiting for you' }).waitFor()
    const card = (path: string) => page.getByRole('group', { name: `Create ${path}` })
    await card('second.txt').getByText('text').first().waitFor()
    await card('first.txt').waitFor()
    // Nothing is decided by a shortcut that was meant for something else.
    expect(await page.locator('[data-approval]:focus').count()).toBe(0)
    await expectAccessible(page)
    await expectNoScrolling(page)

    on.upstream.enqueue(turn.text('Written.'))
    await card('first.txt').getByRole('button', { name: 'Approve' }).click()
    await first.all()
    await card('first.txt').waitFor({ state: 'detached' })
    await page.getByText('1 request waits for you').waitFor({ state: 'attached' })
    expect(await on.readFile(project, 'first.txt')).toBe('text\n')

    // A decision elsewhere removes the card here, too.
    on.upstream.enqueue(turn.text('Left.'))
    const { json } = await on.server.call('GET', '/api/approvals')
    const [request] = json.data.items
    await on.server.call('POST', `/api/runs/${request.run_id}/approvals`, {
      body: { id_ref: request.id_ref, decision: 'reject', reason: 'not needed' },
    })
    await second.all()
    await page.getByText('Nothing waits for you').waitFor()
    await page.getByRole('radio', { name: 'Decided' }).click()
    await page.getByText('Create second.txt?').waitFor()
    await page.getByText('“not needed”').waitFor()
    await page.getByText('Approved').waitFor()
    await page.getByRole('link', { name: 'About first.txt', exact: true }).click()
    await page.getByText('Written.').waitFor()
    await leave(page)
  })

  test.each([
    ['by touch', true],
    ['with the keyboard', false],
  ] as const)('the last decision, %s, leaves the focus in the view', async (how, phone) => {
    const project = await on.createProject(`Last ${how}`, {})
    const stream = await waitingConversation(project, 'last.txt')
    const page = await visitor.open(`${on.server.url}/waiting`, { phone })
    on.upstream.enqueue(turn.text('Written.'))
    const approve = page
      .getByRole('group', { name: 'Create last.txt' })
      .getByRole('button', { name: 'Approve' })
    if (phone) await approve.tap()
    else await approve.press('Enter')
    await stream.all()
    await page.getByText('Nothing waits for you').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main')
    await leave(page)
  })
})
