// Speech and images by configured services: for people, and passed through for programs, through the `openai` package on both sides.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import OpenAI, { NotFoundError, toFile } from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { audioTypeOf } from '../../../server/lib/audio-type.ts'
import { cutImages } from '../../../server/media/cut-images.ts'
import { secondsOf } from '../../../server/media/speech.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'

const MP3 = Buffer.concat([Buffer.from('ID3'), Buffer.alloc(2_000, 7)])
const WEBM = Buffer.concat([Buffer.from([0x1a, 0x45, 0xdf, 0xa3]), Buffer.alloc(16_000, 1)])
const KEY = 'sk-service-key'

interface Asked {
  url: string
  authorization: string | undefined
  type: string
  body: string
}
type Answer = { status?: number; type?: string; body: string | Buffer }

describeOnEachServer('speech and images', (start) => {
  const asked: Asked[] = []
  let answer: Answer = { body: '{}' }
  /** The responses wait for it. */
  let held: Promise<unknown> = Promise.resolve()
  const service = createServer((request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const { url = '', headers } = request
      const body = Buffer.concat(pieces).toString('latin1')
      const type = headers['content-type'] ?? ''
      asked.push({ url, authorization: headers.authorization, type, body })
      const { status = 200, type: contentType = 'application/json', body: sent } = answer
      void held.then(() => response.writeHead(status, { 'content-type': contentType }).end(sent))
    })
  })
  let server: TestServer
  let off: TestServer
  let client: OpenAI
  beforeAll(async () => {
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
    const address = service.address()
    const api_url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v1`
    const usd = { currency: 'USD' }
    server = await start({
      speech: {
        transcribe: { api_url, api_key: KEY, model: 'whisper-1', price: { ...usd, minute: 6 } },
        speak: { api_url, model: 'tts-1', voice: 'alloy', price: { ...usd, characters: 1e6 } },
      },
      image_generation: { api_url, model: 'painter', price: { ...usd, image: 2 } },
    })
    off = await start()
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'any', maxRetries: 0 })
  })
  afterAll(() => {
    service.closeAllConnections()
    service.close()
  })

  const upload = (content: Buffer, to: TestServer = server) => {
    const form = new FormData()
    form.append('file', new Blob([new Uint8Array(content)]), 'recording')
    return fetch(`${to.url}/api/speech/transcriptions`, { method: 'POST', body: form })
  }
  const costOf = async (model: string): Promise<unknown> =>
    (await server.call('GET', '/api/stats/tokens?period=daily')).json.data.by_model[model].cost

  test('a recording becomes a text, is named by its content, and costs what the service says it takes', async () => {
    answer = { body: JSON.stringify({ text: ' Hello. ', language: 'english', duration: 30 }) }
    const response = await upload(WEBM)
    expect(await response.json()).toMatchObject({
      data: { text: 'Hello.', language: 'english', seconds: 30 },
    })
    const sent = asked.at(-1)
    expect(sent).toMatchObject({
      url: '/v1/audio/transcriptions',
      authorization: `Bearer ${KEY}`,
    })
    expect(sent?.body).toContain('filename="recording.webm"')
    expect(sent?.body).toContain('verbose_json')
    const { json } = await server.call('GET', '/api/quota')
    expect(json.data.speech).toEqual({ transcribe: true, speak: true })
  })

  test('a text whose reader leaves is counted by its length, because the service goes on', async () => {
    answer = { body: MP3, type: 'audio/mpeg' }
    let go = (): void => undefined
    held = new Promise<void>((resolve) => {
      go = resolve
    })
    const leaving = new AbortController()
    const before = asked.length
    const read = fetch(`${server.url}/api/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'y'.repeat(70) }),
      signal: leaving.signal,
    })
    await expect.poll(() => asked).toHaveLength(before + 1)
    leaving.abort()
    await expect(read).rejects.toThrow()
    await expect.poll(() => costOf('tts-1')).toEqual({ USD: 70 })
    go()
    held = Promise.resolve()
  })

  test('what is no recording is refused before anything is sent, and without a service the reason says so', async () => {
    const before = asked.length
    expect((await upload(Buffer.from('%PDF-1.7 not sound'))).status).toBe(400)
    expect((await upload(Buffer.alloc(0))).status).toBe(400)
    expect(asked).toHaveLength(before)
    const refused = await upload(WEBM, off)
    expect(refused.status).toBe(404)
    expect(await refused.json()).toMatchObject({ reason: 'speech_off' })
    const quota = await off.call('GET', '/api/quota')
    expect(quota.json.data.speech).toEqual({ transcribe: false, speak: false })
  })

  test('a text is read once, comes again from the cache, also in part, and another voice is another sound', async () => {
    answer = { body: MP3, type: 'audio/mpeg' }
    const before = asked.length
    const read = (body: object, headers: Record<string, string> = {}) =>
      fetch(`${server.url}/api/speech`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
    const first = await read({ text: 'Good morning.' })
    expect(first.headers.get('content-type')).toBe('audio/mpeg')
    expect(Buffer.from(await first.arrayBuffer()).equals(MP3)).toBe(true)
    const part = await read({ text: 'Good morning.' }, { range: 'bytes=0-2' })
    expect([part.status, await part.text()]).toEqual([206, 'ID3'])
    expect(asked).toHaveLength(before + 1)
    expect(asked.at(-1)?.authorization).toBeUndefined()
    await read({ text: 'Good morning.', voice: 'echo' })
    expect(JSON.parse(asked.at(-1)?.body ?? '')).toEqual({
      model: 'tts-1',
      input: 'Good morning.',
      voice: 'echo',
      response_format: 'mp3',
    })
    expect(await read({ text: 'x'.repeat(4_097) }).then(({ status }) => status)).toBe(400)
    answer = { body: '<html>', type: 'text/html' }
    expect(await read({ text: 'Not sound' }).then(({ status }) => status)).toBe(502)
  })

  test('the openai package transcribes, speaks, creates and edits images through /v1, and each call is counted', async () => {
    answer = { body: JSON.stringify({ text: 'Hi', duration: 60 }) }
    const file = await toFile(WEBM, 'voice.webm')
    const heard = await client.audio.transcriptions.create({ file, model: 'nanoclaw/whisper-1' })
    expect(heard.text).toBe('Hi')
    expect(asked.at(-1)?.body).toMatch(/name="model"\r\n\r\nwhisper-1\r\n/)
    await client.audio.translations.create({ file, model: 'whisper-1' })
    expect(asked.at(-1)?.url).toBe('/v1/audio/translations')
    answer = { body: MP3, type: 'audio/mpeg' }
    const spoken = await client.audio.speech.create({
      model: 'tts-1',
      input: 'Four',
      voice: 'nova',
      speed: 2,
    })
    expect(Buffer.from(await spoken.arrayBuffer()).equals(MP3)).toBe(true)
    expect(JSON.parse(asked.at(-1)?.body ?? '')).toMatchObject({ voice: 'nova', speed: 2 })
    answer = { body: JSON.stringify({ data: [{ b64_json: 'QUJD' }, { b64_json: 'REVG' }] }) }
    const made = await client.images.generate({ model: 'painter', prompt: 'A fox', n: 2 })
    expect(made.data?.map(({ b64_json }) => b64_json)).toEqual(['QUJD', 'REVG'])
    const image = await toFile(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), 'fox.png')
    await client.images.edit({ model: 'nanoclaw/painter', image, prompt: 'A blue fox' })
    expect(asked.at(-1)?.url).toBe('/v1/images/edits')
    expect(asked.at(-1)?.body).toContain('A blue fox')
    expect(await costOf('painter')).toEqual({ USD: 8 })
    expect(await costOf('whisper-1')).toEqual({ USD: 15 })
    expect(await costOf('tts-1')).toEqual({ USD: 109 })
  })

  test('another model is refused with the name of the configured one, and the service is quoted without its key', async () => {
    const wrong = client.audio.speech.create({ model: 'other', input: 'x', voice: 'alloy' })
    await expect(wrong).rejects.toThrow(NotFoundError)
    await expect(wrong).rejects.toThrow('nanoclaw/tts-1')
    answer = { status: 400, body: JSON.stringify({ error: { message: `Bad file for ${KEY}` } }) }
    const file = await toFile(WEBM, 'voice.webm')
    const bad = client.audio.transcriptions.create({ file, model: 'whisper-1' })
    await expect(bad).rejects.toMatchObject({ status: 400 })
    await expect(bad).rejects.toThrow(/Bad file/)
    await expect(bad).rejects.not.toThrow(KEY)
    answer = { status: 401, body: '{}' }
    await expect(
      client.audio.transcriptions.create({ file, model: 'whisper-1' }),
    ).rejects.toMatchObject({ status: 502 })
    const none = new OpenAI({ baseURL: `${off.url}/v1`, apiKey: 'any', maxRetries: 0 })
    await expect(none.images.generate({ prompt: 'A fox' })).rejects.toMatchObject({ status: 404 })
  })

  test('images are made for nobody where the tool is off, and for no member of a group without it', async () => {
    const { image_generation } = server.server.config
    const images = { api_url: image_generation?.api_url, model: 'painter' }
    const before = asked.length
    const refuses = async (to: TestServer, token?: string) => {
      const body = { model: 'painter', prompt: 'A fox' }
      expect(await to.call('POST', '/v1/images/generations', { body, token })).toMatchObject({
        status: 404,
      })
      const form = new FormData()
      form.append('prompt', 'A fox')
      form.append('image', new Blob(['fox']), 'fox.png')
      const edit = await fetch(`${to.url}/v1/images/edits`, {
        method: 'POST',
        body: form,
        ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
      })
      expect([edit.status, await edit.text()]).toEqual([
        404,
        expect.stringContaining('switched off'),
      ])
    }
    await refuses(
      await start({ image_generation: images, tools: { disabled: ['generate_image'] } }),
    )
    const multi = await start({
      image_generation: images,
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
    })
    const [admin, ann] = [await register(multi, 'admin'), await register(multi, 'ann')]
    const group = await multi.call('POST', '/api/admin/groups', {
      token: admin,
      body: { name: 'No images', tools: ['calculator'] },
    })
    const { id } = (await multi.call('GET', '/api/auth/profile', { token: ann })).json.data
    const member = `/api/admin/groups/${group.json.data.id}/members/${id}`
    await multi.call('PUT', member, { token: admin })
    await refuses(multi, ann)
    expect(asked).toHaveLength(before)
    await multi.call('DELETE', member, { token: admin })
    answer = { body: JSON.stringify({ data: [{ b64_json: 'QUJD' }] }) }
    const body = { model: 'painter', prompt: 'A fox' }
    expect(await multi.call('POST', '/v1/images/generations', { body, token: ann })).toMatchObject({
      status: 200,
    })
  })
})

