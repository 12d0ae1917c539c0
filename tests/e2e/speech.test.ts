// Dictation and reading aloud through the server's services: a real recorder with the browser's test microphone, and real sound.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { describeInBrowser, leave, say } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

/** A frame of MPEG-1 layer III with 128 kbit/s and 44.1 kHz, without sound. */
const FRAME = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x00]), Buffer.alloc(413)])
const SILENCE = Buffer.concat(Array.from({ length: 12 }, () => FRAME))
const WEBM = Buffer.from([0x1a, 0x45, 0xdf, 0xa3])

const heard: Buffer[] = []
const spoken: string[] = []
let isAway = false
const service = createServer((request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const body = Buffer.concat(pieces)
    if (isAway) return void response.writeHead(503).end('{}')
    if (request.url === '/v1/audio/speech') {
      spoken.push(JSON.parse(body.toString()).input)
      return void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(SILENCE)
    }
    heard.push(body)
    response.end(JSON.stringify({ text: 'Buy milk and bread.' }))
  })
})
await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
const { port } = service.address() as AddressInfo // never null or a path: the server listens on TCP
const api_url = `http://127.0.0.1:${port}/v1`
afterAll(() => {
  service.closeAllConnections()
  service.close()
})

describeInBrowser('speech through services', (visitor) => {
  const site = usePageServer(visitor, {
    speech: {
      transcribe: { api_url, model: 'whisper-1' },
      speak: { api_url, model: 'tts-1', voice: 'alloy' },
    },
  })

  test('what is dictated stands in the message field, and is not lost while the service is away', async () => {
    const page = await visitor.open(site.server.url)
    const field = page.getByRole('textbox', { name: 'Message' })
    const dictate = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Dictate' }).click()
      await page.getByRole('button', { name: 'Stop dictating' }).click()
    }
    await dictate()
    await expect.poll(() => field.inputValue()).toContain('Buy milk and bread.')
    expect(heard.at(-1)?.includes(WEBM)).toBe(true)
    await field.fill('')
    isAway = true
    await dictate()
    const again = page.getByRole('button', { name: 'Try again' })
    await again.waitFor()
    isAway = false
    await again.click()
    await expect.poll(() => field.inputValue()).toContain('Buy milk and bread.')
    await leave(page)
  })

  test('an answer is read by the service to its end, and by the browser where the service is away', async () => {
    site.upstream.enqueue(turn.text('Tea takes two minutes.'))
    const page = await visitor.open(site.server.url)
    await page.addInitScript(`
      window.said = []
      window.SpeechSynthesisUtterance = class extends EventTarget {
        constructor(text) { super(); this.text = text }
      }
      Object.defineProperty(window, 'speechSynthesis', { value: {
        speak: (utterance) => window.said.push(utterance.text), cancel() {},
      } })`)
    await page.reload()
    await say(page, 'How long?')
    // The actions of an answer come when it has ended.
    const read = async (answer: string): Promise<void> => {
      const message = page.locator('[data-message]', { hasText: answer })
      await message.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('menuitem', { name: 'Read aloud' }).click()
    }
    const stop = page.getByRole('button', { name: 'Stop reading' })
    await read('Tea takes two minutes.')
    await expect.poll(() => spoken).toEqual(['Tea takes two minutes.'])
    await stop.waitFor({ state: 'detached' })
    expect(await page.evaluate('window.said')).toEqual([])
    // Another text: the first one comes from the cache.
    site.upstream.enqueue(turn.text('Coffee takes four.'))
    await say(page, 'And coffee?')
    isAway = true
    await read('Coffee takes four.')
    await expect.poll(() => page.evaluate('window.said')).toEqual(['Coffee takes four.'])
    await stop.click()
    await stop.waitFor({ state: 'detached' })
    isAway = false
    await leave(page)
  })
})
