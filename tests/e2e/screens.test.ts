// What every screen owes its reader: tables and results to be read, fingers, small windows, slow lines, choices that last.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  composer,
  describeInBrowser,
  expectAccessible,
  expectNoSideways,
  leave,
  REMOTE_HOST,
  say,
  visit,
} from '../support/page.ts'
import { scripted } from '../support/scripted.ts'
import { TEST_JWT_SECRET, type TestServer, useServers } from '../support/server.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { turn } from '../support/upstream-turns.ts'

const answer = [
  '| Provider | Region | Remark |',
  '| - | - | - |',
  '| Amazon Web Services | northeast-1 | A sentence that needs room to be read without strain. |',
  '',
  'One[^1].',
  '',
  '> [!WARNING]',
  '> Mind the gap.',
  '',
  '<details><summary>More</summary>',
  '',
  'Hidden text.',
  '',
  '</details>',
  '',
  'שלום עולם',
  '',
  '[^1]: The note.',
].join('\n')

/** The smallest side of each control that a finger can reach and that is not a word within a text, with its name. */
const smallTargets = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('button,[role=tab],nav a,summary')]
    .filter((one) => one.checkVisibility() && !one.matches('[role=switch],.footnote-mark') && getComputedStyle(one).opacity !== '0')
    .map((one) => ({ box: one.getBoundingClientRect(), name: one.getAttribute('aria-label') ?? one.textContent }))
    .filter(({ box }) => box.width > 0 && Math.min(box.width, box.height) < 43.5)
    .map(({ box, name }) => name + ' ' + Math.round(box.width) + 'x' + Math.round(box.height))`)

describeInBrowser('screens', (visitor) => {
  const servers = useServers()
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-screens-'))
  let upstream: Upstream
  let server: TestServer
  let project: string
  let conversation: string
  let other: string
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({
      config: { ...scripted(upstream), trusted_hosts: [REMOTE_HOST] },
      webRoot: visitor.webRoot(),
    })
    project = (await server.call('POST', '/api/projects', { body: { name: 'Screens' } })).json.data
      .id
    for (const [path, content] of [
      ['src/tea.ts', 'export const tea = 1\n'],
      ['notes.md', 'notes\n'],
    ])
      await server.call('PUT', `/api/projects/${project}/files/${path}`, { body: { content } })
    const talk = async (title: string, projectId?: string): Promise<string> => {
      const made = await server.call('POST', '/api/conversations', {
        body: { title, ...(projectId === undefined ? {} : { project_id: projectId }) },
      })
      await server.call('POST', `/api/conversations/${made.json.data.id}/messages`, {
        body: { text: 'Go on.', stream: false },
      })
      return made.json.data.id
    }
    upstream.enqueue(
      turn.toolCalls([{ name: 'file_grep', arguments: { pattern: 'tea' } }]),
      turn.text(answer),
      turn.text('Nothing else.'),
    )
    conversation = await talk(
      'A talk with a title that is much longer than a phone is wide',
      project,
    )
    other = await talk('Another talk')
  })
  afterAll(async () => {
    await upstream.close()
    rmSync(folder, { recursive: true, force: true })
  })

  for (const phone of [false, true])
    test(`no word of a table is broken, call-outs, footnotes and foldable sections work, ${phone ? 'on a phone' : 'wide'}`, async () => {
      // A phone is another machine: what it opens is no secure context.
      const page = await visitor.open(`${server.url}/c/${conversation}`, { phone, remote: phone })
      const cell = page.getByRole('cell', { name: 'northeast-1' })
      await cell.waitFor()
      // One line of text, so that nothing of the word is on another one.
      for (const name of ['northeast-1', 'Provider'])
        expect(
          await page.evaluate<number>(
            `(() => {
              const cell = [...document.querySelectorAll('td,th')].find((one) => one.textContent === '${name}')
              const range = document.createRange()
              range.selectNodeContents(cell)
              return range.getClientRects().length
            })()`,
          ),
        ).toBe(1)
      await expectNoSideways(page)
      await page.getByRole('note').getByText('Mind the gap.').waitFor()
      await page.getByText('Hidden text.').waitFor({ state: 'hidden' })
      await page.locator('summary').click()
      await page.getByText('Hidden text.').waitFor()
      await page.getByRole('button', { name: 'Footnote 1', exact: true }).click()
      await page.locator('.footnotes li:focus').getByText('The note.').waitFor()
      expect(
        await page.evaluate<string>(
          "getComputedStyle([...document.querySelectorAll('.prose p')].find((one) => one.textContent === 'שלום עולם')).direction",
        ),
      ).toBe('rtl')
      await expectAccessible(page)
      await leave(page)
    })

  test('what a search found is a list with links, the data as it was sent one click away', async () => {
    const page = await visitor.open(`${server.url}/c/${conversation}`, { remote: true })
    // What is too long for its place is told in full under the pointer.
    const title = 'A talk with a title that is much longer than a phone is wide'
    for (const place of [page.locator('header'), page.getByRole('navigation')])
      await place.getByTitle(title).first().waitFor()
    await page.getByRole('button', { name: /^Search files/, expanded: false }).click()
    const list = page.getByRole('list', { name: 'Result' })
    await list.getByText('export const tea = 1').waitFor()
    await page.getByRole('button', { name: 'Raw data' }).click()
    await page.getByText('"matches": [').waitFor()
    await page.getByRole('button', { name: 'Raw data' }).click()
    await list.getByRole('link', { name: 'src/tea.ts:1' }).click()
    await page.locator('.cm-content').getByText('export const tea').waitFor()
    await leave(page)
  })

  test('on a phone every control is large enough for a finger, and the drawer opens without a tip', async () => {
    const page = await visitor.open(`${server.url}/c/${conversation}`, {
      phone: true,
      remote: true,
    })
    await page.getByRole('cell', { name: 'northeast-1' }).waitFor()
    expect(await smallTargets(page)).toEqual([])
    await page.getByRole('button', { name: 'Show sidebar' }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'Another talk' }).waitFor()
    expect(await page.getByRole('tooltip').count()).toBe(0)
    expect(await smallTargets(page)).toEqual([])
    for (const path of [
      '/',
      '/projects',
      `/projects/${project}`,
      '/stats',
      '/settings',
      '/setup',
    ]) {
      await visit(page, path)
      expect([path, await smallTargets(page)]).toEqual([path, []])
      await expectNoSideways(page)
    }
    await visit(page, '/')
    const middle = async (name: string): Promise<number> => {
      const box = await page.getByRole('button', { name }).boundingBox()
      return (box?.y ?? 0) + (box?.height ?? 0) / 2
    }
    expect(await middle('Send')).toBeCloseTo(await middle('Model:'), 0)
    await visit(page, '/projects')
    await page.getByRole('button', { name: 'New project' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Screens')
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
    // Told where it was written, and not a second time above it.
    await page.getByRole('dialog').getByText('already have a project').waitFor()
    expect(await page.getByText('already have a project').count()).toBe(1)
    await leave(page)
  })

  test('a hidden sidebar stays hidden, and an address where nothing is leads home', async () => {
    const page = await visitor.open(`${server.url}/nowhere`)
    await page.getByRole('link', { name: 'Go to the home page' }).waitFor()
    await page.getByRole('button', { name: 'Hide sidebar' }).click()
    await page.reload()
    await page.getByRole('link', { name: 'Go to the home page' }).waitFor()
    expect(await page.getByRole('complementary', { name: 'Sidebar' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Go to the home page' }).click()
    await composer(page).waitFor()
    await page.getByRole('button', { name: 'Show sidebar' }).click()
    await page.reload()
    await page.getByRole('complementary', { name: 'Sidebar' }).waitFor()
    await leave(page)
  })

  test('at 400 % zoom more than half of the height is left for what is read', async () => {
    const page = await visitor.open(`${server.url}/c/${conversation}`)
    await page.setViewportSize({ width: 320, height: 200 })
    await page.getByRole('region', { name: 'Messages' }).focus()
    const box = await page.getByRole('region', { name: 'Messages' }).boundingBox()
    expect(box?.height).toBeGreaterThan(100)
    await expectNoSideways(page)
    await leave(page)
  })

  test('going to another conversation keeps its title and the field while the answer of the server is awaited', async () => {
    const page = await visitor.open(`${server.url}/c/${conversation}`)
    await page.getByRole('cell', { name: 'northeast-1' }).waitFor()
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(`**/api/conversations/${other}**`, async (route) => {
      await held
      await route.continue()
    })
    await page.getByRole('link', { name: 'Another talk' }).click()
    await page.getByRole('heading', { name: 'Another talk' }).waitFor()
    await composer(page).waitFor()
    release()
    await page.getByText('Nothing else.').waitFor()
    await leave(page)
  })

  test('on a slow line the frame stands before any script has come, and no raw Markdown is ever seen', async () => {
    const page = await visitor.open('about:blank')
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/\/assets\//, async (route) => {
      await held
      await route.continue()
    })
    await page.goto(`${server.url}/c/${conversation}`, { waitUntil: 'commit' })
    await page.locator('.boot-box').waitFor()
    // Painted, not only there: the browser reports it.
    await expect
      .poll(() => page.evaluate("performance.getEntriesByName('first-paint').length"), {
        timeout: 45_000,
      })
      .toBe(1)
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
    await page.context().close()
  })

  test('fonts and later code are asked for only when a conversation can be read, its messages before that', async () => {
    const page = await visitor.open('about:blank')
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.route(/\/assets\/markdown-/, async (route) => {
      await held
      await route.continue()
    })
    const messages = page.waitForRequest(/\/messages\?/)
    await page.goto(`${server.url}/c/${conversation}`, { waitUntil: 'commit' })
    await messages
    expect(asked.filter((path) => /\.woff2$|fonts-.*\.css$/.test(path))).toEqual([])
    const fonts = page.waitForRequest(/\.woff2$/)
    release()
    await page.getByRole('cell', { name: 'northeast-1' }).waitFor()
    await fonts
    await page.context().close()
  })

  test('what is selected stays selected while its paragraph grows, and a formula is drawn before its end', async () => {
    let open = (): void => undefined
    const held = new Promise<void>((resolve) => {
      open = resolve
    })
    const first = turn.text('The first words of it, ')
    const rest = turn.text(' and many more words.\n\n\\[ \\frac{a}{b')
    const last = turn.text(' + c} \\]\n\nDone.')
    let release = (): void => undefined
    const formula = new Promise<void>((resolve) => {
      release = resolve
    })
    const pieces = ({ actions }: typeof first) =>
      actions.filter((action) => 'send' in action && String(action.send).includes('"content"'))
    upstream.enqueue({
      ...first,
      actions: [
        ...pieces(first),
        { until: held },
        ...pieces(rest),
        { until: formula },
        ...last.actions,
      ],
    })
    const page = await visitor.open(server.url, { remote: true, phone: true })
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

  test('files are uploaded with a button, a picture is shown, another binary is offered, changes are saved on the way out', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    writeFileSync(join(folder, 'dot.png'), png)
    writeFileSync(join(folder, 'data.bin'), Buffer.from([0, 255, 254, 0, 1]))
    const page = await visitor.open(`${server.url}/projects`, { remote: true })
    await page.getByRole('button', { name: 'Upload a folder' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('input[type=file]').setInputFiles(folder)
    await dialog.getByRole('button', { name: 'Upload', exact: true }).click()
    const tree = page.getByRole('navigation', { name: 'Files' })
    await tree.getByText('dot.png').click()
    const picture = page.getByRole('img', { name: 'Image dot.png' })
    await picture.waitFor()
    expect(
      await page.evaluate<number>("document.querySelector('img[alt^=Image]').naturalWidth"),
    ).toBe(1)
    await expectAccessible(page)
    await tree.getByText('data.bin').click()
    await page.getByText('This isn’t a text file.').waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).last().click()
    expect((await download).suggestedFilename()).toBe('data.bin')

    await page.getByRole('button', { name: 'Upload files' }).waitFor()
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles({
        name: 'new.md',
        mimeType: 'text/markdown',
        buffer: Buffer.from('new\n'),
      })
    const question = page.getByRole('alertdialog')
    await question.getByText('Add 1 file?').waitFor()
    await question.getByRole('button', { name: 'Add', exact: true }).click()
    await tree.getByText('new.md').click()
    await page.locator('.cm-content').click()
    await page.keyboard.type('mine ')
    await tree.getByText('dot.png').click()
    await question.getByRole('button', { name: 'Save' }).click()
    await picture.waitFor()
    const id = new URL(page.url()).pathname.split('/').at(-1)
    const { json } = await server.call('GET', `/api/projects/${id}/files/new.md`)
    expect(json.data.content).toContain('mine ')
    await leave(page)
  })

  test('the usage page shows all seven days, names and amounts as people write them', async () => {
    const page = await visitor.open(`${server.url}/stats`, { remote: true, phone: true })
    await page.getByText('Scripted', { exact: true }).waitFor()
    expect(await page.locator('figure li').count()).toBe(7)
    // No day runs into the next one.
    expect(
      await page.evaluate<number>(
        "[...document.querySelectorAll('figure li span[aria-hidden]')].filter((one) => one.offsetWidth > one.closest('li').offsetWidth).length",
      ),
    ).toBe(0)
    await leave(page)
  })

  test('the first account is created, not welcomed back; who is no administrator is told so on the setup page', async () => {
    const multi = await servers.start({
      config: {
        ...scripted(upstream),
        auth_mode: 'multi',
        registration: 'open',
        jwt_secret: TEST_JWT_SECRET,
      },
      webRoot: visitor.webRoot(),
    })
    const page = await visitor.open(multi.url)
    await page.getByRole('heading', { name: 'Create the first account' }).waitFor()
    await expectAccessible(page)
    await page.getByLabel('Username').fill('ann')
    await page.getByLabel('Password').fill('correct horse')
    await page.getByRole('button', { name: 'Create account' }).click()
    await composer(page).waitFor()
    await multi.call('POST', '/api/auth/register', {
      body: { username: 'ben', password: 'battery staple' },
    })
    const guest = await visitor.open(`${multi.url}/setup`)
    await guest.getByRole('heading', { name: 'Welcome back' }).waitFor()
    await guest.getByLabel('Username').fill('ben')
    await guest.getByLabel('Password').fill('battery staple')
    await guest.getByRole('button', { name: 'Sign in' }).click()
    await guest.getByText('Only an administrator can add models').waitFor()
    await leave(guest)
    await leave(page)
  })
})
