// Results of remote tools: text first, the structure where the text does not hold it, pictures as pictures, and no base64.
import sharp from 'sharp'
import { describe, expect, test } from 'vitest'
import { readResultImage } from '../../../../server/files/images.ts'
import type { RemoteResult } from '../../../../server/tools/mcp/sdk.ts'
import { readResult } from '../../../../server/tools/mcp/tool/read-result.ts'

const read = (result: Partial<RemoteResult>) =>
  readResult({ content: [], ...result }, readResultImage)
const say = (text: string) => ({ type: 'text' as const, text })
const picture = async (side: number, format: 'png' | 'jpeg' | 'avif' = 'png') =>
  (
    await sharp({ create: { width: side, height: side / 2, channels: 3, background: '#29c' } })
      .toFormat(format)
      .toBuffer()
  ).toString('base64')
const image = (data: string, mimeType = 'image/png') => ({ type: 'image' as const, data, mimeType })

describe('the structure of a result', () => {
  test.each([
    [
      'is left out if the text holds it',
      'In Paris: 21 degrees',
      { city: 'Paris', degrees: 21 },
      'In Paris: 21 degrees',
    ],
    ['is left out if it is empty', 'THE ANSWER IS 42', {}, 'THE ANSWER IS 42'],
    ['is the result if the text is its JSON', '{"answer": 42}', { answer: 42 }, { answer: 42 }],
    [
      'is the result if one of its values is the text',
      'Hi',
      { content: 'Hi', size: 2 },
      { content: 'Hi', size: 2 },
    ],
    ['is the result if there is no text', '', { answer: 42 }, { answer: 42 }],
    [
      'follows the text if that does not hold it',
      'FILE CONTENT: line one',
      { fileName: 'a.txt', lines: 1 },
      'FILE CONTENT: line one\n\nStructured content: {"fileName":"a.txt","lines":1}',
    ],
    [
      'follows the text if that has its values only within other words and numbers',
      'Found 13 books, 7.5 each',
      { total: 3, status: 'ok', price: 7 },
      'Found 13 books, 7.5 each\n\nStructured content: {"total":3,"status":"ok","price":7}',
    ],
  ])('%s', async (_what, text, structuredContent, data) => {
    expect(await read({ content: [say(text)], structuredContent })).toMatchObject({
      success: true,
      data,
    })
  })

  test('follows a long text with many values, as comparing them would take long', async () => {
    const rows = Array.from({ length: 3_000 }, (_, id) => ({ id, name: `name ${id}` }))
    const table = rows.map(({ id, name }) => `${id} | ${name}`).join('\n')
    expect(await read({ content: [say(table)], structuredContent: { rows } })).toMatchObject({
      data: `${table}\n\nStructured content: ${JSON.stringify({ rows })}`,
    })
  })

  test('of a failure is in its error', async () => {
    expect(
      await read({ content: [say('Failed.')], structuredContent: { code: 7 }, isError: true }),
    ).toMatchObject({ success: false, error: 'Failed.\n\nStructured content: {"code":7}' })
  })
})