test('recordings of every browser are recognized by their first bytes', () => {
  const head = (text: string) => Buffer.from(text, 'latin1')
  expect(
    ['\x1aE\xdf\xa3', 'OggS', 'fLaC', 'RIFF....WAVE', '....ftypmp42', '....ftypM4A ', 'ID3'].map(
      (text) => audioTypeOf(head(text)),
    ),
  ).toEqual(['webm', 'ogg', 'flac', 'wav', 'mp4', 'mp4', 'mp3'])
  expect(audioTypeOf(Buffer.from([0xff, 0xfb, 0x90, 0x64]))).toBe('mp3')
  for (const other of [
    '',
    '%PDF',
    'RIFF....WEBP',
    '....ftypheic',
    'PK\x03\x04',
    '\xff\xd8\xff\xe0',
  ])
    expect(audioTypeOf(head(other)), other).toBeUndefined()
})

test('the length of a WAV file is exact, that of others an estimate', () => {
  const wav = Buffer.alloc(64_000)
  wav.write('RIFF')
  wav.writeUInt32LE(32_000, 28)
  expect(secondsOf(wav, 'wav')).toBe(2)
  wav.writeUInt32LE(4_000_000_000, 28)
  expect(secondsOf(wav, 'wav')).toBeGreaterThan(0.04)
  expect(secondsOf(Buffer.alloc(32_000), 'webm')).toBe(2)
})

test('images are cut out of a response, and the rest is still JSON', () => {
  const body = Buffer.from('{"data":[{"b64_json":"QUJD"},{"b64_json":null},{"b64_json":"REVG"}]}')
  const { text, images } = cutImages(body)
  expect(JSON.parse(text)).toEqual({
    data: [{ b64_json: '' }, { b64_json: null }, { b64_json: '' }],
  })
  expect(images.map(String)).toEqual(['QUJD', 'REVG'])
})
