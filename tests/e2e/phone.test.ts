// The page on a phone: the keyboard, the way back, the settings and the menus of a conversation.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { composer, describeInBrowser, expectAccessible, leave, say } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { TEST_JWT_SECRET } from '../support/server/server.ts'

const FIELDS = ['INPUT', 'TEXTAREA']
const focusedTag = (page: Page) => page.evaluate<string>('document.activeElement?.tagName')

describeInBrowser('on a phone', (visitor) => {
  const on = usePageServer(visitor)

  test('Enter makes a new line, the button sends, and choosing a model opens no keyboard', async () => {
    const page = await visitor.open(on.server.url, { phone: true })
    await page.getByRole('button', { name: 'Model: Scripted' }).tap()
    await page.getByRole('listbox', { name: 'Model' }).waitFor()
    await expect.poll(() => focusedTag(page)).not.toBe('BUTTON')
    expect(FIELDS).not.toContain(await focusedTag(page))
    await page.keyboard.press('Escape')
    await composer(page).tap()
    await page.keyboard.type('one')
    await page.keyboard.press('Enter')
    await page.keyboard.type('two')
    expect(await composer(page).inputValue()).toBe('one\ntwo')
    on.upstream.enqueue(turn.text('Read.'))
    await page.getByRole('button', { name: 'Send', exact: true }).tap()
    await page.getByText('Read.').waitFor()
    await leave(page)
  })

  test('the switch between the preview and the text of a file keeps clear of the borders of its header', async () => {
    const project = await on.createProject('Notes', { 'notes.md': '# Notes' })
    const page = await visitor.open(`${on.server.url}/projects/${project}?file=notes.md`, {
      phone: true,
    })
    const choice = page.getByRole('radiogroup', { name: 'View' })
    await choice.waitFor()
    const inner = await choice.boundingBox()
    const outer = await page.locator('header').filter({ has: choice }).boundingBox()
    if (inner === null || outer === null) throw new Error('not shown')
    expect(inner.y - outer.y).toBeGreaterThanOrEqual(4)
    expect(outer.y + outer.height - inner.y - inner.height).toBeGreaterThanOrEqual(4)
    await leave(page)
  })

  test('only the last answer shows its actions until another message is tapped', async () => {
    on.upstream.enqueue(turn.text('One.'), turn.text('Two.'))
    const page = await visitor.open(on.server.url, { phone: true })
    await say(page, 'First?')
    await page.getByText('One.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    await say(page, 'Second?')
    await page.getByText('Two.').waitFor()
    const areShown = () =>
      page.evaluate<boolean[]>(
        "[...document.querySelectorAll('.message-actions')].map((one) => getComputedStyle(one).opacity === '1')",
      )
    await expect.poll(areShown).toEqual([false, false, false, true])
    await page.getByText('One.').tap()
    await expect.poll(areShown).toEqual([false, true, false, true])
    await expectAccessible(page)
    await leave(page)
  })

  test('the header of a conversation has a new one and a menu to rename, move, share, export and delete it', async () => {
    const projectId = await on.createProject('Garden', { 'plan.md': '# Plan' })
    on.upstream.enqueue(turn.text('Tulips.'))
    const page = await visitor.open(on.server.url, { phone: true })
    await say(page, 'What grows?')
    await page.getByText('Tulips.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    const header = page.locator('header').first()
    const more = header.getByRole('button', { name: 'Actions for “What grows?”' })
    await more.tap()
    for (const name of ['Share', 'Markdown', 'Delete', 'Conversation settings'])
      await page.getByRole('menuitem', { name }).first().waitFor()
    // The whole menu is in view, and back closes it.
    const menu = page.getByRole('menu')
    expect(
      await menu.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight),
    ).toBe(0)
    const conversation = page.url()
    await page.goBack()
    await menu.waitFor({ state: 'detached' })
    expect(page.url()).toBe(conversation)
    await page.getByRole('button', { name: 'Model: Scripted' }).tap()
    await page.getByRole('listbox', { name: 'Model' }).waitFor()
    await page.goBack()
    await page.getByRole('listbox', { name: 'Model' }).waitFor({ state: 'detached' })
    expect(page.url()).toBe(conversation)
    await more.tap()
    await page.getByRole('menuitem', { name: 'Rename' }).tap()
    await page.getByRole('dialog').getByRole('textbox').fill('Spring')
    await page.getByRole('button', { name: 'OK' }).tap()
    await header.getByRole('heading', { name: 'Spring' }).waitFor()
    await header.getByRole('button', { name: 'Actions for “Spring”' }).tap()
    await page.getByRole('menuitem', { name: /^Project: / }).tap()
    await page.getByRole('dialog').getByRole('button', { name: 'Garden' }).tap()
    await expect
      .poll(async () => {
        const id = new URL(page.url()).pathname.split('/')[2]
        return (await on.server.call('GET', `/api/conversations/${id}`)).json.data.project_id
      })
      .toBe(projectId)
    await header.getByRole('button', { name: 'Actions for “Spring”' }).tap()
    await page.getByRole('menuitem', { name: 'Project files' }).tap()
    const panel = page.getByRole('dialog', { name: 'Project files' })
    await panel.getByText('plan.md').waitFor()
    await expectAccessible(page)

    // Back closes the panel, then it leaves the conversation.
    const address = page.url()
    await page.goBack()
    await panel.waitFor({ state: 'detached' })
    expect(page.url()).toBe(address)
    await header.getByRole('button', { name: 'New conversation' }).tap()
    await page.waitForURL((at) => at.pathname === '/')
    await leave(page)
  })

  test('the buttons of a question keep clear of the end of the screen', async () => {
    await on.createProject('Old', {})
    const page = await visitor.open(`${on.server.url}/projects`, { phone: true })
    await page.getByRole('button', { name: 'Actions for “Old”' }).tap()
    await page.getByRole('menuitem', { name: 'Delete' }).tap()
    const question = page.getByRole('alertdialog')
    const button = question.getByRole('button').last()
    await button.waitFor()
    const room = async (): Promise<number> => {
      const [inner, outer] = [await button.boundingBox(), await question.boundingBox()]
      if (inner === null || outer === null) throw new Error('not shown')
      return outer.y + outer.height - inner.y - inner.height
    }
    await expect.poll(room).toBeGreaterThanOrEqual(16)
    await leave(page)
  })

  test('back closes the drawer or a sheet and stays in the view; after a way on from the drawer, one step leads back', async () => {
    const page = await visitor.open(`${on.server.url}/stats`, { phone: true })
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Show sidebar' }).tap()
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('link', { name: 'Memory' }).waitFor()
    await page.goBack()
    await drawer.waitFor({ state: 'detached' })
    expect(new URL(page.url()).pathname).toBe('/stats')

    await page.getByRole('button', { name: 'Show sidebar' }).tap()
    await drawer.getByRole('link', { name: 'Memory' }).tap()
    await page.getByRole('heading', { name: 'Memory', level: 1 }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
    await drawer.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Show sidebar' }).tap()
    await drawer.getByRole('button', { name: 'Search' }).first().tap()
    const search = page.getByRole('dialog', { name: 'Search' })
    await search.waitFor()
    await page.goBack()
    await search.waitFor({ state: 'detached' })
    expect(new URL(page.url()).pathname).toBe('/stats')
    await leave(page)
  })
})

describeInBrowser('on the phone of an administrator', (visitor) => {
  const on = usePageServer(visitor, { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET })

  test('the settings and the administration are lists of rows that are all in view, and the drawer leads to both', async () => {
    const created = await on.server.call('POST', '/api/auth/register', {
      body: { username: 'ann', password: 'a good password' },
    })
    expect(created.status).toBe(200)
    const page = await visitor.open(on.server.url, { phone: true })
    await page.getByLabel('Username').fill('ann')
    await page.getByLabel('Password').fill('a good password')
    await page.getByRole('button', { name: 'Sign in', exact: true }).tap()
    for (const [link, title, section] of [
      ['ann', 'Settings', 'Account'],
      ['Administration', 'Administration', 'Groups'],
    ] as const) {
      await page.getByRole('button', { name: 'Show sidebar' }).tap()
      await page.getByRole('dialog').getByRole('link', { name: link }).tap()
      const rows = page.getByRole('navigation', { name: title, exact: true }).getByRole('link')
      await rows.first().waitFor()
      const isInView = await page.evaluate<boolean[]>(
        `[...document.querySelectorAll('main nav a')].map((one) => {
          const { left, right } = one.getBoundingClientRect()
          return left >= 0 && right <= innerWidth
        })`,
      )
      expect(isInView.length).toBeGreaterThan(4)
      expect(isInView).not.toContain(false)
      await expectAccessible(page)
      await rows.filter({ hasText: section }).tap()
      await page.getByRole('heading', { name: section, level: 1 }).waitFor()
      await page.getByRole('link', { name: title, exact: true }).tap()
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
    }
    await leave(page)
  })
})
