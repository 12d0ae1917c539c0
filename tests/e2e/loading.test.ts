// What the page shows while it loads and while an answer streams: frame, title, messages, fonts, selection, formulas.
import { beforeAll, expect, test } from 'vitest'
import { composer, describeInBrowser, leave, REMOTE_HOST, say } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

const table = ['| Provider | Region |', '| - | - |', '| Amazon | northeast-1 |'].join('\n')

describeInBrowser('loading the page', (visitor) => {
  const on = usePageServer(visitor, { trusted_hosts: [REMOTE_HOST] })
  let conversation: string
  let other: string
  let project: string
  beforeAll(async () => {
    const talk = async (title: string): Promise<string> => {
      const { json } = await on.server.call('POST', '/api/conversations', { body: { title } })
      await on.server.call('POST', `/api/conversations/${json.data.id}/messages`, {
        body: { text: 'Go on.', stream: false },
      })
      return json.data.id
    }
    on.upstream.enqueue(turn.text(table), turn.text('Nothing else.'))
    conversation = await talk('A talk about regions')
    other = await talk('Another talk')
    project = await on.createProject('Tea', { 'tea.md': 'tea' })
  })

  test('a conversation shows its title and the composer while its messages are loading', async () => {
    const page = await visitor.open(`${on.server.url}/c/${conversation}`)
    await page.getByRole('cell', { name: 'northeast-1' }).waitFor()
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(`**/api/conversations/${other}**`, async (route) => {
      await gate
      await route.continue()
    })
    await page.getByRole('link', { name: 'Another talk' }).click()
    await page.getByRole('heading', { name: 'Another talk' }).waitFor()
    await composer(page).waitFor()
    release()
    await page.getByText('Nothing else.').waitFor()
    await leave(page)
  })

  for (const { what, failing, path, shown } of [
    { what: 'the page', failing: '**/api/auth/mode', path: '/', shown: 'New conversation' },
    {
      what: 'the list of models',
      failing: '**/api/models',
      path: '/settings/models',
      shown: 'Default',
    },
    {
      what: 'the files of a project',
      failing: '**/api/projects/*/files*',
      path: '/projects/:id',
      shown: 'tea.md',
    },
    { what: 'the limits', failing: '**/api/quota', path: '/stats', shown: 'Your limits' },
  ])
    test(`if a proxy answers instead of the server, ${what} cannot load, the text says why, and the button loads it again`, async () => {
      const page = await visitor.open(on.server.url)
      await page.route(failing, (route) =>
        route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' }),
      )
      await page.goto(`${on.server.url}${path.replace(':id', project)}`)
      const alert = page.locator('main').getByRole('alert')
      await alert.getByText('answered with HTTP 502').waitFor()
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await alert.getByRole('button', { name: 'Try again' }).click()
      await page.getByText(shown, { exact: true }).first().waitFor()
      await alert.waitFor({ state: 'detached' })
      await leave(page)
    })

  test('on a slow connection, the layout and a message field are painted before any script loads, and raw Markdown is never shown', async () => {
    const page = await visitor.open('about:blank', { ownContext: true })
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/\/assets\//, async (route) => {
      await gate
      await route.continue()
    })
    await page.goto(`${on.server.url}/c/${conversation}`, { waitUntil: 'commit' })
    await page.locator('#early-box').waitFor()
    // Not only in the DOM: the browser reports that it was painted.
    await expect
      .poll(() => page.evaluate("performance.getEntriesByName('first-paint').length"), {
        timeout: 45_000,
      })
      .toBe(1)
    // Text written meanwhile moves to the composer, even in the middle of a word of an input method.
    const keyboard = await page.context().newCDPSession(page)
    await page.locator('#early-message').pressSequentially('A word ')
    await keyboard.send('Input.imeSetComposition', {
      text: 'ni',
      selectionStart: 2,
      selectionEnd: 2,
    })
    await page.evaluate(`new MutationObserver(() => {
      if (document.body.innerText.includes('| - |')) document.documentElement.dataset.raw = 'seen'
    }).observe(document.body, { subtree: true, childList: true, characterData: true })`)
    const network = await page.context().newCDPSession(page)
    await network.send('Network.enable')
    await network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 20,
      downloadThroughput: 200 * 1024,
      uploadThroughput: 200 * 1024,
    })
    release()
    await page.getByRole('cell', { name: 'northeast-1' }).waitFor()
    expect(await page.evaluate('document.documentElement.dataset.raw')).toBeUndefined()
    await keyboard.send('Input.imeSetComposition', {
      text: '你',
      selectionStart: 1,
      selectionEnd: 1,
    })
    await keyboard.send('Input.insertText', { text: '你好' })
    await page.locator('#early').waitFor({ state: 'detached' })
    await page.keyboard.type('!')
    expect(await composer(page).inputValue()).toBe('A word 你好!')
    await page.context().close()
  })

  test('if the application cannot be loaded, a notice in the reader’s language says so and retries', async () => {
    const page = await visitor.open('about:blank', { ownContext: true, language: 'zh-CN' })
    await page.route(/\/assets\/libraries-/, (route) => route.abort())
    await page.goto(on.server.url)
    await page.getByRole('alert').getByText('NanoClaw 未能加载。').waitFor()
    expect(await page.locator('.boot').count()).toBe(0)
    await page.unrouteAll()
    await page.getByRole('button', { name: '重新加载' }).click()
    await composer(page).waitFor()
    await page.context().close()
  })

  test('if the code of a conversation does not arrive, the sidebar with its list appears without it, and the conversation once it has', async () => {
    const page = await visitor.open('about:blank', { ownContext: true })
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/\/assets\/chat-(?!icons)/, async (route) => {
      await gate
      await route.continue()
    })
    await page.goto(`${on.server.url}/c/${conversation}`, { waitUntil: 'commit' })
    await page.getByRole('link', { name: 'Another talk' }).waitFor()
    release()
    await page.getByRole('cell', { name: 'northeast-1' }).waitFor()
    await page.context().close()
  })

  test('messages are requested before the code that renders them, an early message is sent once that has loaded, its field does not move, and fonts load last', async () => {
    const page = await visitor.open('about:blank', { ownContext: true })
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const requested: string[] = []
    page.on('request', (request) => requested.push(new URL(request.url()).pathname))
    await page.addInitScript(`
      globalThis.places = new Set()
      const look = () => {
        const field = document.getElementById('early-message')
        if (field !== null) places.add(field.getBoundingClientRect().y)
        requestAnimationFrame(look)
      }
      look()
    `)
    await page.route(/\/assets\/markdown-/, async (route) => {
      await gate
      await route.continue()
    })
    const messages = page.waitForRequest(/\/messages\?/)
    await page.goto(`${on.server.url}/c/${conversation}`, { waitUntil: 'commit' })
    await messages
    expect(requested.filter((path) => /\.woff2$|fonts-.*\.css$/.test(path))).toEqual([])
    // Sent before the composer is there: the field says so, and the composer sends it once.
    on.upstream.enqueue(turn.text('An early answer.'))
    const early = page.locator('#early-message')
    const place = await early.boundingBox()
    await early.fill('Something early')
    await early.press('Enter')
    await page.getByRole('status').getByText('Will be sent as soon as the page is ready').waitFor()
    const fonts = page.waitForRequest(/\.woff2$/)
    release()
    await page.getByRole('cell', { name: 'northeast-1' }).waitFor()
    await fonts
    await page.getByText('An early answer.').waitFor()
    expect(await page.getByText('Something early').count()).toBe(1)
    await expect.poll(() => composer(page).boundingBox()).toEqual(place)
    expect(await page.evaluate('[...places]')).toEqual([place?.y])
    await page.context().close()
  })

  test('a conversation, its messages and the texts of its page are requested with the document, and only once', async () => {
    const page = await visitor.open('about:blank', { ownContext: true })
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const requested: string[] = []
    page.on('request', (request) => requested.push(new URL(request.url()).pathname))
    await page.route(/\/assets\/libraries-/, async (route) => {
      await held
      await route.continue()
    })
    // When the stream of changes opens, what was read before it is read again.
    await page.route(/\/api\/events/, (route) => route.abort())
    const path = `/api/conversations/${other}`
    const early = [path, `${path}/messages`]
    await page.goto(`${on.server.url}/c/${other}`, { waitUntil: 'commit' })
    await expect.poll(() => requested).toEqual(expect.arrayContaining(early))
    const texts = () => requested.filter((name) => name.startsWith('/assets/texts-'))
    await expect.poll(texts).toHaveLength(1)
    release()
    await page.getByText('Nothing else.').waitFor()
    expect(requested.filter((name) => early.includes(name))).toHaveLength(2)
    expect(texts()).toHaveLength(1)
    await page.context().close()
  })

  test('selected text stays selected while its paragraph grows, and a formula is drawn before it is complete', async () => {
    let open = (): void => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const first = turn.text('The first words of it, ')
    const rest = turn.text(' and many more words.\n\n\\[ \\frac{a}{b')
    const last = turn.text(' + c} \\]\n\nDone.')
    let release = (): void => {}
    const formula = new Promise<void>((resolve) => {
      release = resolve
    })
    const pieces = ({ actions }: typeof first) =>
      actions.filter((action) => 'send' in action && String(action.send).includes('"content"'))
    on.upstream.enqueue({
      ...first,
      actions: [
        ...pieces(first),
        { until: gate },
        ...pieces(rest),
        { until: formula },
        ...last.actions,
      ],
    })
    const page = await visitor.open(on.server.url, { remote: true, phone: true })
    await say(page, 'Write slowly.')
    await page.getByText('The first words of it').waitFor()
    await page.evaluate(`(() => {
      const text = document.createTreeWalker(document.querySelector('.prose p'), NodeFilter.SHOW_TEXT).nextNode()
      getSelection().setBaseAndExtent(text, 4, text, 15)
    })()`)
    const selected = () => page.evaluate<string>('getSelection().toString()')
    expect(await selected()).toBe('first words')
    open()
    await page.getByText('and many more words.').waitFor()
    expect(await selected()).toBe('first words')
    await page.locator('.katex .mfrac').waitFor()
    release()
    await page.getByText('Done.').waitFor()
    await leave(page)
  })
})
