// The message field in a real browser: queued messages, commands, mentions, models; what an answer offers; the palette.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composer, describeInBrowser, leave, say } from '../support/page/page.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

describeInBrowser('the composer', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  beforeAll(async () => {
    upstream = await startUpstream()
    const first = {
      id: 'first',
      name: 'First',
      api_url: upstream.url,
      api_key: 'test-key',
      vision: true,
    }
    const priced = { context_window: 128_000, price: { input: 3, output: 15, currency: 'USD' } }
    server = await servers.start({
      config: {
        titles: 'first_message',
        models: [
          first,
          { ...first, ...priced, id: 'second', name: 'Second', upstream_model: 'second' },
        ],
      },
      webRoot: visitor.webRoot(),
    })
  })
  afterAll(() => upstream.close())

  test('messages written during an answer are queued, survive a reload, and are sent in order; one can be sent first', async () => {
    const whole = turn.text('An endless story.', { chunkSize: 4 })
    const never = new Promise<void>(() => undefined)
    upstream.enqueue(
      {
        ...whole,
        actions: [...whole.actions.slice(0, 3), { until: never }, ...whole.actions.slice(3)],
      },
      turn.text('To the urgent one.'),
      turn.text('To the patient one.'),
    )
    const page = await visitor.open(server.url)
    await say(page, 'Tell me a story.')
    await page.getByText('An end').waitFor()
    for (const text of ['A patient question', 'A mistake', 'An urgent quest']) await say(page, text)
    const queue = page.getByRole('region', { name: 'Queued messages' })
    const items = queue.getByRole('listitem')
    await items.nth(2).waitFor()
    await page.reload()
    await items.nth(2).waitFor()
    await items.nth(1).getByRole('button', { name: 'Remove from queue' }).click()
    await items.nth(1).getByRole('button', { name: 'Edit queued message' }).click()
    await page.keyboard.type('ion')
    await page.keyboard.press('Enter')
    await items.filter({ hasText: 'An urgent question' }).waitFor()
    await items.nth(1).getByRole('button', { name: 'Stop the answer and send now' }).click()
    await page.getByText('To the patient one.').waitFor()
    await queue.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Regenerate' }).nth(2).waitFor()
    await expect
      .poll(() => page.getByRole('article', { name: 'Your message' }).allInnerTexts())
      .toEqual(['Tell me a story.', 'An urgent question', 'A patient question'])

    await composer(page).press('ArrowUp')
    const field = page.getByRole('textbox', { name: 'Edit' })
    await expect.poll(() => field.inputValue()).toBe('A patient question')
    await field.press('Escape')
    await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('composer')
    await leave(page)
  })

  test('`/` inserts a command, `@` attaches files and a conversation, and a long paste becomes a file', async () => {
    const project = await server.call('POST', '/api/projects', { body: { name: 'Notes' } })
    const id: string = project.json.data.id
    await server.call('PUT', `/api/projects/${id}/files/src/plan.md`, { body: { content: 'Plan' } })
    await server.call('POST', '/api/conversations', { body: { title: 'A talk about tea' } })
    const page = await visitor.open(`${server.url}/?project=${id}`)
    await page.getByRole('button', { name: 'Project: Notes' }).waitFor()
    const field = composer(page)
    await field.pressSequentially('Read @sr')
    const list = page.getByRole('listbox', { name: 'Mentions' })
    await list.getByRole('option', { name: 'src/' }).waitFor()
    await field.press('Enter')
    await list.getByRole('option', { name: 'src/plan.md' }).waitFor()
    await field.press('Enter')
    await expect.poll(() => field.inputValue()).toBe('Read `src/plan.md` ')
    const files = page.getByRole('list', { name: 'Attachments' })
    const chip = files.getByRole('listitem').filter({ hasText: 'plan.md' })
    await chip.locator('xpath=self::*[@aria-busy="false"]').waitFor()
    // A file is found by any part of its path; a click attaches it, too, in place of the earlier copy.
    await server.call('PUT', `/api/projects/${id}/files/src/plan.md`, {
      body: { content: 'Plans' },
    })
    const attached = page.waitForResponse(`${server.url}/api/projects/${id}/attachments`)
    await field.pressSequentially('@lan')
    await list.getByRole('option', { name: 'src/plan.md' }).click()
    expect((await (await attached).json()).data).toMatchObject({ name: 'plan.md', size: 5 })
    await chip.locator('xpath=self::*[@aria-busy="false"]').waitFor()
    expect(await files.getByRole('listitem').count()).toBe(1)
    await field.fill('')
    await field.pressSequentially('@tea')
    await list.getByRole('option', { name: 'A talk about tea' }).waitFor()
    await field.press('Enter')
    await files.getByText('A talk about tea.md').waitFor()
    await page.evaluate(`(() => {
      const data = new DataTransfer()
      data.setData('text/plain', 'many words '.repeat(2_000))
      const paste = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
      document.getElementById('composer').dispatchEvent(paste)
    })()`)
    await files.getByText('Pasted text.txt').waitFor()
    await page.getByText(/^About 6,\d00 tokens/).waitFor()
    await files.getByRole('button', { name: 'Show Pasted text.txt' }).click()
    await page.getByRole('dialog', { name: 'Pasted text.txt' }).getByText('many words').waitFor()
    await page.keyboard.press('Escape')

    await field.fill('')
    await field.pressSequentially('/usa')
    await page.getByRole('option', { name: 'Usage' }).waitFor()
    await field.press('Enter')
    await page.waitForURL((at) => at.pathname === '/stats')
    await leave(page)
  })

  test('what is typed before the browser has drawn an inserted mention stays together behind it', async () => {
    const project = await server.call('POST', '/api/projects', { body: { name: 'Quick' } })
    const id: string = project.json.data.id
    await server.call('PUT', `/api/projects/${id}/files/plan.md`, { body: { content: 'Plan' } })
    const page = await visitor.open(`${server.url}/?project=${id}`)
    await page.getByRole('button', { name: 'Project: Quick' }).waitFor()
    const field = composer(page)
    await field.pressSequentially('Read @pl')
    await page.getByRole('option', { name: 'plan.md' }).waitFor()
    await page.evaluate(`(async () => {
      const type = (text) => document.execCommand('insertText', false, text)
      const frame = () => new Promise(requestAnimationFrame)
      const enter = new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })
      await frame()
      document.getElementById('composer').dispatchEvent(enter)
      await Promise.resolve()
      type('a')
      await frame()
      await frame()
      type('b')
    })()`)
    await expect.poll(() => field.inputValue()).toBe('Read `plan.md` ab')
    await leave(page)
  })

  test('the model picker finds a model by typing, and the next chat uses it', async () => {
    const page = await visitor.open(server.url)
    // A suggestion that needs a file waits for it in the field.
    await page.getByRole('button', { name: 'Summarize a PDF' }).click()
    await expect.poll(() => composer(page).inputValue()).toBe('Summarize the attached PDF.')
    await composer(page).fill('')
    await page.getByRole('button', { name: 'Model: First' }).click()
    const picker = page.getByRole('dialog', { name: 'Model' })
    await picker.getByRole('combobox', { name: 'Search models' }).fill('second')
    const option = picker.getByRole('option')
    expect(await option.allInnerTexts()).toEqual([
      expect.stringContaining('128K context · $3.00 in, $15.00 out per million'),
    ])
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Model: Second' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Model: Second' }).waitFor()
    upstream.enqueue(turn.text('By the second.'))
    await say(page, 'Who are you?')
    await page.getByText('By the second.').waitFor()
    expect(upstream.requests.at(-1)?.model).toBe('second')
    await leave(page)
  })

  test('a menu that goes on below its edge shows that there, until it is scrolled to its end', async () => {
    const page = await visitor.open(server.url)
    await page.setViewportSize({ width: 1024, height: 420 })
    await page.getByRole('button', { name: 'Add files and options' }).click()
    const menu = page.getByRole('menu')
    await expect
      .poll(() => menu.evaluate((list) => list.scrollHeight - list.clientHeight))
      .toBeGreaterThan(20)
    const box = await menu.boundingBox()
    if (box === null) throw new Error('not shown')
    // Beside the items, where only the background is.
    const clip = { x: box.x + 2, y: box.y + box.height - 12, width: 2, height: 8 }
    const before = await page.screenshot({ clip })
    await menu.evaluate((list) => list.scrollTo(0, list.scrollHeight))
    await expect.poll(async () => (await page.screenshot({ clip })).equals(before)).toBe(false)
    await leave(page)
  })

  test('the palette runs commands, and an answer can be quoted, linked to and regenerated by another model', async () => {
    upstream.enqueue(turn.text('Words worth quoting.'), turn.text('Said differently.'))
    const page = await visitor.open(server.url)
    await say(page, 'Say something.')
    const answer = page.getByRole('article', { name: 'Answer' })
    await answer.getByRole('button', { name: 'Regenerate' }).waitFor()
    await page.evaluate(`(() => {
      const range = document.createRange()
      range.selectNodeContents(document.querySelector('[data-message] .prose'))
      getSelection().removeAllRanges()
      getSelection().addRange(range)
    })()`)
    await page.getByRole('button', { name: 'Quote' }).click()
    await expect.poll(() => composer(page).inputValue()).toBe('> Words worth quoting.\n\n')
    await composer(page).fill('')
    await answer.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitemradio', { name: 'Second' }).click()
    await answer.getByText('Said differently.').waitFor()
    expect(upstream.requests.at(-1)?.model).toBe('second')

    // A link opens the branch of its message.
    await answer.getByRole('button', { name: 'Previous version' }).click()
    await answer.getByText('Words worth quoting.').waitFor()
    const first = await page.locator('[data-message]').last().getAttribute('data-message')
    await answer.getByRole('button', { name: 'Next version' }).click()
    await answer.getByText('Said differently.').waitFor()
    await page.goto(`${page.url()}#m-${first}`)
    await answer.getByText('Words worth quoting.').waitFor()

    await page.keyboard.press('Control+K')
    const palette = page.getByRole('combobox', { name: 'Search everything' })
    await palette.fill('dark')
    await page.getByRole('option', { name: 'Switch between light and dark theme' }).waitFor()
    await palette.press('Enter')
    await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    await page.keyboard.press('Control+K')
    await palette.fill('usage')
    await page.getByRole('option', { name: 'Usage' }).waitFor()
    await palette.press('Enter')
    await page.waitForURL((at) => at.pathname === '/stats')
    await leave(page)
  })
})
