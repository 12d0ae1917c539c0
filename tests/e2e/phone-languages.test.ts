// The page on a phone in the languages of its readers: long words, names of fields, punctuation, and what a finger reaches.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { composer, describeInBrowser, expectAccessible, leave, say } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { TEST_JWT_SECRET } from '../support/server/server.ts'

/** The tops of the boxes of these elements, in whole pixels, without duplicates. */
const rowsOf = (page: Page, selector: string): Promise<number[]> =>
  page.evaluate(
    `[...new Set([...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => Math.round(one.getBoundingClientRect().top)))]`,
  )

/** The lightness of a background, 0 to 1; 0 if it is none. */
const lightnessOf = (page: Page, selector: string): Promise<number> =>
  page.evaluate(`(() => {
    const canvas = document.createElement('canvas').getContext('2d')
    canvas.fillStyle = getComputedStyle(document.querySelector(${JSON.stringify(selector)})).backgroundColor
    canvas.fillRect(0, 0, 1, 1)
    const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data
    return (red + green + blue) / 765
  })()`)

describeInBrowser('on a phone, in another language', (visitor) => {
  const on = usePageServer(visitor, {
    models: [
      { id: 'one', name: 'One', api_url: 'http://127.0.0.1:9/v1', api_key: 'k' },
      { id: 'two', name: 'Two', api_url: 'http://127.0.0.1:9/v1', api_key: 'k' },
    ],
  })

  test('every kind of hit can be chosen in the search, though its German names are long', async () => {
    const page = await visitor.open(on.server.url, { phone: true, language: 'de-DE' })
    await page.getByRole('button', { name: 'Seitenleiste einblenden' }).tap()
    await page.getByRole('dialog').getByRole('button', { name: 'Suchen' }).first().tap()
    const kinds = page.getByRole('dialog').getByRole('radiogroup').getByRole('radio')
    await kinds.first().waitFor()
    const width = page.viewportSize()?.width ?? 0
    for (const kind of await kinds.all()) {
      const box = await kind.boundingBox()
      expect((box?.x ?? width) + (box?.width ?? width)).toBeLessThanOrEqual(width)
    }
    expect(await kinds.count()).toBe(5)
    await leave(page)
  })

  test('the example of a saved prompt names its field in the language of the page', async () => {
    const page = await visitor.open(`${on.server.url}/settings/agent`, {
      phone: true,
      language: 'de-DE',
    })
    await page.getByRole('button', { name: 'Prompt speichern' }).tap()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('{{Thema}}').waitFor()
    await dialog.getByPlaceholder('{{Thema}}').waitFor()
    expect(await dialog.getByText('{{topic}}').count()).toBe(0)
    await leave(page)
  })
})

describeInBrowser('in German', (visitor) => {
  const on = usePageServer(visitor)

  test('on a phone, a step with a long name and a result from the cache shows what was called, and stays in its row', async () => {
    const id = await on.createProject('Garten', { 'notizen.md': 'Tulpen\n' })
    const call = { name: 'file_grep', arguments: { pattern: 'Tulpen' } }
    const again = () => turn.toolCalls([call])
    on.upstream.enqueue(again(), again(), again(), turn.text('Gefunden.'))
    const page = await visitor.open(`${on.server.url}/?project=${id}`, {
      phone: true,
      language: 'de-DE',
    })
    await say(page, 'Such die Tulpen')
    await page.getByText('Gefunden.').waitFor()
    await page.getByRole('button', { name: /^3 Schritte/ }).tap()
    const rows = page.getByRole('button', { name: /^Dateien durchsuchen/ })
    await expect.poll(() => rows.count()).toBe(3)
    for (const row of await rows.all()) {
      const over = await row.evaluate((element) => {
        const argument = element.querySelector('.font-mono')
        return [
          element.scrollWidth - element.clientWidth,
          (argument?.scrollWidth ?? 1) - (argument?.clientWidth ?? 0),
        ]
      })
      expect(over).toEqual([0, 0])
    }
    await leave(page)
  })

  test('on a tablet, the buttons above the files of a project fit beside an open file', async () => {
    const id = await on.createProject('Werkzeuge', { 'notizen.md': 'Tulpen\n' })
    const page = await visitor.open(`${on.server.url}/projects/${id}`, {
      phone: true,
      language: 'de-DE',
    })
    await page.setViewportSize({ width: 1024, height: 900 })
    const last = page.getByRole('button', { name: 'Neuer Ordner' })
    await last.waitFor()
    await expect
      .poll(() =>
        last.evaluate((button) => {
          const column = button.closest('.w-72')
          return column === null
            ? undefined
            : column.getBoundingClientRect().right - button.getBoundingClientRect().right
        }),
      )
      .toBeGreaterThanOrEqual(0)
    expect(
      await page.evaluate(
        `Math.max(...[...document.querySelectorAll('.w-72 *')].map((one) => getComputedStyle(one).overflowX === 'visible' ? 0 : one.scrollWidth - one.clientWidth))`,
      ),
    ).toBe(0)
    await leave(page)
  })

  test('the ways in which one is told of a request can be read in their fields', async () => {
    const page = await visitor.open(`${on.server.url}/settings/channels`, { language: 'de-DE' })
    await page.getByLabel('Nennt').first().waitFor()
    const room = await page.evaluate<number[]>(
      `[...document.querySelectorAll('main li select')].map((select) => {
        const text = document.createElement('span')
        text.style.font = getComputedStyle(select).font
        text.textContent = select.selectedOptions[0].text
        document.body.append(text)
        const { width } = text.getBoundingClientRect()
        text.remove()
        const { paddingLeft, paddingRight } = getComputedStyle(select)
        // The arrow of the browser.
        return select.clientWidth - 16 - parseFloat(paddingLeft) - parseFloat(paddingRight) - width
      })`,
    )
    expect(room).toHaveLength(3)
    expect(Math.min(...room)).toBeGreaterThan(0)
    await leave(page)
  })
})

