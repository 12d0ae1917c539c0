// Searching for a message: with the keyboard, on a branch that is not shown, in both languages and on a phone.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { presentation } from '../support/documents.ts'
import {
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
} from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { type TestServer, useServers } from '../support/server/server.ts'
import { uploadFile } from '../support/server/uploads.ts'

describeInBrowser('search', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  let id = ''
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({ config: scripted(upstream), webRoot: visitor.webRoot() })
    id = (await server.call('POST', '/api/conversations', { body: { title: 'Travel' } })).json.data
      .id
    const send = async (text: string, answer: string, edited?: string) => {
      upstream.enqueue(turn.text(answer))
      const path = `/api/conversations/${id}/messages${edited === undefined ? '' : `/${edited}`}`
      const { json } = await server.call(edited === undefined ? 'POST' : 'PATCH', path, {
        body: { text, stream: false },
      })
      return json.data.message.parent_id as string
    }
    const first = await send(
      'Where can I see the aurora?',
      'In Reykjavík, **northern lights** all winter.',
    )
    for (let at = 0; at < 6; at += 1) await send(`More ${at}`, 'Much more. '.repeat(120))
    await send('Where can I eat 拉面?', 'In Tokyo.', first)
    upstream.enqueue(turn.text('Noted.'))
    const attachments = [{ name: 'menu.txt', content: `${'Soup of the day. '.repeat(400)}冷奴` }]
    await server.call('POST', `/api/conversations/${id}/messages`, {
      body: { text: 'My notes', attachments, stream: false },
    })
    upstream.enqueue(turn.text('Noted.'))
    const slides = presentation(['Welcome', 'Hotels', '函馆的夜景', 'Thank you'])
    const uploaded = await uploadFile(server.url, 'trip.pptx', slides)
    await server.call('POST', `/api/conversations/${id}/messages`, {
      body: { text: 'My slides', attachments: [{ file_id: uploaded.json.data.id }], stream: false },
    })
    upstream.enqueue(
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '4711 + 1' } }]),
      turn.text('Computed.'),
    )
    await server.call('POST', `/api/conversations/${id}/messages`, {
      body: { text: 'Compute', stream: false },
    })
    const { json } = await server.call('POST', '/api/projects', { body: { name: 'Japan' } })
    await server.call('PUT', `/api/projects/${json.data.id}/files/plans/Itinerary.md`, {
      body: { content: 'Sapporo, Hakodate' },
    })
    const form = new FormData()
    form.append('files[]', new Blob(['札幌的味噌汤头最有名。']), 'guide.txt')
    const url = `${server.url}/api/projects/${json.data.id}/documents`
    expect((await fetch(url, { method: 'POST', body: form })).status).toBe(200)
  })
  afterAll(() => upstream.close())

  test('a hit opens by keyboard at its message, on its branch, with the words highlighted', async () => {
    const page = await visitor.open(server.url)
    await page.getByRole('list', { name: 'Things to try' }).waitFor()
    await page.locator('#composer').focus()
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: 'Search everything' })
    await field.waitFor()
    const palette = page.getByRole('dialog', { name: 'Search' })
    const place = await palette.boundingBox()
    await field.fill('settings')
    await page.getByRole('option', { name: 'Settings', exact: true, selected: true }).waitFor()
    await field.fill('appearance')
    await page.getByRole('option', { name: 'Settings › Appearance', exact: true }).waitFor()
    // A call is named as in the conversation.
    await field.fill('4711')
    await page
      .getByRole('option', { name: /^Calculate.*expression: 4711/ })
      .first()
      .waitFor()
    await field.fill('jap')
    const projects = page.getByRole('group', { name: 'Projects' })
    await projects.getByRole('option', { name: 'Japan', selected: true }).waitFor()
    await field.fill('itiner')
    const files = page.getByRole('group', { name: 'Project files' })
    await files.getByRole('option', { name: /plans\/Itinerary\.md.*Japan/ }).waitFor()
    await expectAccessible(page)
    // A hit in an attached file says which one.
    await field.fill('函馆')
    const inFile = page.getByRole('option', { name: /trip\.pptx/ })
    await inFile.locator('mark').first().waitFor()
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/palette.png` })
    // However much it shows, it stays where it is.
    expect(await palette.boundingBox()).toEqual(place)
    // A dialog gives the focus back to where it came from.
    await field.press('Escape')
    await page.locator('#composer:focus').waitFor()
    await page.keyboard.press('Control+k')
    await field.fill('reykjavik lights')
    const option = page.getByRole('option')
    await option.first().waitFor()
    await expect
      .poll(() => option.first().textContent())
      .toContain('In Reykjavík, northern lights all winter.')
    await expectAccessible(page)
    await field.press('ArrowDown')
    await field.press('Enter')
    const answer = page.getByText('northern lights')
    await answer.waitFor()
    await expect
      .poll(() => page.evaluate<number>("CSS.highlights.get('search-hit')?.size ?? 0"))
      .toBe(2)
    expect(new URL(page.url()).pathname).toBe(`/c/${id}`)
    await expect
      .poll(() =>
        answer.evaluate((element) => {
          const { top, bottom } = element.getBoundingClientRect()
          return top >= 0 && bottom <= element.ownerDocument.documentElement.clientHeight
        }),
      )
      .toBe(true)
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/hit.png` })

    // A conversation that is shown completely has no way to its end.
    upstream.enqueue(turn.text('Black and white.'))
    const { json } = await server.call('POST', '/api/conversations', { body: { title: 'Zebra' } })
    const body = { text: 'Which colours?', stream: false }
    await server.call('POST', `/api/conversations/${json.data.id}/messages`, { body })
    await page.keyboard.press('Control+k')
    await field.fill('colours')
    await page.getByRole('option', { name: /Which colours/ }).click()
    await page.getByText('Black and white.').waitFor()
    await expect
      .poll(() => page.evaluate<number>("CSS.highlights.get('search-hit')?.size ?? 0"))
      .toBe(1)
    expect(await page.getByRole('button', { name: 'Jump to latest message' }).count()).toBe(0)
    await leave(page)
  })

  test('on a phone, in Chinese and the dark theme, a single character finds the message', async () => {
    const page = await visitor.open(server.url, { phone: true, language: 'zh-CN', theme: 'dark' })
    await page.locator('#composer').waitFor()
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: '搜索全部' })
    await field.fill('拉')
    const option = page.getByRole('option')
    await option.first().waitFor()
    await expect.poll(() => option.locator('mark').allTextContents()).toEqual(['拉'])
    await expectNoScrolling(page)
    await expectAccessible(page)
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/phone.png` })
    await option.first().click()
    await page.getByText('Where can I eat 拉面?').waitFor()

    // The document is read in the background.
    await expect
      .poll(async () => (await server.call('GET', '/api/search?q=味噌')).json.data.items.length)
      .toBe(1)
    await page.keyboard.press('Control+k')
    await field.fill('味噌')
    await page.getByRole('radio', { name: '消息' }).click()
    await page.getByText('没有结果').waitFor()
    await page.getByRole('radio', { name: '文档' }).click()
    await page.getByRole('option', { name: /文档.*札幌的味噌/ }).waitFor()
    await expectNoScrolling(page)
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/filter.png` })
    await page.getByRole('option', { name: /文档.*札幌的味噌/ }).click()
    const passage = page.getByRole('dialog', { name: 'guide.txt' })
    await passage.waitFor()
    await expect.poll(() => passage.locator('mark').allTextContents()).toEqual(['味噌'])
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/passage.png` })
    await passage.getByRole('button', { name: '关闭' }).click()

    await expect
      .poll(async () => (await server.call('GET', '/api/search?q=冷奴')).json.data.items.length)
      .toBe(1)
    await page.keyboard.press('Control+k')
    await page.getByRole('radio', { name: '附件' }).click()
    await field.fill('冷奴')
    await page.getByRole('option', { name: /附件.*冷奴/ }).click()
    const file = page.getByRole('dialog', { name: 'menu.txt' })
    await expect.poll(() => file.locator('mark').allTextContents()).toEqual(['冷奴'])
    await expectAccessible(page)
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/file-hit.png` })
    await file.getByRole('button', { name: '关闭' }).click()
    await file.waitFor({ state: 'detached' })
    expect(page.url()).not.toContain('file=')

    // No browser can render slides: their text is shown, at the slide of the hit.
    await page.keyboard.press('Control+k')
    await page.getByRole('radio', { name: '附件' }).click()
    await field.fill('夜景')
    await page.getByRole('option', { name: /第 3 页.*夜景/ }).click()
    const talk = page.getByRole('dialog', { name: 'trip.pptx' })
    const slide = talk.locator('section').filter({ has: page.getByText('第 3 页') })
    await expect.poll(() => slide.locator('mark').allTextContents()).toEqual(['夜景'])
    await expect.poll(() => talk.locator('section').count()).toBe(4)
    await expectAccessible(page)
    await expectNoScrolling(page)
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/slide-hit.png` })
    await leave(page)
  })

  test('the palette opens a section of the settings, the dialog for a new project, and any of many projects', async () => {
    const page = await visitor.open(server.url)
    await page.locator('#composer').waitFor()
    const choose = async (text: string, option: string): Promise<void> => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search everything' }).fill(text)
      await page
        .getByRole('option', { name: option })
        .and(page.locator('[aria-selected=true]'))
        .waitFor()
      await page.keyboard.press('Enter')
    }
    await choose('saved prompts', 'Settings › Agent › Saved prompts')
    const heading = page.getByRole('heading', { name: 'Saved prompts' })
    await heading.and(page.locator(':focus')).waitFor()
    await choose('text size', 'Settings › Appearance › Text size')
    await page.getByRole('radiogroup', { name: 'Text size' }).waitFor()

    await choose('new project', 'New project')
    const dialog = page.getByRole('dialog', { name: 'New project' })
    await dialog.getByLabel('Name').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('Newest')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Newest' }).waitFor()

    // More than one page of the API holds; the list begins with the newest.
    for (let at = 0; at < 101; at += 1)
      await server.call('POST', '/api/projects', { body: { name: `Filler ${at}` } })
    await page.reload()
    await page.getByRole('heading', { name: 'Newest' }).waitFor()
    await choose('newest', 'Newest')
    await page.getByRole('heading', { name: 'Newest' }).waitFor()
    await leave(page)
  })
})
