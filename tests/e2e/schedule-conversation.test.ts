// The conversation of a schedule: it says when the next time is, and folds runs with nothing to report.
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { describeInBrowser, expectAccessible, leave } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

describeInBrowser('the conversation of a schedule', (visitor) => {
  const on = usePageServer(visitor, {
    public_url: 'https://claw.example.org',
    schedules: { max_per_user: 100 },
  })

  test('a run with nothing to report is one line that opens, below what the schedule did last and does next', async () => {
    on.upstream.program(({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? turn.text('Nothing.')
        : turn.toolCalls([
            { id: 'quiet', name: 'nothing_to_report', arguments: { reason: 'All is well.' } },
          ]),
    )
    const call = async (method: string, path: string, body?: unknown) =>
      (await on.server.call(method, path, body === undefined ? {} : { body })).json.data
    const schedule = await call('POST', '/api/schedules', {
      name: 'Morning news',
      text: 'Look for news.',
      when: { cron: '0 8 * * *', tz: 'Europe/Berlin' },
      quiet: true,
    })
    await call('POST', `/api/schedules/${schedule.id}/run`)
    const id = await eventually(async () => {
      const { last } = await call('GET', `/api/schedules/${schedule.id}`)
      expect(last).toMatchObject({ state: 'quiet' })
      return last.conversation_id
    })
    const page = await visitor.open(`${on.server.url}/c/${id}`)
    const line = page.getByRole('complementary', { name: 'Schedule of this conversation' })
    await line.getByRole('link', { name: 'Morning news' }).waitFor()
    await line.getByText('Nothing to report', { exact: false }).waitFor()
    await line.getByText('next', { exact: false }).waitFor()
    const folded = page.getByRole('button', { name: /^Nothing to report, / })
    await folded.waitFor()
    expect(await page.getByText('Look for news.').count()).toBe(0)
    await expectAccessible(page)
    await folded.click()
    await page.getByText('Look for news.').waitFor()
    await folded.click()
    expect(await page.getByText('Look for news.').count()).toBe(0)

    // All of them are newer, and above it.
    for (let at = 0; at < 60; at += 1)
      await call('POST', '/api/schedules', {
        name: `Later ${at}`,
        text: 'Go on.',
        when: { cron: '0 9 1 1 *', tz: 'UTC' },
      })
    await line.getByRole('link', { name: 'Morning news' }).click()
    const heading = page.getByRole('heading', { name: 'Morning news' })
    await heading.and(page.locator(':focus')).waitFor()
    const card = page.locator('li[aria-current]')
    expect(await card.getByRole('heading').allTextContents()).toEqual(['Morning news'])
    const box = await card.boundingBox()
    const size = page.viewportSize()
    expect(box?.y).toBeGreaterThanOrEqual(0)
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(size?.height ?? 0)
    expect(await card.getByText('Nothing to report', { exact: false }).count()).toBe(2)
    await expectAccessible(page)
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/schedule-one.png` })
    await leave(page)
  })

  test('a complete answer beyond the tokens of its schedule says so, and does not ask to be continued', async () => {
    on.upstream.reset()
    on.upstream.program(() => turn.text('It is done.'))
    const call = async (method: string, path: string, body?: unknown) =>
      (await on.server.call(method, path, body === undefined ? {} : { body })).json.data
    const { id } = await call('POST', '/api/schedules', {
      name: 'Frugal',
      text: 'Do it.',
      when: { hook: true },
      limits: { tokens: 1 },
    })
    await call('POST', `/api/schedules/${id}/run`)
    const conversation = await eventually(async () => {
      const { last } = await call('GET', `/api/schedules/${id}`)
      expect(last).toMatchObject({ state: 'stopped', reason: 'budget' })
      return last.conversation_id
    })
    const page = await visitor.open(`${on.server.url}/c/${conversation}`)
    const thread = page.getByRole('region', { name: 'Messages' })
    await thread.getByText('This answer is complete. It went beyond its token limit (1).').waitFor()
    expect(await thread.getByText('Send a new message').count()).toBe(0)
    expect(await thread.getByRole('button', { name: 'Continue' }).count()).toBe(0)
    await leave(page)
  })

  test('the list says in words why a time was skipped, and what was not as required', async () => {
    const call = async (method: string, path: string, body?: unknown) =>
      (await on.server.call(method, path, body === undefined ? {} : { body })).json.data
    let release = (): void => {}
    const until = new Promise<void>((resolve) => {
      release = resolve
    })
    on.upstream.reset()
    on.upstream.program(() => turn.text('Slow.', { until }))
    const { id } = await call('POST', '/api/schedules', {
      name: 'Deploys',
      text: 'Look at it.',
      when: { hook: true },
      overlap: 'skip',
      checks: [{ answer: 'contains', value: 'deployed' }],
    })
    await call('POST', `/api/schedules/${id}/run`)
    await eventually(async () => {
      const { last } = await call('GET', `/api/schedules/${id}`)
      expect(last?.run_id).toBeTruthy()
    })
    await call('POST', `/api/schedules/${id}/run`)
    await call('POST', `/api/schedules/${id}/run`)
    const page = await visitor.open(`${on.server.url}/schedules`)
    const card = page.getByRole('listitem').filter({ hasText: 'Look at it.' })
    await card.getByRole('button', { name: 'History' }).click()
    await card.getByText('Skipped × 2').first().waitFor()
    await card.getByText('The one before was still running.').first().waitFor()
    expect(await card.getByText('no next time').count()).toBe(0)
    await expectAccessible(page)
    release()
    await card.getByText('The answer contains · deployed').waitFor()
    await leave(page)
  })
})
