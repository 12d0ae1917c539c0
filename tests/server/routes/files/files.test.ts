// `/api/files`: types are detected from the content; files are served safely, in ranges, and to their owner only.
import { createHash } from 'node:crypto'
import sharp from 'sharp'
import { beforeAll, describe, expect, test } from 'vitest'
import { presentation } from '../../../support/documents.ts'
import { HEVC_PHOTO } from '../../../support/files/hevc-photo.ts'
import { TEST_JWT_SECRET, type TestServer, useServers } from '../../../support/server/server.ts'
import { uploadFile } from '../../../support/server/uploads.ts'
import { DIALECTS } from '../../../support/store/dialects.ts'

const hashOf = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex')

describe.each(DIALECTS)('files (%s)', (dialect) => {
  const servers = useServers()
  let server: TestServer
  let token: string
  let other: string
  beforeAll(async () => {
    server = await servers.start({
      dialect,
      config: { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET, limits: { attachments: '1MB' } },
    })
    const register = async (username: string): Promise<string> =>
      (
        await server.call('POST', '/api/auth/register', {
          body: { username, password: 'a long password' },
        })
      ).json.data.token
    token = await register('anna')
    other = await register('ben')
  })
  const upload = (name: string, content: string | Uint8Array) =>
    uploadFile(server.url, name, content, { token })
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(server.url + path, { headers: { authorization: `Bearer ${token}`, ...headers } })

  test('a text is stored unchanged, named by its hash, and served so that nothing in it can run', async () => {
    const text = '<svg onload="alert(1)"></svg>'
    const { status, json } = await upload('../../etc/pass;wd.svg', text)
    expect(status).toBe(200)
    expect(json.data).toMatchObject({
      name: 'pass;wd.svg',
      mime: 'text/plain',
      size: text.length,
      sha256: hashOf(text),
      characters: text.length,
    })
    const response = await get(`/api/files/${json.data.id}`)
    expect(await response.text()).toBe(text)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': "inline; filename*=UTF-8''pass%3Bwd.svg",
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, max-age=86400, immutable',
      etag: `"${hashOf(text)}"`,
      vary: expect.stringContaining('Authorization'),
    })
  })

  test('the text read from a document is returned to its owner, with page numbers', async () => {
    const { json } = await upload('talk.pptx', presentation(['Walrus', 'Whale']))
    const path = `/api/files/${json.data.id}/text`
    expect((await server.call('GET', path, { token })).json.data).toEqual({
      name: 'talk.pptx',
      text: '[Page 1]\nWalrus\nsecond line\n[Page 2]\nWhale\nsecond line',
      encoding: null,
    })
    expect((await server.call('GET', path, { token: other })).status).toBe(404)
    const thumbnail = await server.call('GET', `/api/files/${json.data.id}?thumb=1`, { token })
    expect([thumbnail.status, thumbnail.json]).toMatchObject([
      404,
      { reason: 'file_thumbnail_missing' },
    ])
    const photo = sharp({ create: { width: 9, height: 6, channels: 3, background: 'teal' } })
    const image = await upload('photo.png', await photo.png().toBuffer())
    const ofImage = await server.call('GET', `/api/files/${image.json.data.id}/text`, { token })
    expect(ofImage.json.data).toEqual({ name: 'photo.png', text: null, encoding: null })
  })

  test('a part of a file can be read, and an unchanged file is not sent again', async () => {
    const { json } = await upload('digits.txt', '0123456789')
    const path = `/api/files/${json.data.id}`
    const part = async (range: string, more: Record<string, string> = {}) => {
      const response = await get(path, { range, ...more })
      return [response.status, response.headers.get('content-range'), await response.text()]
    }
    expect(await part('bytes=2-4')).toEqual([206, 'bytes 2-4/10', '234'])
    expect(await part('bytes=7-')).toEqual([206, 'bytes 7-9/10', '789'])
    expect(await part('bytes=-3')).toEqual([206, 'bytes 7-9/10', '789'])
    expect(await part('bytes=5-500')).toEqual([206, 'bytes 5-9/10', '56789'])
    expect(await part('bytes=10-')).toEqual([416, 'bytes */10', ''])
    expect(await part('bytes=-0')).toEqual([416, 'bytes */10', ''])
    for (const whole of ['bytes=4-2', 'bytes=0-1,3-4', 'pages=1-2', 'bytes=a-b', 'bytes=-'])
      expect(await part(whole)).toEqual([200, null, '0123456789'])
    expect(await part('bytes=0-1', { 'if-range': '"another"' })).toEqual([200, null, '0123456789'])
    const etag = `"${json.data.sha256}"`
    expect((await get(path, { 'if-none-match': `"x", ${etag}` })).status).toBe(304)
    expect((await get(path, { 'if-none-match': '"x"' })).status).toBe(200)
  })

  test('a photo loses its location and camera data, is turned upright, and gets a thumbnail', async () => {
    const photo = await sharp({
      create: { width: 1200, height: 800, channels: 3, background: 'red' },
    })
      .jpeg()
      .withExif({ IFD0: { Make: 'SecretCamera' }, IFD3: { GPSLatitudeRef: 'N' } })
      .withMetadata({ orientation: 6 })
      .toBuffer()
    const { json } = await upload('photo.jpg', photo)
    expect(json.data).toMatchObject({ mime: 'image/jpeg', width: 800, height: 1200 })
    const stored = Buffer.from(await (await get(`/api/files/${json.data.id}`)).arrayBuffer())
    expect(hashOf(stored)).toBe(json.data.sha256)
    expect(stored.length).toBe(json.data.size)
    expect(stored.includes('SecretCamera')).toBe(false)
    expect((await sharp(stored).metadata()).exif).toBeUndefined()
    const response = await get(`/api/files/${json.data.id}?thumb=1`)
    expect(response.headers.get('content-type')).toBe('image/webp')
    const thumbnail = await sharp(Buffer.from(await response.arrayBuffer())).metadata()
    expect([thumbnail.width, thumbnail.height]).toEqual([427, 640])
  })

  test('a HEIC photo of a phone becomes a JPEG without its metadata, and gets a thumbnail', async () => {
    expect(HEVC_PHOTO.includes('SecretCamera')).toBe(true)
    const { json } = await upload('IMG_0001.HEIC', HEVC_PHOTO)
    expect(json.data).toMatchObject({ mime: 'image/jpeg', width: 64, height: 48 })
    const stored = Buffer.from(await (await get(`/api/files/${json.data.id}`)).arrayBuffer())
    expect(stored.includes('SecretCamera')).toBe(false)
    const { data } = await sharp(stored).raw().toBuffer({ resolveWithObject: true })
    const [left, right] = [data.subarray(0, 3), data.subarray(-3)]
    expect((left[0] ?? 0) > 200 && (left[2] ?? 255) < 60).toBe(true)
    expect((right[2] ?? 0) > 200 && (right[0] ?? 255) < 60).toBe(true)
    const thumbnail = await get(`/api/files/${json.data.id}?thumb=1`)
    expect(thumbnail.headers.get('content-type')).toBe('image/webp')
    const cut = await upload('cut.heic', HEVC_PHOTO.subarray(0, HEVC_PHOTO.length - 60))
    expect([cut.status, cut.json.reason]).toEqual([415, 'image_unreadable'])
  })

  test('an image without metadata is stored byte by byte, whatever its name says', async () => {
    for (const format of ['png', 'webp', 'gif', 'jpeg'] as const) {
      const image = await sharp({
        create: { width: 20, height: 10, channels: 3, background: 'blue' },
      })
        .toFormat(format)
        .toBuffer()
      const { json } = await upload('picture.txt', image)
      expect(json.data).toMatchObject({
        mime: `image/${format}`,
        width: 20,
        height: 10,
        sha256: hashOf(image),
      })
    }
  })

  test('an image with sides over 4,096 pixels is scaled down', async () => {
    const wide = await sharp({
      create: { width: 6000, height: 300, channels: 3, background: 'green' },
    })
      .png()
      .toBuffer()
    const { json } = await upload('wide.png', wide)
    expect(json.data).toMatchObject({ mime: 'image/png', width: 4096, height: 205 })
  })

  test('a recording is stored unchanged for people, says why no model reads it, and is served in ranges as sound that runs nothing', async () => {
    const sounds = {
      'audio/ogg': 'OggS\0\x02',
      'audio/wav': 'RIFF....WAVEfmt \0',
      'audio/mpeg': 'ID3\x04\0',
      'audio/mp4': '\0\0\0\x18ftypM4A \0',
      'audio/webm': '\x1aE\xdf\xa3\x01\0A_OPUS',
      'audio/flac': 'fLaC\0',
    }
    for (const [mime, head] of Object.entries(sounds)) {
      const sound = Buffer.concat([Buffer.from(head, 'latin1'), Buffer.alloc(300)])
      const { status, json } = await upload('page.html', sound)
      expect([status, json.data.mime], mime).toEqual([200, mime])
      expect(json.data).toMatchObject({ reason: 'recording_unheard', sha256: hashOf(sound) })
      const response = await get(`/api/files/${json.data.id}`, { range: 'bytes=0-3' })
      expect(response.status).toBe(206)
      expect(Buffer.from(await response.arrayBuffer())).toEqual(sound.subarray(0, 4))
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': mime,
        'content-disposition': "attachment; filename*=UTF-8''page.html",
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
      })
      const text = await server.call('GET', `/api/files/${json.data.id}/text`, { token })
      expect(text.json.data.text).toBe('')
    }
  })

  test('a video is no recording, and a text that begins like one is a text', async () => {
    const track = 'hdlr\0\0\0\0\0\0\0\0vide'
    const filler = '\0'.repeat(300_000)
    /** A box of an MP4: its length and its type precede its content. */
    const box = (type: string, content: string): string => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(content.length + 8)
      return length.toString('latin1') + type + content
    }
    for (const video of [
      `\0\0\0\x18ftypisom\0${track}${filler}`,
      `\0\0\0\x18ftypisom\0${filler}${track}`,
      // Its track list is longer than the end of the file that is looked at.
      box('ftyp', 'isom\0') + box('mdat', filler) + box('moov', track + filler),
      '\x1aE\xdf\xa3\x01\0V_VP9\0A_OPUS',
      'OggS\0\x02\x80theora',
    ]) {
      const { status, json } = await upload('clip.mp4', Buffer.from(video, 'latin1'))
      expect([status, json.reason], video.slice(0, 40)).toEqual([415, 'file_type_unsupported'])
    }
    for (const text of ['OggS is how such a file begins.', 'ID3 tags name a song.', 'fLaC'])
      expect((await upload('notes.txt', text)).json.data.mime, text).toBe('text/plain')
  })

  test('a file that is not an image, document or text is refused and leaves nothing behind', async () => {
    const png = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
      .png()
      .toBuffer()
    const huge = Buffer.from(png)
    huge.writeUInt32BE(60_000, 16)
    huge.writeUInt32BE(60_000, 20)
    const noise = Buffer.from(Array.from({ length: 4_000 }, (_, at) => (at * 7919) % 256))
    const refused = async (name: string, content: string | Uint8Array) => {
      const { status, json } = await upload(name, content)
      return [status, json.reason]
    }
    expect(await refused('huge.png', huge)).toEqual([415, 'image_unreadable'])
    expect(await refused('cut.png', png.subarray(0, 60))).toEqual([415, 'image_unreadable'])
    expect(await refused('signature.jpg', Buffer.from('\xff\xd8\xff', 'latin1'))).toEqual([
      415,
      'image_unreadable',
    ])
    expect(await refused('photo.heic', Buffer.from('\0\0\0\x18ftypheic\0\0\0\0'))).toEqual([
      415,
      'image_unreadable',
    ])
    expect(await refused('song.mp3', noise)).toEqual([415, 'file_type_unsupported'])
    expect(await refused('archive.zip', Buffer.from('PK\x03\x04\0\0', 'latin1'))).toEqual([
      415,
      'file_type_unsupported',
    ])
    expect(await refused('large.txt', 'x'.repeat(1024 * 1024 + 1))).toEqual([
      413,
      'file_upload_too_large',
    ])
    const wrongField = await fetch(`${server.url}/api/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(wrongField.status).toBe(400)
  })

  test("another user's file returns 404 like one that does not exist", async () => {
    const { json } = await upload('mine.txt', 'mine')
    const path = `/api/files/${json.data.id}`
    for (const method of ['GET', 'DELETE']) {
      const there = await server.call(method, path, { token: other })
      const nowhere = await server.call(method, '/api/files/nowhere', { token: other })
      expect([there.status, there.json.message]).toEqual([404, nowhere.json.message])
    }
    expect((await fetch(server.url + path)).status).toBe(401)
    expect((await server.call('DELETE', path, { token })).status).toBe(200)
    expect((await server.call('GET', path, { token })).status).toBe(404)
  })

  test('deleting a conversation for good frees the room of its files at once, except of those that another message uses', async () => {
    const small = await servers.start({ dialect, config: { limits: { storage: '1000' } } })
    const add = async (name: string, bytes: number) =>
      await uploadFile(small.url, name, name.repeat(bytes))
    const create = async (path: string, body: object) =>
      (await small.call('POST', path, { body })).json.data
    const large = (await add('a', 500)).json.data.id
    const shared = (await add('b', 300)).json.data.id
    const conversations: string[] = []
    for (const files of [[large, shared], [shared]]) {
      const { id } = await create('/api/conversations', {})
      conversations.push(id)
      const attachments = files.map((file_id) => ({ file_id }))
      await create(`/api/conversations/${id}/messages`, { text: 'Hi', attachments, stream: false })
    }
    expect((await add('c', 400)).status).toBe(413)
    const path = `/api/conversations/${conversations[0]}?permanent=true`
    const removed = await small.call('DELETE', path)
    expect(removed.status).toBe(200)
    expect((await add('d', 400)).status).toBe(200)
    expect((await small.call('GET', `/api/files/${large}`)).status).toBe(404)
    expect((await fetch(`${small.url}/api/files/${shared}`)).status).toBe(200)
    expect((await add('e', 400)).status).toBe(413)
  })

  test('a stored file counts towards the storage of its user', async () => {
    const small = await servers.start({ dialect, config: { limits: { storage: '1000' } } })
    expect((await uploadFile(small.url, 'a.txt', 'x'.repeat(600))).status).toBe(200)
    const { status, json } = await uploadFile(small.url, 'b.txt', 'y'.repeat(600))
    expect([status, json.reason]).toEqual([413, 'quota_claim_refused'])
    expect((await uploadFile(small.url, 'c.txt', 'z'.repeat(300))).status).toBe(200)
  })

  test('empty files count, too, so that nobody stores any number of them', async () => {
    const small = await servers.start({ dialect, config: { limits: { storage: '1000' } } })
    const statuses: number[] = []
    for (const name of ['a', 'b', 'c', 'd'])
      statuses.push((await uploadFile(small.url, `${name}.txt`, '')).status)
    expect(statuses).toEqual([200, 200, 200, 413])
    const { items } = (await small.call('GET', '/api/quota/storage')).json.data
    expect(items).toContainEqual({ kind: 'files', count: 3, bytes: 768 })
  })
})
