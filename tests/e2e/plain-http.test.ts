// The page over plain HTTP from another machine, without a secure context: sending, copying, refusals, drops.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composer, describeInBrowser, leave, REMOTE_HOST, say } from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { startLink } from '../support/server/link.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

const places = [
  { name: 'on this machine', options: {} },
  { name: 'from another machine', options: { remote: true } },
  { name: 'from a phone', options: { remote: true, phone: true } },
] as const

describeInBrowser('the page outside a secure context', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let server: TestServer
  beforeAll(async () => {
    upstream = await startUpstream()
    server = await servers.start({
      config: { ...scripted(upstream), trusted_hosts: [REMOTE_HOST] },
      webRoot: visitor.webRoot(),
    })
  })
  afterAll(() => upstream.close())

  const titles = async (): Promise<string[]> => {
    const { json } = await server.call('GET', '/api/conversations?limit=100')
    return json.data.items.map(({ title }: { title: string }) => title)
  }
  /** The clipboard's text, read by pasting it into the composer, which works on every origin. */
  const pasted = async (page: Page): Promise<string> => {
    await composer(page).fill('')
    await composer(page).focus()
    await page.keyboard.press('Control+v')
    return composer(page).inputValue()
  }

  test.each(places)(
    'a message can be sent, regenerated, edited and copied $name',
    async ({ name, options }) => {
      upstream.enqueue(turn.text('The **first** answer.\n\n```\ncode to copy\n```'))
      const page = await visitor.open(server.url, options)
      expect(await page.evaluate<boolean>('isSecureContext')).toBe(!('remote' in options))
      await say(page, `Sent ${name}`)
      const answer = page.getByRole('article', { name: 'Answer' })
      await answer.getByText('answer.').waitFor()
      await answer.getByRole('button', { name: 'Regenerate' }).waitFor()

      await answer.getByRole('button', { name: 'Copy' }).last().click()
      await page.getByText('Copied').first().waitFor()
      await expect.poll(() => pasted(page)).toContain('The **first** answer.')
      await answer.getByRole('button', { name: 'Copy' }).first().click()
      await expect.poll(() => pasted(page)).toBe('code to copy')
      const question = page.getByRole('article', { name: 'Your message' })
      // A touch screen shows the actions of the last message, and of the one that is tapped.
      const reveal = async () => {
        if ('phone' in options) await question.getByText(name).tap()
      }
      await reveal()
      await question.getByRole('button', { name: 'Copy' }).click()
      await expect.poll(() => pasted(page)).toBe(`Sent ${name}`)
      await composer(page).fill('')

      upstream.enqueue(turn.text('Second answer.'))
      await answer.getByRole('button', { name: 'Regenerate' }).click()
      await page.getByText('Second answer.').waitFor()
      await answer.getByRole('button', { name: 'Regenerate' }).waitFor()
      upstream.enqueue(turn.text('Third answer.'))
      await reveal()
      await question.getByRole('button', { name: 'Edit' }).click()
      const field = page.getByRole('textbox', { name: 'Edit' })
      await field.fill(`Edited ${name}`)
      await field.press('Control+Enter')
      await page.getByText('Third answer.').waitFor()
      await page.getByRole('button', { name: 'Regenerate' }).waitFor()
      await leave(page)
    },
  )

  test('a message stands in the conversation at once, returns to the field if it is refused, and a refused first message leaves no conversation', async () => {
    const before = await titles()
    const page = await visitor.open(server.url)
    await page.route('**/messages', (route) =>
      route.fulfill({
        status: 503,
        json: { code: 503, message: 'The store is busy. Try again shortly.' },
      }),
    )
    await say(page, 'Do not lose this')
    await page.getByText('The store is busy. Try again shortly.').waitFor()
    await expect.poll(() => composer(page).inputValue()).toBe('Do not lose this')
    await expect.poll(titles).toEqual(before)
    // The message is shown while the request is pending, and the field is free for the next one.
    await page.unroute('**/messages')
    let letGo = (): void => {}
    const gate = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await page.route('**/messages', async (route) => {
      await gate
      await route.continue()
    })
    upstream.enqueue(turn.text('Taken.'))
    const sent = page.waitForRequest('**/messages')
    await composer(page).press('Enter')
    await sent
    const own = page.getByRole('article', { name: 'Your message' })
    await own.getByText('Do not lose this').waitFor()
    expect(await composer(page).inputValue()).toBe('')
    letGo()
    await page.getByText('Taken.').waitFor()
    await expect.poll(() => composer(page).inputValue()).toBe('')
    await page.unrouteAll()

    // The response to a send is lost: the page sends again by itself and joins the message that is already stored.
    let isLost = false
    await page.route('**/messages', async (route) => {
      await route.fetch()
      await route.abort()
      isLost = true
    })
    upstream.enqueue(turn.text('Only once.'))
    await say(page, 'Send me once')
    await expect.poll(() => isLost).toBe(true)
    // The page may just send it again.
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.getByText('Only once.').waitFor()
    await expect.poll(() => composer(page).inputValue()).toBe('')
    await page.getByRole('region', { name: 'Queued messages' }).waitFor({ state: 'detached' })
    expect(await page.getByRole('article', { name: 'Your message' }).count()).toBe(2)
    await page.reload()
    await page.getByText('Only once.').waitFor()
    expect(await page.getByRole('article', { name: 'Your message' }).count()).toBe(2)
    await leave(page)
  })

  test('what is written on a phone without a connection is sent when it is back, in a conversation and as a new one', async () => {
    const link = await startLink({ host: '127.0.0.1', port: Number(new URL(server.url).port) })
    const page = await visitor.open(`http://127.0.0.1:${link.port}`, { remote: true, phone: true })
    expect(await page.evaluate<boolean>('isSecureContext')).toBe(false)
    upstream.enqueue(turn.text('The first answer.'))
    await say(page, 'Ask me')
    await page.getByText('The first answer.').waitFor()
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    const waiting = page.getByText('Sent as soon as the server can be reached')
    const banner = page.getByText('Can’t reach the server. What you write is sent')
    expect(await banner.count()).toBe(0)
    link.cut()
    await banner.waitFor()
    await say(page, 'And then?')
    await waiting.waitFor()
    expect(await composer(page).inputValue()).toBe('')
    upstream.enqueue(turn.text('Then that.'))
    link.restore()
    await page.getByText('Then that.').waitFor()
    await waiting.waitFor({ state: 'detached' })
    await banner.waitFor({ state: 'detached' })
    expect(await page.getByText('And then?', { exact: true }).count()).toBe(1)

    await page.getByRole('button', { name: 'New conversation' }).tap()
    await page.waitForURL((url) => url.pathname === '/')
    link.cut()
    await say(page, 'Something else')
    await waiting.waitFor()
    upstream.enqueue(turn.text('Of course.'))
    link.restore()
    await page.getByRole('button', { name: 'Open', exact: true }).tap()
    await page.getByText('Of course.').waitFor()
    expect((await titles()).filter((title) => title === 'Something else')).toHaveLength(1)
    await leave(page)
    link.close()
  })

  test('a file dropped anywhere on the page is attached, and one dropped on a page without a field does nothing', async () => {
    const page = await visitor.open(server.url)
    const drop = (): Promise<boolean> =>
      page.evaluate<boolean>(`(() => {
        const transfer = new DataTransfer()
        transfer.items.add(new File(['milk'], 'list.txt', { type: 'text/plain' }))
        const send = (type) => {
          const event = new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true })
          document.querySelector('h1').dispatchEvent(event)
          return event.defaultPrevented
        }
        return send('dragover') && send('drop')
      })()`)
    await page.getByRole('button', { name: 'Add files and options' }).waitFor()
    expect(await drop()).toBe(true)
    await page.getByRole('list', { name: 'Attachments' }).getByText('list.txt').waitFor()
    await page.goto(`${server.url}/stats`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await drop()).toBe(true)
    await leave(page)
  })

  test('the first Tab leads to the message field, and right-to-left text is displayed from right to left', async () => {
    const page = await visitor.open(server.url)
    await composer(page).waitFor()
    await page.evaluate('document.body.tabIndex = -1; document.body.focus()')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate<string>('document.activeElement.id')).toBe('composer')
    upstream.enqueue(turn.text('مرحبا'))
    await say(page, 'שלום עולם')
    const direction = (selector: string): Promise<string> =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).direction`)
    await page.getByRole('button', { name: 'Regenerate' }).waitFor()
    await composer(page).fill('مرحبا')
    expect(await direction('#composer')).toBe('rtl')
    expect(await direction('article[aria-label="Your message"] [dir]')).toBe('rtl')
    expect(await direction('header h1')).toBe('rtl')
    expect(await direction('nav [aria-current=page] [dir]')).toBe('rtl')
    await leave(page)
  })
})
