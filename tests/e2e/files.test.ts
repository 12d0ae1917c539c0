// Files in the composer: picked, pasted, removed and refused; sent files stay with their message.
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeText } from '../../server/lib/encodings.ts'
import { presentation } from '../support/documents.ts'
import {
  composer,
  describeInBrowser,
  expectAccessible,
  expectNoScrolling,
  leave,
  say,
} from '../support/page/page.ts'
import { scripted } from '../support/provider/scripted.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useServers } from '../support/server/server.ts'

/** Two seconds of silence: 8,000 samples a second, of 16 bits. */
const SOUND = (() => {
  const wav = Buffer.alloc(44 + 32_000)
  wav.write('RIFF')
  wav.writeUInt32LE(wav.length - 8, 4)
  wav.write('WAVEfmt ', 8)
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20)
  wav.writeUInt16LE(1, 22)
  wav.writeUInt32LE(8_000, 24)
  wav.writeUInt32LE(16_000, 28)
  wav.writeUInt16LE(2, 32)
  wav.writeUInt16LE(16, 34)
  wav.write('data', 36)
  wav.writeUInt32LE(32_000, 40)
  return wav
})()

describeInBrowser('files of a message', (visitor) => {
  const servers = useServers()
  let upstream: Upstream
  let url: string
  let photo: Buffer
  beforeAll(async () => {
    upstream = await startUpstream()
    const server = await servers.start({ config: scripted(upstream), webRoot: visitor.webRoot() })
    url = server.url
    photo = await sharp({ create: { width: 900, height: 600, channels: 3, background: 'teal' } })
      .jpeg()
      .toBuffer()
  })
  afterAll(() => upstream.close())

  test('a document and a photo are uploaded, sent by id and shown after a reload', async () => {
    upstream.enqueue(turn.text('I have read both.'))
    const page = await visitor.open(url)
    await page.locator('input[type=file]').setInputFiles([
      { name: 'talk.pptx', mimeType: '', buffer: presentation(['Walrus', 'Whale']) },
      { name: 'photo.jpg', mimeType: 'image/jpeg', buffer: photo },
      { name: 'mistake.txt', mimeType: 'text/plain', buffer: Buffer.from('not this') },
    ])
    const chips = page.getByRole('list', { name: 'Attachments' })
    await chips.getByText('2 pages').waitFor()
    await chips.locator('img').waitFor()
    await chips.getByRole('button', { name: 'Remove mistake.txt' }).click()
    await expectAccessible(page)
    await say(page, 'Look at these.')
    await page.getByText('I have read both.').waitFor()
    const asked = JSON.stringify(upstream.requests.at(-1)?.messages)
    expect(asked).toContain('[Page 2]\\nWhale')
    expect(asked).toContain('data:image/jpeg;base64,')
    expect(asked).not.toContain('not this')
    await page.reload()
    const message = page.getByRole('article', { name: 'Your message' })
    await message.getByRole('button', { name: 'Show talk.pptx' }).click()
    await page.getByRole('dialog', { name: 'talk.pptx' }).getByText('Whale').waitFor()
    await page.keyboard.press('Escape')
    await message.locator('img').waitFor()
    await message.getByRole('button', { name: 'Show photo.jpg' }).click()
    const whole = page.getByRole('dialog', { name: 'photo.jpg' }).getByRole('img')
    await whole.waitFor()
    await expect
      .poll(() => page.evaluate<number>('document.querySelector("[role=dialog] img").naturalWidth'))
      .toBe(900)
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await expectNoScrolling(page)
    await leave(page)
  })

  test('a recording is heard, saved and explained where it was sent, in both themes and on a phone', async () => {
    for (const phone of [false, true]) {
      const page = await visitor.open(url, { phone, theme: phone ? 'dark' : 'light' })
      const sound = { name: 'a long name of a voice message.wav', mimeType: '', buffer: SOUND }
      await page.locator('input[type=file]').setInputFiles([sound])
      const chips = page.getByRole('list', { name: 'Attachments' })
      await chips.getByRole('button', { name: `Show ${sound.name}` }).click()
      const dialog = page.getByRole('dialog', { name: sound.name })
      await dialog.getByLabel(`Recording: ${sound.name}`).waitFor()
      await expectAccessible(page)
      await page.keyboard.press('Escape')
      upstream.enqueue(turn.text('I cannot hear it.'))
      await say(page, 'What does it say?')
      await page.getByText('I cannot hear it.').waitFor()
      await page.reload()
      const message = page.getByRole('article', { name: 'Your message' })
      const player = message.getByLabel(`Recording: ${sound.name}`)
      await player.waitFor()
      await message.getByText('it is a recording, which only people can hear').waitFor()
      await message.getByText('31 KB').waitFor()
      await expect
        .poll(() => page.evaluate<number>('document.querySelector("article audio").duration'))
        .toBe(2)
      // The player is reached and operated with the keyboard.
      await message.getByRole('button', { name: `Save ${sound.name}` }).focus()
      await page.keyboard.press('Tab')
      await page.keyboard.press('Space')
      await expect
        .poll(() => page.evaluate<number>('document.querySelector("article audio").currentTime'))
        .toBeGreaterThan(0)
      await expectAccessible(page)
      await expectNoScrolling(page)
      const saved = page.waitForEvent('download')
      await message.getByRole('button', { name: `Save ${sound.name}` }).click()
      expect((await saved).suggestedFilename()).toBe(sound.name)
      await leave(page)
    }
  })

  test('a recording that could not be loaded can be listened to once it can be', async () => {
    const page = await visitor.open(url)
    const sound = { name: 'voice.wav', mimeType: '', buffer: SOUND }
    await page.locator('input[type=file]').setInputFiles([sound])
    await page.getByRole('list', { name: 'Attachments' }).getByText(sound.name).waitFor()
    upstream.enqueue(turn.text('I cannot hear that.'))
    await say(page, 'And this?')
    await page.getByText('I cannot hear that.').waitFor()
    await page.route('**/api/files/**', (route) => route.abort())
    await page.reload()
    const message = page.getByRole('article', { name: 'Your message' })
    const listen = message.getByRole('button', { name: `Recording: ${sound.name}` })
    await listen.waitFor()
    await listen.click()
    await page.getByText('Can’t reach the server. Check that').first().waitFor()
    await listen.waitFor()
    expect(await message.locator('audio').count()).toBe(0)
    await page.unroute('**/api/files/**')
    await listen.click()
    await expect
      .poll(() => page.evaluate<number>('document.querySelector("article audio")?.currentTime'))
      .toBeGreaterThan(0)
    await leave(page)
  })

  test('a large file says how much of it has been sent', async () => {
    const page = await visitor.open(url)
    await composer(page).waitFor()
    const session = await page.context().newCDPSession(page)
    const limitTo = (uploadThroughput: number) =>
      session.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      })
    await session.send('Network.enable')
    await limitTo(300_000)
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles({
        name: 'large.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('A line of text.\n'.repeat(120_000)),
      })
    const chip = page.getByRole('list', { name: 'Attachments' }).getByRole('listitem')
    await chip.getByText(/^[1-9]\d?%$/).waitFor()
    await limitTo(-1)
    await expect.poll(() => chip.getAttribute('aria-busy')).toBe('false')
    await chip.getByText('large.txt').waitFor()
    expect(await chip.getByText(/%$/).count()).toBe(0)
    await session.detach()
    await leave(page)
  })

  test('on a phone, back closes an image and stays in the conversation', async () => {
    upstream.enqueue(turn.text('A photo.'))
    const page = await visitor.open(url, { phone: true })
    const file = { name: 'photo.jpg', mimeType: 'image/jpeg', buffer: photo }
    await page.locator('input[type=file]').setInputFiles([file])
    await page.getByRole('list', { name: 'Attachments' }).locator('img').waitFor()
    await say(page, 'What is this?')
    await page.getByText('A photo.').waitFor()
    await page.waitForURL(/\/c\//)
    const place = page.url()
    const whole = page.getByRole('dialog', { name: 'photo.jpg' })
    await page.getByRole('button', { name: 'Show photo.jpg' }).tap()
    await whole.getByRole('img').waitFor()
    await page.goBack()
    await whole.waitFor({ state: 'detached' })
    expect(page.url()).toBe(place)
    await leave(page)
  })

  test('a text says in which encoding it was read, and is read in another one before and after it is sent', async () => {
    upstream.enqueue(turn.text('Eight chairs.'))
    const buffer = encodeText('Смета: восемь стульев', { name: 'koi8-u', bom: false })
    const inWindows = new TextDecoder('windows-1251').decode(buffer ?? undefined)
    const page = await visitor.open(url)
    await page
      .locator('input[type=file]')
      .setInputFiles([{ name: 'smeta.txt', mimeType: 'text/plain', buffer: buffer ?? Buffer.of() }])
    const chips = page.getByRole('list', { name: 'Attachments' })
    await chips.getByText('Read as KOI8-U').waitFor()
    const readAs = async (encoding: string, text: string): Promise<void> => {
      await page.getByRole('button', { name: 'Show smeta.txt' }).click()
      const dialog = page.getByRole('dialog', { name: 'smeta.txt' })
      await dialog.getByRole('combobox', { name: 'Encoding' }).selectOption(encoding)
      await dialog.getByText(text).waitFor()
      await expectAccessible(page)
      await page.keyboard.press('Escape')
    }
    await readAs('windows-1251', inWindows)
    await chips.getByText('Read as Windows-1251').waitFor()
    await say(page, 'How many chairs?')
    await page.getByText('Eight chairs.').waitFor()
    expect(JSON.stringify(upstream.requests.at(-1)?.messages)).toContain(inWindows)
    await readAs('koi8-u', 'Смета: восемь стульев')
    await leave(page)
  })

  test('a pasted picture is attached, and a file that cannot be attached shows the reason', async () => {
    const page = await visitor.open(url)
    await composer(page).focus()
    await page.evaluate(`(() => {
      const bytes = Uint8Array.from(atob('${photo.toString('base64')}'), (one) => one.charCodeAt(0))
      const data = new DataTransfer()
      data.items.add(new File([bytes], 'pasted.jpg', { type: 'image/jpeg' }))
      const paste = new ClipboardEvent('paste', { clipboardData: data, bubbles: true })
      document.querySelector('#composer').dispatchEvent(paste)
    })()`)
    const chips = page.getByRole('list', { name: 'Attachments' })
    await chips.getByText('pasted.jpg').waitFor()
    await chips.locator('img').waitFor()
    await page.locator('input[type=file]').setInputFiles([
      {
        name: 'song.mp3',
        mimeType: 'audio/mpeg',
        buffer: Buffer.from(Array.from({ length: 3_000 }, (_, at) => (at * 7919) % 256)),
      },
    ])
    await page.getByText('“song.mp3” cannot be attached.').waitFor()
    await expect.poll(() => chips.getByText('song.mp3').count()).toBe(0)
    await leave(page)
  })

  test('cells and text that an office program copies with a picture of them are pasted as text; a copied picture or file is attached', async () => {
    const page = await visitor.open(url)
    await composer(page).focus()
    const types = { text: 'text/plain', html: 'text/html' }
    /** Whether the browser inserts the text, as it does unless the page attaches something instead. */
    const inserts = (name: string, copied: { text?: string; html?: string }): Promise<boolean> =>
      page.evaluate<boolean>(`(() => {
        const bytes = Uint8Array.from(atob('${photo.toString('base64')}'), (one) => one.charCodeAt(0))
        const data = new DataTransfer()
        for (const [type, value] of ${JSON.stringify(Object.entries(copied).map(([key, value]) => [key === 'html' ? types.html : types.text, value]))})
          data.setData(type, value)
        data.items.add(new File([bytes], '${name}', { type: 'image/jpeg' }))
        const paste = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
        return document.querySelector('#composer').dispatchEvent(paste)
      })()`)
    const cells = '<table><tr><td>A</td><td>B</td></tr></table>'
    const picture = '<meta charset="utf-8"><img src="https://a.example/p.jpg">'
    expect(await inserts('cells.jpg', { text: 'A\tB\r\n1\t2', html: cells })).toBe(true)
    expect(await inserts('word.jpg', { text: 'A sentence.' })).toBe(true)
    expect(
      await inserts('link.jpg', { text: 'https://a.example', html: '<td>https://a.example</td>' }),
    ).toBe(true)
    expect(await inserts('web.jpg', { text: 'https://a.example/p.jpg', html: picture })).toBe(false)
    expect(await inserts('finder.jpg', { text: 'finder.jpg' })).toBe(false)
    expect(await inserts('image.jpg', { html: picture })).toBe(false)
    const chips = page.getByRole('list', { name: 'Attachments' })
    for (const name of ['web.jpg', 'finder.jpg', 'image.jpg']) await chips.getByText(name).waitFor()
    expect(await chips.getByRole('listitem').count()).toBe(3)
    await leave(page)
  })

  test('a file too large for the model links to the document that the project created from it', async () => {
    const created = await fetch(`${url}/api/projects`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      // A name of its own: the test may run again after a fault of the browser's driver.
      body: JSON.stringify({ name: `Books ${Math.random()}` }),
    })
    const { data } = (await created.json()) as { data: { id: string } } // checked by the server's own schema
    upstream.enqueue(turn.text('I have read the beginning.'))
    const page = await visitor.open(`${url}/?project=${data.id}`)
    const text = `Chapter one. ${'many words follow here '.repeat(20_000)}`
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'book.txt', mimeType: 'text/plain', buffer: Buffer.from(text) })
    await page.locator('li[aria-busy=false]').getByText('book.txt').waitFor()
    await say(page, 'Read it.')
    await page.getByText('I have read the beginning.').waitFor()
    const link = page.getByRole('link', { name: 'Searchable in the project' })
    await link.waitFor()
    await expectAccessible(page)
    await link.click()
    await page.getByRole('dialog', { name: 'book.txt' }).getByText('Chapter one.').waitFor()
    await leave(page)
  })
})
