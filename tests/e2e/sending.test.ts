// Sending: the message stands in the conversation at once, the field stays free, and a refused text comes back.
import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { composer, describeInBrowser, leave, say } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

interface Sent {
  messages: string[]
  field: string
  readOnly: boolean
}

/** Presses Enter in the message field. Returns what the next frame shows. */
const pressEnter = (page: Page) =>
  page.evaluate<Sent>(`(async () => {
    const field = document.getElementById('composer')
    const enter = new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true })
    field.dispatchEvent(enter)
    await new Promise(requestAnimationFrame)
    const messages = [...document.querySelectorAll('article[aria-label="Your message"]')]
    const { value, readOnly } = document.getElementById('composer')
    return { messages: messages.map((one) => one.innerText.trim()), field: value, readOnly }
  })()`)

/** Holds the requests of this method and path until `release` is called; `answer` replaces the server's response. */
async function hold(
  page: Page,
  method: string,
  path: RegExp,
  answer?: Parameters<Route['fulfill']>[0],
) {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(path, async (route) => {
    if (route.request().method() !== method) return route.fallback()
    await released
    await (answer === undefined ? route.continue() : route.fulfill(answer))
  })
  return () => release()
}

const attach = (page: Page, name: string) =>
  page
    .locator('input[type=file]')
    .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('Some text.') })

/** The files of drafts in this tab. */
const FILE_DRAFTS = "Object.entries(sessionStorage).filter(([key]) => key.includes('draft-files'))"

/** Waits until the file is uploaded and stored as part of a draft. */
const storedFile = (page: Page, name: string) =>
  expect.poll(() => page.evaluate<string>(`JSON.stringify(${FILE_DRAFTS})`)).toContain(name)

/** Where the own message and the field are. */
const places = (page: Page) =>
  page.evaluate<number[]>(`(() => {
    const boxes = [document.querySelector('article[aria-label="Your message"] > [dir]'), document.getElementById('composer')]
    return boxes.flatMap((one) => { const { x, y, width } = one.getBoundingClientRect(); return [x, y, width] })
  })()`)

const ownMessages = (page: Page) => page.getByRole('article', { name: 'Your message' })

