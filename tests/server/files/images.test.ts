// Reading an image in its child process.
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import sharp from 'sharp'
import { afterAll, describe, expect, test } from 'vitest'
import { thumbnailOf } from '../../../server/files/image-result.ts'
import { readImage } from '../../../server/files/images.ts'
import { hasExtraBytes, KEPT_FORMATS } from '../../../server/files/process-image.ts'

const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-images-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('an image in a folder that is configured as a relative path is read, and its thumbnail is stored there', async () => {
  const path = relative(process.cwd(), join(folder, 'image'))
  await sharp({ create: { width: 30, height: 20, channels: 3, background: '#c33' } })
    .png()
    .toFile(path)
  expect(await readImage(path, `${path}.out`)).toEqual({
    ok: true,
    mime: 'image/png',
    width: 30,
    height: 20,
    replaced: false,
    original: { width: 30, height: 20 },
  })
  const thumbnail = await sharp(await readFile(thumbnailOf(`${path}.out`))).metadata()
  expect(thumbnail.format).toBe('webp')
})

describe('bytes outside the picture', () => {
  const picture = () =>
    sharp({ create: { width: 40, height: 30, channels: 3, background: '#c33' } })
  const secret = Buffer.from('Jane Doe, 51.5 N')
  const segment = (marker: number, content: Buffer) =>
    Buffer.concat([Buffer.from([0xff, marker, 0, content.length + 2]), content])

  test('a plain image has none, whatever its format and however it was written', async () => {
    const noise = sharp({
      create: {
        ...{ width: 200, height: 160, channels: 3, background: '#777' },
        noise: { type: 'gaussian', mean: 128, sigma: 60 },
      },
    })
    const frames = { join: { animated: true } } as const
    const film = () =>
      picture()
        .png()
        .toBuffer()
        .then((one) => sharp([one, one], frames))
    expect(hasExtraBytes('jpeg', await noise.clone().jpeg().toBuffer())).toBe(false)
    expect(hasExtraBytes('jpeg', await noise.clone().jpeg({ progressive: true }).toBuffer())).toBe(
      false,
    )
    expect(hasExtraBytes('jpeg', await noise.clone().keepIccProfile().jpeg().toBuffer())).toBe(
      false,
    )
    expect(hasExtraBytes('png', await noise.clone().png({ palette: true }).toBuffer())).toBe(false)
    expect(hasExtraBytes('webp', await noise.clone().webp().toBuffer())).toBe(false)
    expect(hasExtraBytes('webp', await (await film()).webp().toBuffer())).toBe(false)
    expect(hasExtraBytes('gif', await (await film()).gif().toBuffer())).toBe(false)
  })

  test('comments, camera data, trailing bytes and truncated files are detected', async () => {
    const jpeg = await picture().jpeg().toBuffer()
    const within = (block: Buffer) => Buffer.concat([jpeg.subarray(0, 2), block, jpeg.subarray(2)])
    const gif = await picture().gif().toBuffer()
    const comment = Buffer.from([0x21, 0xfe, secret.length, ...secret, 0, 0x3b])
    const png = await picture().png().toBuffer()
    const webp = await picture().webp().toBuffer()
    expect(hasExtraBytes('jpeg', within(segment(0xfe, secret)))).toBe(true)
    expect(hasExtraBytes('jpeg', within(segment(0xe2, Buffer.from('MPF\0more'))))).toBe(true)
    expect(hasExtraBytes('gif', Buffer.concat([gif.subarray(0, -1), comment]))).toBe(true)
    for (const [format, bytes] of Object.entries({ jpeg, gif, png, webp })) {
      const known = KEPT_FORMATS.find((one) => one === format) ?? expect.fail(format)
      expect(hasExtraBytes(known, Buffer.concat([bytes, secret])), format).toBe(true)
      expect(hasExtraBytes(known, bytes.subarray(0, -5)), format).toBe(true)
    }
  })

  test('an image is stored without them', async () => {
    const path = join(folder, 'comment')
    const jpeg = await picture().jpeg().toBuffer()
    const bytes = [jpeg.subarray(0, 2), segment(0xfe, secret), jpeg.subarray(2), secret]
    await writeFile(path, Buffer.concat(bytes))
    const found = await readImage(path, `${path}.out`)
    expect(found).toMatchObject({ ok: true, mime: 'image/jpeg', width: 40, replaced: true })
    expect((await readFile(`${path}.out`)).includes('Jane')).toBe(false)
  })
})