describe('a picture', () => {
  test('goes to models and people, and the text says what it is', async () => {
    const data = await picture(40)
    const result = await read({ content: [say('Took a screenshot.'), image(data)] })
    expect(result).toMatchObject({
      data: 'Took a screenshot.\n[image 1: image/png, 40x20]',
      images: [{ mime: 'image/png', data }],
      artifact: {
        files: [
          {
            name: 'image-1',
            mime: 'image/png',
            for_model: true,
            data: `data:image/png;base64,${data}`,
          },
        ],
      },
    })
  })

  test.each([
    ['in structured content', async (data: string) => ({ structuredContent: { shot: { data } } })],
    [
      'in a text',
      async (data: string) => ({ content: [say(`See data:image/png;base64,${data} there`)] }),
    ],
    [
      'in an embedded resource',
      async (data: string) => ({
        content: [
          {
            type: 'resource' as const,
            resource: { uri: 'file:///a.png', mimeType: 'image/png', blob: data },
          },
        ],
      }),
    ],
  ])('%s is found, and none of its base64 is in the text', async (_where, resultWith) => {
    const noise = await sharp({
      create: {
        width: 60,
        height: 60,
        channels: 3,
        background: '#fff',
        noise: { type: 'gaussian', mean: 90, sigma: 30 },
      },
    })
      .png()
      .toBuffer()
    const data = noise.toString('base64')
    const result = await read(await resultWith(data))
    expect(result.images).toEqual([{ mime: 'image/png', data }])
    expect(JSON.stringify(result.success ? result.data : '')).toMatch(
      /\[image 1: image\/png, 60x60\]/,
    )
    expect(JSON.stringify(result.success ? result.data : '').length).toBeLessThan(300)
  })

  test('that is sent twice is shown once', async () => {
    const data = await picture(40)
    expect((await read({ content: [image(data), image(data)] })).images).toHaveLength(1)
  })

  test('that is too large or in a rare format is converted', async () => {
    const [large] = (await read({ content: [image(await picture(5_000))] })).images ?? []
    const { width, format } = await sharp(Buffer.from(large?.data ?? '', 'base64')).metadata()
    expect({ width, format, mime: large?.mime }).toEqual({
      width: 2_000,
      format: 'webp',
      mime: 'image/webp',
    })
    const rare = await read({ content: [image(await picture(40, 'avif'), 'image/avif')] })
    expect(rare.images).toMatchObject([{ mime: 'image/webp' }])
  })

  test.each([
    [
      'that cannot be read',
      [image('AAAA'), image(Buffer.from('<svg/>').toString('base64'), 'image/svg+xml')],
    ],
    [
      'that is damaged',
      [image(Buffer.from('\x89PNG\r\n\x1a\nbroken', 'latin1').toString('base64'))],
    ],
  ])('%s is not claimed to have been shown', async (_what, content) => {
    const result = await read({ content })
    expect(result).not.toHaveProperty('images')
    expect(result.artifact).not.toHaveProperty('files')
    expect(result).toMatchObject({
      data: expect.stringMatching(/not shown, because it cannot be read/),
    })
  })

  test('beyond the fourth is named', async () => {
    const content = await Promise.all(
      [20, 22, 24, 26, 28].map(async (side) => image(await picture(side))),
    )
    const result = await read({ content })
    expect(result.images).toHaveLength(4)
    expect(result).toMatchObject({
      data: expect.stringMatching(/not shown, because there are too many/),
    })
  })
})

describe('other content', () => {
  test.each([
    [
      'audio',
      { type: 'audio' as const, data: 'AAAA', mimeType: 'audio/wav' },
      /^\[audio, audio\/wav, 3 bytes: cannot be played/,
    ],
    [
      'a link',
      {
        type: 'resource_link' as const,
        uri: 'file:///a.md',
        name: 'Notes',
        mimeType: 'text/markdown',
      },
      /^Notes: file:\/\/\/a.md \(text\/markdown\)$/,
    ],
    [
      'an embedded text',
      { type: 'resource' as const, resource: { uri: 'a:b', text: 'inside' } },
      /^inside$/,
    ],
    [
      'an embedded file',
      {
        type: 'resource' as const,
        resource: { uri: 'a:b', blob: 'AAAA', mimeType: 'application/zip' },
      },
      /^\[file a:b, application\/zip, 3 bytes: its content is not shown\]$/,
    ],
  ])('%s is named in the text', async (_what, part, says) => {
    expect(await read({ content: [part] })).toMatchObject({ data: expect.stringMatching(says) })
  })

  test('base64 in a text is replaced, long words of other kinds stay', async () => {
    const bytes = Buffer.from(Array.from({ length: 3_000 }, (_, at) => (at * 89) % 251)).toString(
      'base64',
    )
    expect(await read({ content: [say(`before ${bytes} after`)] })).toMatchObject({
      data: 'before [base64 data, 3 KB: not shown] after',
    })
    // As large as the transport lets through.
    const whole = 'aB3/'.repeat(2_000_000)
    expect(await read({ content: [say(`${whole}==\ndone`)] })).toMatchObject({
      data: '[base64 data, 5859 KB: not shown]\ndone',
    })
    for (const word of ['ACGT'.repeat(1_000), 'x'.repeat(5_000), '0123456789'.repeat(300)])
      expect(await read({ content: [say(word)] })).toMatchObject({ data: word })
  })
})
