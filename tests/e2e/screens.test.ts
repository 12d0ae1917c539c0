// What every screen must provide: readable tables and results, tappable controls, small windows, persistent choices.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  composer,
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
  REMOTE_HOST,
  visit,
} from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { TEST_JWT_SECRET, type TestServer, useServers } from '../support/server/server.ts'

const answer = [
  '| Provider | Region | Remark |',
  '| - | - | - |',
  '| Amazon Web Services | northeast-1 | A sentence that needs room to be read without strain. |',
  '',
  'One[^1], and the [guide][g].',
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
  '',
  '[g]: https://guide.example/tea "Guide"',
  '',
  ...Array.from(
    { length: 20 },
    (_, index) => `The length of side ${index} is $\\sqrt{${index}}$.\n`,
  ),
].join('\n')

/** The controls that are too small to tap, with their size; controls within running text are exempt. */
const smallTargets = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('button,[role=tab],nav a,summary')]
    .filter((one) => one.checkVisibility() && !one.matches('[role=switch],.footnote-mark') && getComputedStyle(one).opacity !== '0')
    .map((one) => ({ box: one.getBoundingClientRect(), name: one.getAttribute('aria-label') ?? one.textContent }))
    .filter(({ box }) => box.width > 0 && Math.min(box.width, box.height) < 43.5)
    .map(({ box, name }) => name + ' ' + Math.round(box.width) + 'x' + Math.round(box.height))`)

/** By how many pixels the content of a view is wider than the view. */
const widestOverflow = (page: Page): Promise<number> =>
  page.evaluate(`Math.max(0, ...[...document.querySelectorAll('.overflow-y-auto')]
    .map((one) => one.scrollWidth - one.clientWidth))`)

/** Moves one finger sideways, between these distances from the left edge. */
async function swipe(page: Page, from: number, to: number): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', x?: number) =>
    devtools.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: x === undefined ? [] : [{ x, y: 300 }],
    })
  await touch('touchStart', from)
  for (const part of [0.25, 0.5, 0.75, 1]) await touch('touchMove', from + (to - from) * part)
  await touch('touchEnd')
  await devtools.detach()
}

describeInBrowser('layout', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  let project: string
  let conversation: string
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({
      config: { ...scripted(upstream), trusted_hosts: [REMOTE_HOST] },
      webRoot: visitor.webRoot(),
    })
    project = (await server.call('POST', '/api/projects', { body: { name: 'Screens' } })).json.data
      .id
    await server.call('POST', '/api/projects', {
      body: { name: 'A-name-without-a-space'.repeat(3) },
    })
    for (const [path, content] of [
      ['src/tea.ts', 'export const tea = 1\n'],
      ['notes.md', 'notes\n'],
    ])
      await server.call('PUT', `/api/projects/${project}/files/${path}`, { body: { content } })
    const talk = async (title: string, projectId?: string): Promise<string> => {
      const created = await server.call('POST', '/api/conversations', {
        body: { title, ...(projectId === undefined ? {} : { project_id: projectId }) },
      })
      await server.call('POST', `/api/conversations/${created.json.data.id}/messages`, {
        body: { text: 'Go on.', stream: false },
      })
      return created.json.data.id
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
    await talk('Another talk')
  })
  afterAll(() => upstream.close())

  for (const phone of [false, true])
    test(`words in tables are not broken, and call-outs, footnotes and foldable sections work, ${phone ? 'on a phone' : 'wide'}`, async () => {
      // A phone is another machine, so the page is not a secure context.
      const page = await visitor.open(`${server.url}/c/${conversation}`, { phone, remote: phone })
      const cell = page.getByRole('cell', { name: 'northeast-1' })
      await cell.waitFor()
      // A single line box, so no word was broken.
      for (const name of ['northeast-1', 'Provider'])
        await expect
          .poll(() =>
            page.evaluate<number>(
              `(() => {
              const cell = [...document.querySelectorAll('td,th')].find((one) => one.textContent === '${name}')
              const range = document.createRange()
              range.selectNodeContents(cell)
              return range.getClientRects().length
            })()`,
            ),
          )
          .toBe(1)
      await expectNoScrolling(page)
      await page.getByRole('note').getByText('Mind the gap.').waitFor()
      await page.getByText('Hidden text.').waitFor({ state: 'hidden' })
      // Links find their definitions in other blocks.
      const guide = page.getByRole('link', { name: 'guide', exact: true })
      expect(await guide.getAttribute('href')).toBe('https://guide.example/tea')
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

  test('search results are shown as a list of links, and the raw data is one click away', async () => {
    const page = await visitor.open(`${server.url}/c/${conversation}`, { remote: true })
    // Truncated text is shown in full on hover.
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

  test('on a phone, every control is large enough to tap, and the drawer opens without a tooltip', async () => {
    const page = await visitor.open(`${server.url}/c/${conversation}`, {
      phone: true,
      remote: true,
    })
    await page.getByRole('cell', { name: 'northeast-1' }).waitFor()
    await expect.poll(() => smallTargets(page)).toEqual([])
    await page.getByRole('button', { name: 'Show sidebar' }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'Another talk' }).waitFor()
    expect(await page.getByRole('tooltip').count()).toBe(0)
    await expect.poll(() => smallTargets(page)).toEqual([])
    await swipe(page, 250, 90)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await swipe(page, 12, 160)
    await page.getByRole('dialog').getByRole('link', { name: 'Another talk' }).waitFor()
    for (const path of [
      '/',
      '/projects',
      `/projects/${project}`,
      '/stats',
      '/settings',
      '/setup',
    ]) {
      await visit(page, path)
      await expect.poll(() => smallTargets(page), { message: path }).toEqual([])
      await expectNoScrolling(page)
      // The views scroll within the page.
      await expect.poll(() => widestOverflow(page), { message: path }).toBeLessThanOrEqual(0)
    }
    await visit(page, '/')
    const middle = async (name: string): Promise<number> => {
      const box = await page.getByRole('button', { name }).boundingBox()
      return (box?.y ?? 0) + (box?.height ?? 0) / 2
    }
    await expect
      .poll(async () => (await middle('Send')) - (await middle('Model:')))
      .toBeCloseTo(0, 0)
    await visit(page, '/projects')
    await page.getByRole('button', { name: 'New project' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Screens')
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
    // The error is shown at the field, and not a second time above the form.
    await page.getByRole('dialog').getByText('already have a project').waitFor()
    expect(await page.getByText('already have a project').count()).toBe(1)
    await leave(page)
  })

  test('a hidden sidebar stays hidden after a reload, and an unknown address links to the home page', async () => {
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

  test('at 400 % zoom, the messages keep more than half of the height', async () => {
    const page = await visitor.open(`${server.url}/c/${conversation}`)
    await page.setViewportSize({ width: 320, height: 200 })
    await page.getByRole('region', { name: 'Messages' }).focus()
    const messages = page.getByRole('region', { name: 'Messages' })
    await expect.poll(async () => (await messages.boundingBox())?.height).toBeGreaterThan(100)
    await expectNoScrolling(page)
    await leave(page)
  })

  test('the usage page shows all seven days without overlaps', async () => {
    const page = await visitor.open(`${server.url}/stats`, { remote: true, phone: true })
    await page.getByText('Scripted', { exact: true }).first().waitFor()
    await expect.poll(() => page.locator('figure li').count()).toBe(7)
    // No label is wider than its day.
    await expect
      .poll(() =>
        page.evaluate<number>(
          "[...document.querySelectorAll('figure li span[aria-hidden]')].filter((one) => one.offsetWidth > one.closest('li').offsetWidth).length",
        ),
      )
      .toBe(0)
    await leave(page)
  })

  test('the first visitor creates an account, and the setup page tells other users that an administrator is needed', async () => {
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
    await guest.getByRole('button', { name: 'Sign in', exact: true }).click()
    await guest.getByText('Only an administrator can add models').waitFor()
    await leave(guest)
    await leave(page)
  })
})
