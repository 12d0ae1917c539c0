// Sharing a conversation in the browser: from its menu to the page behind the link.
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, leave, say } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

describeInBrowser('sharing a conversation', (visitor) => {
  const host = usePageServer(visitor)

  test('a link shows the copy until sharing stops; the dialog stays when its row leaves the list and when a refetch fails', async () => {
    const page = await visitor.open(host.server.url)
    host.upstream.enqueue(
      turn.text(
        'The **shared** answer.\n\n```py\n# The shape of tea\nreturn leaves\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n$$\nx^2\n$$\n\nOne[^1].\n\n```mermaid\ngraph TD; leaf --> cup\n```\n\n[^1]: The note.',
      ),
    )
    await say(page, 'Which one is it?')
    await page.getByText('answer.').first().waitFor()
    await page.waitForURL(/\/c\//)
    const rename = async (title: string): Promise<void> => {
      const path = `/api/conversations/${new URL(page.url()).pathname.split('/').at(-1)}`
      const { status } = await host.server.call('PATCH', path, { body: { title } })
      expect(status).toBe(200)
    }
    await rename('Walnuts')
    await page.getByLabel('Filter by title').fill('walnut')
    await page.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Share', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create link' }).click()
    // The new link has the focus and is selected, so that it can be copied at once.
    const link = dialog.getByLabel('Link', { exact: true })
    await link.and(page.locator(':focus')).waitFor()
    const url = await link.inputValue()
    expect(await page.evaluate('getSelection().toString()')).toBe(url)
    expect(await (await fetch(url)).text()).toContain('<strong>shared</strong>')

    const reader = await page.context().newPage()
    await reader.goto(url)
    await reader.locator('.code-comment').getByText('# The shape of tea').waitFor()
    const colourOf = (selector: string): Promise<string> =>
      reader.evaluate(`getComputedStyle(document.querySelector('${selector}')).color`)
    expect(await colourOf('.code-comment')).not.toBe(await colourOf('pre'))
    // Its one script writes dates in the reader's zone; diagrams are drawn by a frame that its policy allows.
    await expect.poll(() => reader.locator('time').textContent()).not.toContain('UTC')
    const frame = reader.locator('iframe')
    const drawn = reader.frameLocator('iframe').locator('img')
    await drawn.waitFor()
    await expect
      .poll(async () =>
        Math.abs(
          ((await frame.boundingBox())?.height ?? 0) - ((await drawn.boundingBox())?.height ?? 0),
        ),
      )
      .toBeLessThan(2)
    // It is drawn for the page's lighter surface, which is behind it.
    const behind = (selector: string): Promise<string> =>
      reader.evaluate(`getComputedStyle(document.querySelector('${selector}')).backgroundColor`)
    for (const colorScheme of ['dark', 'light'] as const) {
      await reader.emulateMedia({ colorScheme })
      expect(await behind('.diagram')).toBe(await behind('pre'))
    }
    expect(await reader.evaluate("document.fonts.check('16px Geist')")).toBe(true)
    await expectAccessible(reader)
    await reader.getByRole('link', { name: 'Continue in NanoClaw' }).click()
    const onward = reader.getByRole('button', { name: 'Continue', exact: true })
    await onward.and(reader.locator(':focus')).waitFor()
    await onward.press('Enter')
    await reader.waitForURL(/\/c\//)
    await reader.getByText('The shared answer.').waitFor()
    await reader.close()

    // An exported file contains what the browser can draw.
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Walnuts', exact: true }).click()
    const saved = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'HTML' }).click()
    const html = await readFile((await (await saved).path()) ?? '', 'utf8')
    expect(html.match(/<img class="diagram-\w+" src="data:image\/svg/g)).toHaveLength(2)
    expect(html).not.toMatch(/<script|UTC<\/time>/)
    await page.getByRole('button', { name: 'Walnuts', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Share', exact: true }).click()

    await rename('Almonds')
    await page
      .locator(`nav a[href="${new URL(page.url()).pathname}"]`)
      .waitFor({ state: 'detached' })
    const refused = page.waitForResponse((response) => response.url().includes('/api/shares?'))
    await page.route('**/api/shares?*', (route) => route.fulfill({ status: 500, body: '{}' }), {
      times: 1,
    })
    await dialog.getByRole('button', { name: 'Update copy' }).click()
    await refused
    await dialog.getByRole('button', { name: 'Stop sharing' }).click()
    await dialog.getByRole('button', { name: 'Create link' }).waitFor()
    expect((await fetch(url)).status).toBe(404)
    await leave(page)
  })
})
