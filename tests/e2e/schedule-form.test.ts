// The form of a schedule in a browser: what its buttons say, and in which form it writes times.
import { expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, leave } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'

describeInBrowser('the form of a schedule', (visitor) => {
  const on = usePageServer(visitor)

  test('a time stands in the field as the page writes times, whatever the language of the browser, and is edited as the browser does', async () => {
    const page = await visitor.open(`${on.server.url}/schedules`, { language: 'de-DE' })
    await page.getByRole('button', { name: 'Neuer Zeitplan' }).click()
    const dialog = page.getByRole('dialog', { name: 'Neuer Zeitplan' })
    const time = dialog.getByLabel('Uhrzeit')
    await time.fill('18:05')
    // This browser writes 06:05 PM.
    await dialog.getByText('18:05', { exact: true }).waitFor({ state: 'hidden' })
    await dialog.getByLabel('Name').focus()
    await dialog.getByText('18:05', { exact: true }).waitFor()
    await dialog.getByLabel('Wann').selectOption('once')
    await time.fill('2031-12-02T08:30')
    await dialog.getByLabel('Name').fill('Bericht')
    await dialog.getByText('02.12.2031, 08:30', { exact: true }).waitFor()
    await expectAccessible(page)
    await dialog.getByLabel('Was zu tun ist').fill('Schreib ihn.')
    await dialog.getByRole('button', { name: 'Speichern', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await leave(page)
  })

  test('a schedule whose times are those of another zone names it beside them', async () => {
    const make = (name: string, tz: string) =>
      on.server.call('POST', '/api/schedules', {
        body: { name, text: 'Look.', when: { cron: '0 8 * * *', tz } },
      })
    const page = await visitor.open(on.server.url)
    const own = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
    const other = own === 'Asia/Tokyo' ? 'Europe/Berlin' : 'Asia/Tokyo'
    await make('Far report', other)
    await make('Near report', own)
    await page.goto(`${on.server.url}/schedules`)
    const far = page.getByRole('listitem').filter({ hasText: 'Far report' })
    await far.getByText(other).waitFor()
    const near = page.getByRole('listitem').filter({ hasText: 'Near report' })
    await near.getByText('next').waitFor()
    expect(await near.getByText(own, { exact: true }).count()).toBe(0)
    await leave(page)
  })

  test('the form of a stored schedule has its name as title, and a button that saves it', async () => {
    await on.server.call('POST', '/api/schedules', {
      body: { name: 'News', text: 'Look.', when: { cron: '0 8 * * *', tz: 'Europe/Berlin' } },
    })
    const page = await visitor.open(`${on.server.url}/schedules`)
    await page.getByRole('button', { name: 'Edit News' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit News' })
    await dialog.getByLabel('Name').fill('Morning news')
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Edit Morning news' }).waitFor()
    expect(await dialog.count()).toBe(0)
    await leave(page)
  })
})
