// A long list of conversations: few rows in the document, keys, changes from elsewhere, and the order of pinned ones.
import { expect, test } from 'vitest'
import { describeInBrowser, leave } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'

describeInBrowser('the list of conversations', (visitor) => {
  const at = usePageServer(visitor)
  const create = async (title: string): Promise<string> =>
    (await at.server.call('POST', '/api/conversations', { body: { title } })).json.data.id
  /** The stored places of pinned conversations. */
  const placesOf = (ids: readonly string[]): Promise<number[]> =>
    Promise.all(
      ids.map(
        async (id) =>
          (await at.server.call('GET', `/api/conversations/${id}`)).json.data.pin_position,
      ),
    )

  test('a long list keeps few rows in the DOM, supports keys, keeps its position when it changes, and lets pinned rows be reordered', async () => {
    const pins: string[] = []
    for (const title of ['Pin one', 'Pin two', 'Pin three']) {
      const id = await create(title)
      await at.server.call('PATCH', `/api/conversations/${id}`, { body: { pinned: true } })
      pins.push(id)
    }
    for (let number = 0; number < 250; number += 1) await create(`Talk ${number}`)
    const page = await visitor.open(at.server.url)
    const list = page.getByRole('navigation', { name: 'Conversations' })
    const pinned = list.getByRole('region', { name: 'Pinned' }).getByRole('link')
    const rows = list.locator('[data-row]')
    await list.getByRole('link', { name: 'Talk 249' }).waitFor()
    expect(await pinned.allTextContents()).toEqual(['Pin three', 'Pin two', 'Pin one'])

    await page.getByRole('searchbox', { name: 'Filter by title' }).press('ArrowDown')
    await expect.poll(() => pinned.nth(0).evaluate((link) => link.matches(':focus'))).toBe(true)
    await page.keyboard.press('Alt+ArrowDown')
    await expect.poll(() => pinned.allTextContents()).toEqual(['Pin two', 'Pin three', 'Pin one'])
    await list.getByText('Moved to place 2 of 3').waitFor({ state: 'attached' })
    await pinned.nth(2).dragTo(pinned.nth(0))
    await expect.poll(() => pinned.allTextContents()).toEqual(['Pin one', 'Pin two', 'Pin three'])
    await expect.poll(() => placesOf(pins)).toEqual([0, 1, 2])

    await pinned.nth(2).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    const focused = page.locator(':focus')
    await expect.poll(() => focused.textContent()).toBe('Talk 248')
    // Each time to the end of what is loaded, until everything is.
    await expect
      .poll(async () => {
        await page.keyboard.press('End')
        return await focused.textContent()
      })
      .toBe('Talk 0')
    expect(await rows.count()).toBeLessThan(60)
    await page.keyboard.press('ArrowUp')
    await expect.poll(() => focused.textContent()).toBe('Talk 1')

    await list.evaluate((element) => element.scrollTo(0, 3_000))
    const line = list.getByRole('link', { name: 'Talk 165', exact: true })
    await line.waitFor()
    const before = await line.boundingBox()
    const scrolled = await list.evaluate((element) => element.scrollTop)
    await create('From elsewhere')
    await expect.poll(() => list.evaluate((element) => element.scrollTop)).not.toBe(scrolled)
    expect(Math.round((await line.boundingBox())?.y ?? 0)).toBe(Math.round(before?.y ?? 1))
    // At its very end, too, where the list has to become longer first.
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight))
    const last = list.getByRole('link', { name: 'Talk 0', exact: true })
    await last.waitFor()
    const lowest = await last.boundingBox()
    const end = await list.evaluate((element) => element.scrollTop)
    await create('At the end')
    await expect.poll(() => list.evaluate((element) => element.scrollTop)).toBeGreaterThan(end)
    expect(Math.round((await last.boundingBox())?.y ?? 0)).toBe(Math.round(lowest?.y ?? 1))
    await page.keyboard.press('Home')
    await list.getByRole('link', { name: 'From elsewhere' }).waitFor()
    await leave(page)
  })

  test('several are selected as a range, deleted at once and restored, and Escape ends the selection where it began', async () => {
    for (let number = 0; number < 130; number += 1) await create(`Plan ${number}`)
    const page = await visitor.open(at.server.url)
    const list = page.getByRole('navigation', { name: 'Conversations' })
    await list.getByRole('link', { name: 'Plan 129' }).waitFor()
    const menu = page.getByRole('button', { name: 'Show and select' })
    const bar = page.getByRole('toolbar', { name: 'Selected conversations' })
    const begin = async (): Promise<void> => {
      await menu.click()
      await page.getByRole('menuitem', { name: 'Select several…' }).click()
    }
    const checked = list.locator('input:checked')
    await begin()
    await list.getByRole('checkbox', { name: 'Plan 128' }).click()
    await list.getByRole('checkbox', { name: 'Plan 125' }).click({ modifiers: ['Shift'] })
    await bar.getByText('4 selected').waitFor()
    await list.getByRole('checkbox', { name: 'Plan 127' }).click({ modifiers: ['Shift'] })
    await expect.poll(() => checked.count()).toBe(1)
    await page.keyboard.press('Escape')
    await bar.waitFor({ state: 'detached' })
    await expect.poll(() => menu.evaluate((button) => button.matches(':focus'))).toBe(true)

    // Also what is not loaded yet: more than one request takes, and more than the events of the server are read for one by one.
    await begin()
    const reads: string[] = []
    page.on('request', (request) => {
      if (/\/api\/conversations\/[^/]+$/.test(request.url()) && request.method() === 'GET')
        reads.push(request.url())
    })
    const all = bar.getByRole('button', { name: 'Select all' })
    await all.waitFor()
    // While the list still shows what matched the filter before.
    await page.evaluate(`(() => {
      const field = document.querySelector('input[type="search"]')
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, 'Plan')
      field.dispatchEvent(new InputEvent('input', { bubbles: true }))
      for (const button of document.querySelectorAll('[role="toolbar"] button'))
        if (button.getAttribute('aria-label') === 'Select all') button.click()
    })()`)
    await bar.getByText('130 selected').waitFor()
    await list.getByRole('checkbox', { name: 'Plan 129' }).waitFor()
    expect(await all.getAttribute('aria-pressed')).toBe('true')
    await bar.getByRole('button', { name: 'Delete' }).click()
    const undo = page.getByRole('button', { name: 'Undo' })
    await undo.waitFor()
    await expect.poll(() => list.getByText(/^Plan/).count()).toBe(0)
    expect(reads).toEqual([])
    await undo.click()
    await list.getByRole('link', { name: 'Plan 129' }).waitFor()
    await leave(page)
  })

  test('the response to one change does not hide a later one, and a change that the server refuses is undone', async () => {
    const id = await create('An old name')
    const page = await visitor.open(at.server.url)
    const list = page.getByRole('navigation', { name: 'Conversations' })
    const pinned = list.getByRole('region', { name: 'Pinned' })
    const held: { body: unknown; handle: (how: 'continue' | 'refuse') => void }[] = []
    let reads = 0
    await page.route(`**/api/conversations/${id}`, async (route, request) => {
      if (request.method() !== 'PATCH') {
        await route.continue()
        return
      }
      const how = await new Promise<'continue' | 'refuse'>((resolve) => {
        held.push({ body: request.postDataJSON(), handle: resolve })
      })
      if (how === 'continue') await route.continue()
      else await route.fulfill({ status: 500, json: { code: 500, message: 'No.', data: null } })
    })
    page.on('requestfinished', (request) => {
      if (request.url().endsWith(`/api/conversations/${id}`) && request.method() === 'GET')
        reads += 1
    })
    const rename = async (from: string, to: string): Promise<void> => {
      await list.getByRole('link', { name: from }).hover()
      await list.getByRole('button', { name: `Actions for “${from}”` }).click()
      await page.getByRole('menuitem', { name: 'Rename' }).click()
      await list.getByRole('textbox', { name: 'Rename' }).fill(to)
      await page.keyboard.press('Enter')
    }
    await rename('An old name', 'A new name')
    await list.getByRole('button', { name: 'Actions for “A new name”' }).click()
    await page.getByRole('menuitem', { name: 'Pin', exact: true }).click()
    await pinned.getByRole('link', { name: 'A new name' }).waitFor()
    await expect
      .poll(() => held.map(({ body }) => body))
      .toEqual([{ title: 'A new name' }, { pinned: true }])
    held[0]?.handle('continue')
    // The event of the first change makes the page read the conversation, which is not pinned yet.
    await expect.poll(() => reads).toBe(1)
    await rename('A new name', 'The last name')
    await pinned.getByRole('link', { name: 'The last name' }).waitFor()
    held[1]?.handle('continue')
    await expect.poll(() => reads).toBe(2)
    expect(await pinned.getByRole('link', { name: 'The last name' }).count()).toBe(1)
    held[2]?.handle('refuse')
    await pinned.getByRole('link', { name: 'A new name' }).waitFor()
    await leave(page)
  })

  test('two changes of the order of pins are stored one after the other, and the list shows the second one meanwhile', async () => {
    const others = await at.server.call('GET', '/api/conversations?pinned=true')
    for (const { id } of others.json.data.items)
      await at.server.call('PATCH', `/api/conversations/${id}`, { body: { pinned: false } })
    const ids: string[] = []
    for (const title of ['Row red', 'Row green', 'Row blue']) {
      const id = await create(title)
      await at.server.call('PATCH', `/api/conversations/${id}`, { body: { pinned: true } })
      ids.unshift(id)
    }
    const page = await visitor.open(at.server.url)
    const list = page.getByRole('navigation', { name: 'Conversations' })
    const pinned = list.getByRole('region', { name: 'Pinned' }).getByRole('link', { name: 'Row' })
    await expect.poll(() => pinned.allTextContents()).toEqual(['Row blue', 'Row green', 'Row red'])
    const held: (() => void)[] = []
    await page.route('**/api/conversations/pins', async (route) => {
      await new Promise<void>((resolve) => held.push(resolve))
      await route.continue()
    })
    await pinned.first().focus()
    await page.keyboard.press('Alt+ArrowDown')
    await expect.poll(() => held.length).toBe(1)
    await expect.poll(() => pinned.allTextContents()).toEqual(['Row green', 'Row blue', 'Row red'])
    await page.keyboard.press('Alt+ArrowDown')
    const last = ['Row green', 'Row red', 'Row blue']
    await expect.poll(() => pinned.allTextContents()).toEqual(last)
    expect(held).toHaveLength(1)
    // Its event makes the page read the list, in which the second change is missing.
    const read = page.waitForResponse((response) => response.url().includes('pinned=true'))
    held[0]?.()
    await read
    await expect.poll(() => held.length).toBe(2)
    expect(await pinned.allTextContents()).toEqual(last)
    held[1]?.()
    await expect.poll(() => placesOf(ids)).toEqual([2, 0, 1])
    await leave(page)
  })

  test('a list that was requested before a change and arrives after it does not hide the change', async () => {
    const first = await create('Pinned before')
    await create('Pinned meanwhile')
    await at.server.call('PATCH', `/api/conversations/${first}`, { body: { pinned: true } })
    const page = await visitor.open(at.server.url)
    const list = page.getByRole('navigation', { name: 'Conversations' })
    const pinned = list.getByRole('region', { name: 'Pinned' })
    await pinned.getByRole('link', { name: 'Pinned before' }).waitFor()
    await page.route('**/api/conversations/*', async (route) => {
      // The request for the pin stays under way.
      if (route.request().method() !== 'PATCH') await route.continue()
    })
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let requests = 0
    await page.route('**/api/conversations?*pinned=true*', async (route) => {
      const response = await route.fetch()
      const json = await response.json()
      for (const item of json.data.items) item.title += ' (loaded)'
      requests += 1
      await released
      await route.fulfill({ response, json })
    })
    // Makes the page request the list, as soon as it follows the changes.
    await expect
      .poll(async () => {
        await at.server.call('PUT', '/api/conversations/pins', { body: { ids: [first] } })
        return requests
      })
      .toBeGreaterThan(0)
    await list.getByRole('link', { name: 'Pinned meanwhile' }).hover()
    await list.getByRole('button', { name: 'Actions for “Pinned meanwhile”' }).click()
    await page.getByRole('menuitem', { name: 'Pin', exact: true }).click()
    await pinned.getByRole('link', { name: 'Pinned meanwhile' }).waitFor()
    release()
    await pinned.getByRole('link', { name: 'Pinned before (loaded)' }).waitFor()
    expect(await pinned.getByRole('link', { name: 'Pinned meanwhile' }).count()).toBe(1)
    await leave(page)
  })

  test('the list scrolls to the conversation that a link opens, even if it is not loaded yet, and a row in view stays in place', async () => {
    const first = await create('The oldest link')
    const second = await create('A later link')
    for (let number = 0; number < 150; number += 1) await create(`Newer ${number}`)
    const page = await visitor.open(`${at.server.url}/c/${first}`)
    const list = page.getByRole('navigation', { name: 'Conversations' })
    const row = list.getByRole('link', { name: 'The oldest link' })
    await row.waitFor()
    const isInView = (): Promise<boolean> =>
      row.evaluate((element) => {
        const box = element.getBoundingClientRect()
        const frame = element.closest('nav')?.getBoundingClientRect()
        return frame !== undefined && box.top >= frame.top && box.bottom <= frame.bottom
      })
    await expect.poll(isInView).toBe(true)
    // A row in view stays where it is.
    const top = await list.evaluate((element) => element.scrollTop)
    await list.getByRole('link', { name: 'A later link' }).click()
    await page.waitForURL(new RegExp(second))
    await list.locator('[aria-current="page"]').getByText('A later link').waitFor()
    expect(await list.evaluate((element) => element.scrollTop)).toBe(top)
    await leave(page)
  })
})
