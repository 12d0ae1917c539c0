// Accessibility of the page: no axe violations in both themes and languages, on a phone, and keyboard-only use.
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  composer,
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
  say,
  visit,
} from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

const richAnswer = () =>
  turn.thinking(
    'First I look at it.',
    '## A heading\n\nSome `code`, a [link](https://example.org), and\n\n- one\n- [x] two\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```ts\nconst answer: number = 42 // why not\n```\n\n> quoted\n\n$$a^2 + b^2 = c^2$$',
  )

describeInBrowser('accessibility', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  let conversation: string
  let project: string
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({ config: scripted(upstream), webRoot: visitor.webRoot() })
    upstream.enqueue(
      turn.toolCalls([
        { name: 'calculator', arguments: { expression: '1 + 1' } },
        { name: 'calculator', arguments: { expression: '1 +' } },
      ]),
      richAnswer(),
    )
    const created = await server.call('POST', '/api/conversations', { body: { title: 'A talk' } })
    conversation = `${server.url}/c/${created.json.data.id}`
    await server.call('POST', `/api/conversations/${created.json.data.id}/messages`, {
      body: { text: 'Show me everything.', stream: false },
    })
    const folder = await server.call('POST', '/api/projects', { body: { name: 'A project' } })
    project = `${server.url}/projects/${folder.json.data.id}`
    await server.call('PUT', `/api/projects/${folder.json.data.id}/files/src/main.py`, {
      body: { content: 'print("hello")\n' },
    })
  })
  afterAll(() => upstream.close())

  // Colours do not depend on the language: only in one of them they are checked with each theme and contrast.
  for (const [language, themes, contrasts] of [
    ['en-US', ['light', 'dark'], ['normal', 'more']],
    ['zh-CN', ['dark'], ['normal']],
  ] as const)
    test(`axe finds no violation in a chat, language ${language}, ${themes.join(' and ')}, contrast ${contrasts.join(' and ')}`, async () => {
      const page = await visitor.open(server.url, { language })
      await composer(page).waitFor()
      await expect
        .poll(() => page.evaluate<string>('document.documentElement.lang'))
        .toBe(language === 'en-US' ? 'en' : 'zh-CN')
      const inItsThemes = async (): Promise<void> => {
        for (const [at, colorScheme] of themes.entries()) {
          await page.emulateMedia({ colorScheme })
          await page.locator(`html[data-theme=${colorScheme}]`).waitFor()
          for (const contrast of contrasts) {
            await page.emulateMedia({ contrast: contrast === 'more' ? 'more' : 'no-preference' })
            // What does not depend on colours has been checked in the first theme.
            const isWhole = at === 0 && contrast === 'normal'
            await expectAccessible(page, isWhole ? {} : { colours: contrast })
          }
        }
      }
      await inItsThemes()
      await page.goto(conversation)
      await page.locator('.katex').first().waitFor()
      const folded = page.locator('article button[aria-expanded=false]:not([aria-haspopup])')
      while ((await folded.count()) > 0) await folded.first().click()
      await inItsThemes()
      await leave(page)
    })

  for (const [theme, language] of [
    ['light', 'en-US'],
    ['dark', 'zh-CN'],
  ] as const)
    test(`axe finds no violation on the other pages, ${theme}, ${language}`, {
      timeout: 120_000,
    }, async () => {
      const page = await visitor.open(server.url, { theme, language })
      await composer(page).waitFor()
      for (const path of [
        '/projects',
        '/memory',
        '/stats',
        '/settings',
        '/settings/models',
        '/settings/mcp',
        '/settings/channels',
        '/settings/account',
        '/setup',
      ]) {
        await visit(page, path)
        await expectAccessible(page)
      }
      await page.goto(project)
      await page.getByText('src', { exact: true }).click()
      await page.getByText('main.py').click()
      await page.locator('.cm-content').waitFor()
      await expectAccessible(page)
      await leave(page)
    })

  test('on a phone, nothing is cut off and the sidebar opens as a drawer', async () => {
    const page = await visitor.open(conversation, { phone: true })
    await page.locator('.katex').first().waitFor()
    await expectNoScrolling(page)
    await page.getByRole('button', { name: 'Show sidebar' }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByRole('link', { name: /New conversation/ }).click()
    await composer(page).waitFor()
    await drawer.waitFor({ state: 'hidden' })
    await expectNoScrolling(page)
    for (const path of ['/projects', '/memory', '/stats', '/settings/channels', '/setup']) {
      await visit(page, path)
      await expectNoScrolling(page)
    }
    await page.goto(project)
    await page.getByText('src', { exact: true }).click()
    await page.getByText('main.py').click()
    await page.locator('.cm-content').waitFor()
    await expectNoScrolling(page)
    await leave(page)
  })

  test('a button shows no tooltip while its menu is open', async () => {
    const page = await visitor.open(server.url, { ownContext: true })
    await composer(page).waitFor()
    await page.clock.install()
    const button = page.getByRole('button', { name: 'Add files and options' })
    const tip = page.getByRole('tooltip')
    // Synthetic pointer events: a real pointer would have to leave the open menu.
    const pointAt = async (): Promise<void> => {
      await button.dispatchEvent('pointerover', { pointerType: 'mouse', bubbles: true })
      await page.clock.runFor(2_000)
    }
    await pointAt()
    await tip.waitFor()
    await button.click()
    await page.getByRole('menuitemradio', { name: 'Never ask' }).waitFor()
    await tip.waitFor({ state: 'detached' })
    await pointAt()
    expect(await tip.count()).toBe(0)
    await leave(page)
  })

  test('every control of a chat can be reached with the keyboard alone', async () => {
    const page = await visitor.open(server.url)
    await composer(page).waitFor()
    const focused = () => page.evaluate<string>('document.activeElement?.id ?? ""')
    // The composer has the focus initially; `/` focuses it from anywhere.
    expect(await focused()).toBe('composer')
    await page.keyboard.press('Tab')
    expect(await focused()).not.toBe('composer')
    // Icon buttons show a tooltip on keyboard focus as well as on hover; Escape hides it.
    const tip = page.getByRole('tooltip')
    await tip.getByText('Add files and options').waitFor()
    await page.keyboard.press('Escape')
    await tip.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Add files and options' }).hover()
    await tip.waitFor()
    await page.mouse.move(2, 2)
    await tip.waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    expect(await focused()).toBe('composer')

    upstream.enqueue(turn.text('By keyboard.'))
    await page.keyboard.type('line one')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('line two')
    await page.keyboard.press('Enter')
    await page.getByText('By keyboard.').waitFor()
    expect(upstream.requests.at(-1)?.messages.at(-1)?.content).toContain('line one\nline two')

    await page.getByRole('searchbox', { name: 'Filter by title' }).focus()
    await page.keyboard.type('A talk')
    const list = page.getByRole('navigation', { name: 'Conversations' })
    await list.getByRole('link', { name: 'line one' }).waitFor({ state: 'hidden' })
    await list.getByRole('link', { name: 'A talk' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'A talk' }).waitFor()

    await page.keyboard.press('Control+Shift+O')
    await page.getByRole('list', { name: 'Things to try' }).waitFor()
    await page.getByRole('button', { name: 'Add files and options' }).focus()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.locator('[aria-label="Add files and options"]:focus').waitFor()
    await leave(page)
  })

  test('Tab reaches the message field past many conversations, and the first stop is a skip link to it', async () => {
    for (let at = 0; at < 41; at += 1)
      await server.call('POST', '/api/conversations', { body: { title: `Talk ${at}` } })
    const page = await visitor.open(conversation)
    await page.locator('.katex').first().waitFor()
    // The open conversation is older than these, and the list has scrolled to it.
    await page.getByRole('link', { name: 'Talk 0', exact: true }).waitFor()
    const focused = () => page.evaluate<string>('document.activeElement?.id ?? ""')
    const first = 'document.querySelector(\'a,button,input,textarea,[tabindex="0"]\')'
    await expect
      .poll(() => page.evaluate<string>(`${first}.textContent`))
      .toBe('Skip to message field')
    const skip = page.getByRole('link', { name: 'Skip to message field' })
    await skip.focus()
    let stops = 1
    while (stops < 160 && (await focused()) !== 'composer') {
      await page.keyboard.press('Tab')
      stops += 1
    }
    expect(await focused()).toBe('composer')
    await skip.focus()
    await page.keyboard.press('Enter')
    expect(await focused()).toBe('composer')
    await leave(page)
  })

  test('a screen reader announces the state of the answer, not each token', async () => {
    let open = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    upstream.enqueue(turn.text('Quietly said.', { until: gate }))
    const page = await visitor.open(server.url)
    await say(page, 'Speak.')
    const status = page.locator('[role=status][aria-live=polite].sr-only')
    await status.getByText('The agent is answering.').waitFor()
    open()
    await page.getByText('Quietly said.').waitFor()
    expect(await page.locator('[aria-live=assertive]').count()).toBe(0)
    expect(await page.locator('article [aria-live]').count()).toBe(0)
    await leave(page)
  })

  test('a chosen theme and language survive a reload', async () => {
    const page = await visitor.open(`${server.url}/settings/appearance`)
    await page.getByRole('radio', { name: 'Dark' }).click()
    await page.getByRole('combobox', { name: 'Language' }).selectOption({ label: '简体中文' })
    await page.getByRole('heading', { name: '设置' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: '设置' }).waitFor()
    await expect
      .poll(() => page.evaluate<string>('document.documentElement.dataset.theme'))
      .toBe('dark')
    await leave(page)
  })
})
