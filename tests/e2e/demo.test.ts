// The demo on a server without a model: what it suggests, and its tour.
import { expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, leave, say } from '../support/page/page.ts'
import { useServers } from '../support/server/server.ts'

describeInBrowser('the demo', (visitor) => {
  const servers = useServers()
  const start = () =>
    servers.start({ config: { titles: 'first_message' }, webRoot: visitor.webRoot() })

  test('suggests a tour that shows a table, a diagram, a program, and in a project a change that one decides and undoes', async () => {
    const server = await start()
    const { json } = await server.call('POST', '/api/projects', { body: { name: 'Trip' } })
    const page = await visitor.open(`${server.url}/?project=${json.data.id}`)
    await page.getByText('built-in demo').waitFor()
    await page.getByRole('button', { name: 'Take the tour' }).click()
    await page.getByRole('table').getByText('what went in and came out').waitFor()
    await page.getByRole('img').or(page.locator('iframe, svg')).first().waitFor()
    await page
      .getByRole('button', { name: 'Allow', exact: true })
      .or(page.getByRole('button', { name: 'Approve', exact: true }))
      .first()
      .click()
    await page.getByText('That was the tour.').waitFor()
    await page.getByText('The file is there now.').waitFor()
    // Beside a long summary, the name of the tool is whole.
    const missing = await page
      .getByText('Run Python', { exact: true })
      .first()
      .evaluate((name) => {
        const text = name.ownerDocument.createRange()
        text.selectNodeContents(name)
        return text.getBoundingClientRect().width - name.getBoundingClientRect().width
      })
    expect(missing).toBeLessThanOrEqual(0)
    await expectAccessible(page)
    const changes = await server.call('GET', `/api/projects/${json.data.id}/checkpoints`)
    // The picture of the program, and the file of the change.
    expect(changes.json.data.items.length).toBeGreaterThanOrEqual(1)
    await leave(page)
  })

  test('answers a calculation in the language that is chosen for the page, whatever the browser’s is', async () => {
    const server = await start()
    const page = await visitor.open(`${server.url}/settings/appearance`)
    await page.getByLabel('Language').selectOption('de')
    await page.getByRole('heading', { name: 'Einstellungen' }).waitFor()
    await page.goto(server.url)
    await say(page, '12 * 4')
    await page.getByText('Ich bin die eingebaute Demo').waitFor()
    await page.getByText('48', { exact: true }).waitFor()
    await leave(page)
  })

  test('on a phone, the icon of the notice that this is the demo stands in the line of its text', async () => {
    const server = await start()
    const page = await visitor.open(server.url, { phone: true })
    const notice = page.getByText('built-in demo')
    await notice.waitFor()
    const icon = await notice.locator('svg').boundingBox()
    const [line] = await notice.evaluate((element) => {
      const range = element.ownerDocument.createRange()
      range.selectNodeContents(element)
      return [...range.getClientRects()]
        .filter(({ width }) => width > 50)
        .map(({ top, bottom }) => ({ top, bottom }))
    })
    const middle = (icon?.y ?? 0) + (icon?.height ?? 0) / 2
    expect(middle).toBeGreaterThan(line?.top ?? Number.POSITIVE_INFINITY)
    expect(middle).toBeLessThan(line?.bottom ?? 0)
    await leave(page)
  })

  test.each([
    ['en-US', ['Take the tour', 'What time is it in Tokyo?', 'Do some math']],
    ['zh-CN', ['看看导览', '北京时间', '做一道算术题']],
  ] as const)('suggests in %s only what it can do here', async (language, suggestions) => {
    const server = await start()
    const page = await visitor.open(server.url, { language })
    const buttons = page.locator('ul[aria-label] li > button.rounded-full')
    await buttons.first().waitFor()
    expect(await buttons.allInnerTexts()).toEqual([...suggestions])
    await buttons.nth(1).click()
    await page
      .getByText(/\d\d:\d\d/)
      .first()
      .waitFor()
    expect(await page.locator('.prose').first().innerText()).not.toContain('get_current_time')
    await leave(page)
  })
})