describeInBrowser('sending', (visitor) => {
  const on = usePageServer(visitor)

  async function conversation(): Promise<string> {
    on.upstream.enqueue(turn.text('The first answer.'))
    const { json } = await on.server.call('POST', '/api/conversations', { body: {} })
    await on.server.call('POST', `/api/conversations/${json.data.id}/messages`, {
      body: { text: 'The first question.', stream: false },
    })
    return json.data.id
  }

  test('a message stands in the conversation in the frame of its Enter, and what is typed before the server accepts it is kept', async () => {
    const page = await visitor.open(`${on.server.url}/c/${await conversation()}`)
    await page.getByText('The first answer.').waitFor()
    const release = await hold(page, 'POST', /\/messages$/)
    on.upstream.enqueue(turn.text('The second answer.'))
    await composer(page).fill('A thought.')
    expect(await pressEnter(page)).toEqual({
      messages: ['The first question.', 'A thought.'],
      field: '',
      readOnly: false,
    })
    await page.keyboard.type('next thought')
    expect(await composer(page).inputValue()).toBe('next thought')
    release()
    await page.getByText('The second answer.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).nth(1).waitFor()
    expect(await ownMessages(page).count()).toBe(2)
    expect(await composer(page).inputValue()).toBe('next thought')
    await leave(page)
  })

  test('the first message of a conversation stands there in the frame of its Enter; when the conversation opens, nothing moves and the typing goes on', async () => {
    const page = await visitor.open(on.server.url)
    await page.getByRole('button', { name: 'Model: Scripted' }).waitFor()
    const release = await hold(page, 'POST', /\/api\/conversations$/)
    on.upstream.enqueue(turn.text('An answer.'))
    await composer(page).fill('A first thought.')
    expect(await pressEnter(page)).toEqual({
      messages: ['A first thought.'],
      field: '',
      readOnly: false,
    })
    const before = await places(page)
    await page.keyboard.type('next')
    release()
    await page.waitForURL(/\/c\//)
    await page.keyboard.type(' thought')
    await page.getByText('An answer.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    expect(await composer(page).inputValue()).toBe('next thought')
    await expect.poll(() => places(page)).toEqual(before)
    expect(await ownMessages(page).count()).toBe(1)
    await leave(page)
  })

  test('a page that is reloaded before the server accepts a message has its text and its files again', async () => {
    const page = await visitor.open(on.server.url)
    await page.getByRole('button', { name: 'Model: Scripted' }).waitFor()
    await hold(page, 'POST', /\/api\/conversations$/)
    await attach(page, 'early.txt')
    await storedFile(page, 'early.txt')
    await composer(page).fill('A thought.')
    expect((await pressEnter(page)).field).toBe('')
    await page.getByRole('button', { name: 'Remove early.txt' }).waitFor({ state: 'detached' })
    await page.reload()
    await expect.poll(() => composer(page).inputValue()).toBe('A thought.')
    await page.getByRole('button', { name: 'Remove early.txt' }).waitFor()
    await leave(page)
  })

  test('files that are attached while the first message is on its way move into its conversation, also one that is still being uploaded', async () => {
    const page = await visitor.open(on.server.url)
    await page.getByRole('button', { name: 'Model: Scripted' }).waitFor()
    const release = await hold(page, 'POST', /\/messages$/)
    on.upstream.enqueue(turn.text('An answer.'))
    await composer(page).fill('A first thought.')
    await pressEnter(page)
    await attach(page, 'early.txt')
    await storedFile(page, 'early.txt')
    const upload = await hold(page, 'POST', /\/api\/files$/)
    await attach(page, 'late.txt')
    await page.getByRole('button', { name: 'Remove late.txt' }).waitFor()
    release()
    await page.waitForURL(/\/c\//)
    await page.getByText('An answer.').waitFor()
    await page.getByRole('button', { name: 'Remove early.txt' }).waitFor()
    upload()
    await page.getByRole('button', { name: 'Remove late.txt' }).waitFor()
    await storedFile(page, 'late.txt')
    const path = new URL(page.url()).pathname
    expect((await page.evaluate<[string, string][]>(FILE_DRAFTS)).map(([key]) => key)).toEqual([
      expect.stringContaining(path.split('/')[2] ?? '?'),
    ])
    await leave(page)
  })

  test('when the server refuses a message, its text comes back before what was typed since, in a conversation and on the home page', async () => {
    const refusal = {
      status: 429,
      contentType: 'application/json',
      body: JSON.stringify({ code: 429, message: 'Too many runs.', error: 'too_many_runs' }),
    }
    const page = await visitor.open(`${on.server.url}/c/${await conversation()}`)
    await page.getByText('The first answer.').waitFor()
    for (const isHome of [false, true]) {
      if (isHome) await page.goto(on.server.url)
      const release = await hold(page, 'POST', /\/messages$/, refusal)
      await page.getByRole('button', { name: 'Model: Scripted' }).waitFor()
      await composer(page).fill('A thought.')
      await pressEnter(page)
      await page.keyboard.type('next')
      release()
      await expect.poll(() => composer(page).inputValue()).toBe('A thought.\n\nnext')
      await expect.poll(() => ownMessages(page).count()).toBe(isHome ? 0 : 1)
      await page.unrouteAll({ behavior: 'wait' })
    }
    await leave(page)
  })

  test('a message whose response was lost is sent again by itself and stored once, before another one that was queued meanwhile', async () => {
    const id = await conversation()
    const page = await visitor.open(`${on.server.url}/c/${id}`)
    await page.getByText('The first answer.').waitFor()
    let lose = (): void => undefined
    const lost = new Promise<void>((resolve) => {
      lose = resolve
    })
    await page.route(/\/messages$/, async (route) => {
      await route.fetch()
      await lost
      await route.abort()
    })
    on.upstream.enqueue(turn.text('The second answer.'), turn.text('The third answer.'))
    await say(page, 'A thought.')
    await say(page, 'Another one.')
    const queue = page.getByRole('region', { name: 'Queued messages' })
    await queue.getByText('Another one.').waitFor()
    lose()
    await queue.getByText('A thought.').waitFor()
    expect(await queue.getByRole('listitem').allInnerTexts()).toEqual([
      'A thought.',
      'Another one.',
    ])
    await page.unrouteAll({ behavior: 'wait' })
    await page.getByText('The third answer.').waitFor()
    const { json } = await on.server.call('GET', `/api/conversations/${id}/messages`)
    const stored: { role: string; text: string }[] = json.data.items
    expect(stored.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual([
      'The first question.',
      'A thought.',
      'Another one.',
    ])
    await leave(page)
  })
})
