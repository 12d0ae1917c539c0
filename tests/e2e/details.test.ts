// Small things that tell what happens: an empty answer, files over the page, the chosen option, tasks, the width of the chat.
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { composer, describeInBrowser, leave, say } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { startWebSite } from '../support/web-site.ts'

const painter = await startWebSite()

describeInBrowser('details of the page', (visitor) => {
  const site = usePageServer(visitor)

  test('tasks have no bullets, and files over the page are told where to drop', async () => {
    site.upstream.enqueue(turn.text('- [x] first\n\n- [ ] second\n\nAll of them.'))
    const page = await visitor.open(site.server.url)
    await say(page, 'What is to do?')
    await page.getByText('All of them.').waitFor()
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('li:has(input)')].map((item) => getComputedStyle(item).listStyleType)`,
      ),
    ).toEqual(['none', 'none'])
    await page.evaluate(`(() => {
      const data = new DataTransfer()
      data.items.add(new File(['x'], 'x.txt'))
      const over = { dataTransfer: data, bubbles: true, cancelable: true }
      document.querySelector('main').dispatchEvent(new DragEvent('dragover', over))
    })()`)
    await page.getByText('Drop files here').waitFor()
    await page.evaluate(
      `document.body.dispatchEvent(new DragEvent('dragleave', { bubbles: true }))`,
    )
    await page.getByText('Drop files here').waitFor({ state: 'detached' })
    await leave(page)
  })

  test('a new file has only added lines, and a change that changes nothing says so', async () => {
    const id = await site.createProject('Counts', { 'same.md': 'as before\n' })
    const write = (path: string, content: string) => ({
      name: 'file_write',
      arguments: { path, content },
    })
    site.upstream.enqueue(
      turn.toolCalls([write('new.md', 'one\ntwo\n'), write('same.md', 'as before\n')]),
      turn.text('Both are written.'),
    )
    const page = await visitor.open(`${site.server.url}/?project=${id}`)
    await page.getByRole('button', { name: 'Project: Counts' }).waitFor()
    await say(page, 'Write both.')
    const cards = page.locator('[data-approval]')
    await expect.poll(() => cards.count()).toBe(2)
    await cards.first().getByRole('button', { name: 'Approve', exact: true }).click()
    await expect.poll(() => cards.count()).toBe(1)
    await cards.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('Both are written.').waitFor()
    const row = (path: string) =>
      page.getByRole('button', { name: /^Write file/ }).filter({ hasText: path })
    expect(await row('new.md').innerText()).toContain('+2')
    expect(await row('new.md').innerText()).not.toContain('−')
    expect(await row('same.md').innerText()).toContain('no change')
    await leave(page)
  })

  test('twenty files dropped at once are all attached, and one more is not, which is said', async () => {
    const page = await visitor.open(site.server.url)
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    await page.evaluate(`(() => {
      const data = new DataTransfer()
      for (let at = 1; at <= 21; at += 1) data.items.add(new File(['x' + at], at + '.txt'))
      for (const type of ['dragover', 'drop'])
        document.querySelector('main').dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }))
    })()`)
    await page
      .getByText('A message can have up to 20 files. The others are not attached.')
      .waitFor()
    const files = page.getByRole('list', { name: 'Attachments' }).getByRole('listitem')
    await expect.poll(() => files.and(page.locator('[aria-busy="false"]')).count()).toBe(20)
    await leave(page)
  })

  test('the buttons of a toolbar have words where there is room, and a name everywhere', async () => {
    const id = await site.createProject('Tools', { 'a.md': 'a' })
    const page = await visitor.open(`${site.server.url}/projects/${id}`)
    const word = page.getByRole('button', { name: 'New file' }).getByText('New file')
    await page.setViewportSize({ width: 390, height: 760 })
    await page.getByRole('button', { name: 'New file' }).waitFor()
    expect(await word.isVisible()).toBe(false)
    // The folder's files beside the conversation's leave no room, the whole view of them does.
    await page.setViewportSize({ width: 760, height: 760 })
    await word.waitFor({ state: 'visible' })
    await leave(page)
  })

  test('the region of notices is named in the language of the page', async () => {
    for (const [language, name] of [
      ['de-DE', 'Benachrichtigungen'],
      ['zh-CN', '通知'],
      ['zh-TW', '通知'],
      ['en-US', 'Notifications'],
    ] as const) {
      const page = await visitor.open(site.server.url, { language })
      await page
        .getByRole('region', { name: new RegExp(`^${name}`), includeHidden: true })
        .waitFor({ state: 'attached' })
      await leave(page)
    }
  })

  test('an imported answer without a text says so and can be written again', async () => {
    const at = '2026-01-01T00:00:00.000Z'
    const message = (id: string, parent_id: string | null, role: string, text: string) => ({
      ...{ id, parent_id, role, text, created_at: at, token_count: 1, model: null, error: null },
      ...{ status: 'completed', attachments: [], steps: [] },
    })
    const settings = { pinned: false, archived: false, tags: [], system_prompt: null, model: null }
    const tuning = { temperature: null, max_tokens: null, thinking_enabled: false }
    const { json } = await site.server.call('POST', '/api/conversations/import', {
      body: {
        format: 'nanoclaw',
        version: 1,
        conversation: {
          ...{ ...settings, ...tuning, title: 'Silence', leaf_id: 'b' },
          ...{ created_at: at, updated_at: at },
        },
        messages: [message('a', null, 'user', 'Say nothing.'), message('b', 'a', 'assistant', '')],
      },
    })
    site.upstream.enqueue(turn.text('Here it is.'))
    const page = await visitor.open(`${site.server.url}/c/${json.data.id}`)
    await page.getByText('The model gave no answer.').waitFor()
    // The title is the button of the conversation's menu.
    await page.getByRole('heading', { name: 'Silence' }).getByRole('button').click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('Noise')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Noise' }).waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).first().click()
    await page.getByText('Here it is.').waitFor()
    expect(await page.getByText('The model gave no answer.').count()).toBe(0)
    await leave(page)
  })

  test('the chosen option is lighter than the others in the dark theme', async () => {
    const page = await visitor.open(`${site.server.url}/settings/appearance`, { theme: 'dark' })
    const group = page.getByLabel('Density', { exact: true })
    await group.waitFor()
    // oklch(lightness chroma hue)
    const lightness = (selector: string) =>
      page.evaluate<number>(
        `Number(/[\\d.]+/.exec(getComputedStyle(document.querySelector('${selector}')).backgroundColor)[0])`,
      )
    const chosen = await lightness('[role=radio][data-state=on]')
    expect(chosen).toBeGreaterThan((await lightness('[role=radiogroup]:has([role=radio])')) + 0.05)
    await leave(page)
  })

  test('beside the files of a project, the chat keeps 560 pixels', async () => {
    const project = await site.createProject('Wide', { 'a.md': 'a\n' })
    site.upstream.enqueue(turn.text('Hello.'))
    const page = await visitor.open(`${site.server.url}/?project=${project}`)
    await page.getByRole('button', { name: 'Project: Wide' }).waitFor()
    await say(page, 'Hello?')
    await page.getByText('Hello.', { exact: true }).waitFor()
    for (const width of [1280, 1160, 1024]) {
      await page.setViewportSize({ width, height: 800 })
      await page.getByRole('button', { name: 'Project files' }).click()
      await page.getByRole('tab', { name: 'Files' }).waitFor()
      const panel = page.getByRole('complementary', { name: 'Project files' })
      expect(await panel.count()).toBe(width > 1100 ? 1 : 0)
      const form = composer(page).locator('xpath=ancestor::form')
      expect((await form.boundingBox())?.width ?? 0).toBeGreaterThan(510)
      if (width > 1100) await page.getByRole('button', { name: 'Project files' }).click()
    }
    await leave(page)
  })
})

describeInBrowser('an image of an answer', (visitor) => {
  const on = usePageServer(visitor, {
    approval: { default: 'auto_medium' },
    image_generation: { api_url: `${painter.origin}/v1`, api_key: 'key', model: 'painter' },
  })

  test.each([
    { shape: 'tall', width: 1024, height: 1792, phone: true },
    { shape: 'tall', width: 1024, height: 1792, phone: false },
    { shape: 'wide', width: 1792, height: 1024, phone: false },
  ])('that is $shape keeps its shape and is wide enough, phone: $phone', async (one) => {
    const { width, height, phone } = one
    const picture = await sharp({ create: { width, height, channels: 3, background: 'teal' } })
      .png()
      .toBuffer()
    painter.page('/v1/images/generations', async (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ created: 1, data: [{ b64_json: picture.toString('base64') }] }))
    })
    on.upstream.enqueue(
      turn.toolCalls([{ name: 'generate_image', arguments: { prompt: 'A tower' } }]),
      turn.text('Here it is.'),
    )
    const page = await visitor.open(on.server.url, { phone })
    await say(page, 'Paint a tower.')
    const image = page.getByRole('button', { name: /^Show / }).locator('img')
    await image.waitFor()
    const box = await image.boundingBox()
    const text = await page.locator('.prose').first().boundingBox()
    expect((box?.width ?? 0) / (box?.height ?? 1)).toBeCloseTo(width / height, 1)
    // The whole column, or as much of it as one wants to scroll through.
    if (phone || width > height) expect(box?.width).toBeGreaterThan((text?.width ?? 0) - 4)
    else expect(box?.width).toBeGreaterThan(380)
    await leave(page)
  })
})
