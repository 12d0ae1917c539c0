// Reading an image in its child process.
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import sharp from 'sharp'
import { afterAll, expect, test } from 'vitest'
import { thumbnailOf } from '../../../server/files/image-result.ts'
import { readImage } from '../../../server/files/images.ts'

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
  })
  const thumbnail = await sharp(await readFile(thumbnailOf(`${path}.out`))).metadata()
  expect(thumbnail.format).toBe('webp')
})