describeInBrowser('on a phone, a finger', (visitor) => {
  const on = usePageServer(visitor)

  test('finds the menu of a conversation where its button will be, while the menu is still loading', async () => {
    on.upstream.enqueue(turn.text('Tulips.'))
    const made = await on.server.call('POST', '/api/conversations', { body: { title: 'Spring' } })
    const id = made.json.data.id
    await on.server.call('POST', `/api/conversations/${id}/messages`, {
      body: { text: 'What grows?', stream: false },
    })
    const page = await visitor.open('about:blank', { phone: true, ownContext: true })
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/conversation-menu/, async (route) => {
      await released
      await route.continue()
    })
    await page.goto(`${on.server.url}/c/${id}`)
    const start = page.locator('main header').getByRole('button', { name: 'New conversation' })
    await start.waitFor()
    const before = await start.boundingBox()
    release()
    await page.getByRole('button', { name: 'Actions for “Spring”' }).waitFor()
    expect(await start.boundingBox()).toEqual(before)
    await page.context().close()
  })

  test('rejects a call without a keyboard that covers the button', async () => {
    const id = await on.createProject('Notes', { 'notes.md': 'old\n' })
    on.upstream.enqueue(
      turn.toolCalls([{ name: 'file_write', arguments: { path: 'notes.md', content: 'new\n' } }]),
      turn.text('As you like.'),
    )
    const page = await visitor.open(`${on.server.url}/?project=${id}`, { phone: true })
    await page.getByRole('button', { name: 'Project: Notes' }).waitFor()
    await say(page, 'Write it down')
    await page.getByRole('button', { name: 'Reject' }).tap()
    await page.getByLabel('Why?').waitFor()
    expect(await page.evaluate<string>('document.activeElement.tagName')).toBe('SECTION')
    await page.getByRole('button', { name: 'Reject' }).tap()
    await page.getByText('As you like.').waitFor()
    expect(await on.readFile(id, 'notes.md')).toBe('old\n')
    await leave(page)
  })

  test('sees in the dark which of two compared answers is shown', async () => {
    on.upstream.enqueue(turn.text('One.'), turn.text('Two.'))
    const page = await visitor.open(on.server.url, { phone: true, theme: 'dark' })
    await say(page, 'Which?')
    await page.getByText('One.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).tap()
    await page.getByText('Two.').waitFor()
    await page.getByRole('button', { name: 'More actions' }).last().tap()
    await page.getByRole('menuitem', { name: 'Compare with another model' }).tap()
    await page.getByRole('tab', { selected: true }).waitFor()
    expect(await lightnessOf(page, '[role=tab][aria-selected=true]')).toBeGreaterThan(
      await lightnessOf(page, '[role=tablist]'),
    )
    await leave(page)
  })

  test('reads the steps of a plan in its line, not their data', async () => {
    const items = ['Dig', 'Sow'].map((text, at) => ({ id: `${at}`, text, state: 'done' }))
    on.upstream.enqueue(
      turn.toolCalls([
        { name: 'plan', arguments: { items } },
        { name: 'file_read', arguments: { path: 'nowhere.md' } },
      ]),
      turn.text('Done.'),
    )
    const page = await visitor.open(on.server.url, { phone: true })
    await say(page, 'Plan it')
    await page.getByText('Done.').waitFor()
    await page.getByText('Dig · Sow').first().waitFor()
    expect(await page.getByText('{"id"').count()).toBe(0)
    await leave(page)
  })

  test('finds the end of a share in the punctuation of the language', async () => {
    on.upstream.enqueue(turn.text('Tulips.'))
    const page = await visitor.open(on.server.url, { phone: true, language: 'zh-CN' })
    await say(page, '种什么')
    await page.getByText('Tulips.').waitFor()
    await page.getByRole('button', { name: '“种什么”的操作' }).tap()
    await page.getByRole('menuitem', { name: '分享' }).tap()
    await page.getByRole('dialog').getByRole('button', { name: '创建链接' }).tap()
    await page.getByRole('option', { name: '保持不变（永不）' }).waitFor({ state: 'attached' })
    await leave(page)
  })
})

describeInBrowser('on the phone of an administrator, in German', (visitor) => {
  const on = usePageServer(visitor, { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET })

  test('the button of a group says what it does, and the buttons of its dialog stand in one row', async () => {
    const { json } = await on.server.call('POST', '/api/auth/register', {
      body: { username: 'ann', password: 'a good password' },
    })
    await on.server.call('POST', '/api/admin/groups', {
      body: { name: 'Entwicklung' },
      token: json.data.token,
    })
    const page = await visitor.open(on.server.url, { phone: true, language: 'de-DE' })
    await page.getByLabel('Benutzername').fill('ann')
    await page.getByLabel('Passwort').fill('a good password')
    await page.getByRole('button', { name: 'Anmelden', exact: true }).tap()
    await composer(page).waitFor()
    await page.goto(`${on.server.url}/admin/groups`)
    const edit = page.getByRole('button', { name: '„Entwicklung“ bearbeiten' })
    expect(await edit.textContent()).toBe('Bearbeiten')
    await edit.tap()
    await page.getByRole('dialog').getByRole('button', { name: 'Speichern' }).waitFor()
    expect(await rowsOf(page, '[role=dialog] footer button')).toHaveLength(1)
    await expectAccessible(page)
    await leave(page)
  })
})
