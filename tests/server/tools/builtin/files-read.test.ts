// The file tools that read, list and search.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { describe, expect, test } from 'vitest'
import { pdfOf, presentation } from '../../../support/documents.ts'
import { HEVC_PHOTO } from '../../../support/files/hevc-photo.ts'
import { useProjectTools } from './project-tools.ts'

const my = useProjectTools()
const { data, error, put } = my

describe('reading', () => {
  test('returns a file completely or by lines', async () => {
    await put('a.txt', 'one\ntwo\nthree\nfour')
    expect(await data('file_read', { path: 'a.txt' })).toEqual({
      path: 'a.txt',
      content: 'one\ntwo\nthree\nfour',
      start_line: 1,
      end_line: 4,
      total_lines: 4,
      truncated: false,
    })
    expect(await data('file_read', { path: './a.txt', start_line: 2, end_line: 3 })).toMatchObject({
      path: 'a.txt',
      content: 'two\nthree\n',
      start_line: 2,
      end_line: 3,
      total_lines: 4,
      truncated: false,
    })
    expect(await data('file_read', { path: 'a.txt', start_line: 4, end_line: 99 })).toMatchObject({
      content: 'four',
      end_line: 4,
      truncated: false,
    })
    expect(
      (await data('file_read', { path: 'a.txt', start_line: 3, line_numbers: true })).content,
    ).toBe('3\tthree\n4\tfour')
    expect(await error('file_read', { path: 'a.txt', start_line: 5 })).toContain('4 lines')
    expect(await error('file_read', { path: 'a.txt', start_line: 3, end_line: 2 })).toContain(
      'before',
    )
    await put('empty', '')
    expect(await data('file_read', { path: 'empty' })).toMatchObject({
      content: '',
      total_lines: 0,
      truncated: false,
    })
  })

  test('says how to continue in a long file until its end', async () => {
    const lines = Array.from({ length: 4_500 }, (_, index) => `line ${index + 1}`)
    await put('long.txt', `${lines.join('\n')}\n`)
    let next: number | undefined = 1
    let text = ''
    for (let turn = 0; next !== undefined && turn < 10; turn++) {
      const part: Record<string, unknown> = await data('file_read', {
        path: 'long.txt',
        start_line: next,
      })
      text += String(part.content)
      const note = /start_line=(\d+)/.exec(String(part.note))
      expect(part.truncated).toBe(note !== null)
      next = note === null ? undefined : Number(note[1])
    }
    expect(text).toBe(`${lines.join('\n')}\n`)
    await put('wide.txt', `${'x'.repeat(100_000)}\nsecond\n`)
    const wide = await data('file_read', { path: 'wide.txt' })
    expect(wide).toMatchObject({ truncated: true, note: expect.stringContaining('start_line=2') })
    expect(String(wide.content).length).toBe(40_000)
  })

  test('of PDF and Office files returns the text, whole or by page', async () => {
    await put('trip.pptx', presentation(['Welcome', 'Hotels', '函馆的夜景']))
    expect(await data('file_read', { path: 'trip.pptx' })).toMatchObject({
      content: expect.stringMatching(/^\[Page 1\]\nWelcome[\s\S]*\[Page 3\]\n函馆的夜景/),
      pages: 3,
      truncated: false,
    })
    const { content } = await data('file_read', { path: 'trip.pptx', page: 2 })
    expect(content).toMatch(/^\[Page 2\]\nHotels/)
    expect(content).not.toContain('Page 3')
    expect(await error('file_read', { path: 'trip.pptx', page: 9 })).toContain('3 pages')
    expect((await data('file_read', { path: 'trip.pptx', page: 2, last_page: 3 })).content).toMatch(
      /^\[Page 2\]\nHotels[\s\S]*\[Page 3\]\n函馆的夜景/,
    )
    expect((await data('file_read', { path: 'trip.pptx', last_page: 2 })).content).not.toContain(
      'Page 3',
    )
    // Known by its content.
    await put('show.bin', presentation(['Curtain up']))
    expect(await data('file_read', { path: 'show.bin' })).toMatchObject({
      content: expect.stringContaining('Curtain up'),
    })
    await put('paper.pdf', pdfOf('The first line', 'The second line'))
    expect(await data('file_read', { path: 'paper.pdf' })).toMatchObject({
      content: expect.stringContaining('The second line'),
      pages: 2,
    })
    await put('a.txt', 'one')
    expect(await error('file_read', { path: 'a.txt', page: 1 })).toContain('no pages')
    await put('damaged.docx', Buffer.from('PK\u0003\u0004 something else'))
    expect(await error('file_read', { path: 'damaged.docx' })).toContain('"damaged.docx"')
  })

  test('of a picture shows it to the model and tells what it is, whatever its size and format', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const
    const create = { width: 2_600, height: 1_300, channels: 3, background: '#777', noise } as const
    const photo = await sharp({ create }).png().toBuffer()
    expect(photo.length).toBeGreaterThan(5_000_000)
    await put('shots/photo.png', photo)
    const result = await my.run('file_read', { path: 'shots/photo.png' })
    expect(result).toMatchObject({
      success: true,
      data: {
        path: 'shots/photo.png',
        ...{ type: 'image/png', width: 2_600, height: 1_300, bytes: photo.length },
        shown_at: '2000x1000',
      },
      images: [{ mime: 'image/webp' }],
      artifact: { kind: 'image', files: [{ name: 'photo.png', for_model: true }] },
    })
    const [image] = result.images ?? []
    const shown = await sharp(Buffer.from(image?.data ?? '', 'base64')).metadata()
    expect(shown).toMatchObject({ width: 2_000, height: 1_000 })
    // A photo of a phone, upright; known by its content.
    await put('from-phone', HEVC_PHOTO)
    const phone = await my.run('file_read', { path: 'from-phone' })
    expect(phone).toMatchObject({
      data: { type: 'image/heic', width: 64, height: 48 },
      images: [{ mime: 'image/webp' }],
    })
  })

  test('decodes text and refuses binary files with their type', async () => {
    await put('latin.txt', Buffer.from('caf\u00e9 1', 'latin1'))
    expect(await data('file_read', { path: 'latin.txt' })).toMatchObject({
      content: 'café 1',
      encoding: 'windows-1252',
    })
    await put('chinese.txt', Buffer.from([0xc4, 0xe3, 0xba, 0xc3]))
    expect((await data('file_read', { path: 'chinese.txt', encoding: 'gb18030' })).content).toBe(
      '你好',
    )
    expect(await error('file_read', { path: 'chinese.txt', encoding: 'nonsense' })).toContain(
      'Unknown encoding',
    )
    await put('wide.txt', Buffer.from('\ufeffhéllo', 'utf16le'))
    expect((await data('file_read', { path: 'wide.txt' })).content).toBe('héllo')
    await put('image.png', Buffer.from('89504e470d0a1a0a00', 'hex'))
    expect(await error('file_read', { path: 'image.png' })).toContain('PNG image')
    await put('data.bin', Buffer.from([1, 2, 0, 3]))
    expect(await error('file_read', { path: 'data.bin' })).toContain('binary')
    await put('notes.txt', 'MZ is how this note begins')
    expect((await data('file_read', { path: 'notes.txt' })).content).toContain('MZ')
  })

  test('lists folders, checks existence, and finds files and lines', async () => {
    await put('src/a.py', 'import os\nprint("A")\n')
    await put('src/b.txt', 'print')
    await mkdir(join(my.project.workspace.root, 'src', 'sub'))
    expect(await data('file_list', { path: 'src' })).toEqual({
      path: 'src',
      entries: [
        { name: 'a.py', path: 'src/a.py', type: 'file', size: 21 },
        { name: 'b.txt', path: 'src/b.txt', type: 'file', size: 5 },
        { name: 'sub', path: 'src/sub', type: 'directory', size: 0 },
      ],
    })
    expect((await data('ls', {})).entries).toHaveLength(1)
    expect((await data('file_list', { path: 'src', pattern: '*.py' })).entries).toHaveLength(1)
    expect(await data('file_exists', { path: 'src/a.py' })).toEqual({
      path: 'src/a.py',
      exists: true,
      type: 'file',
      size: 21,
    })
    expect(await data('file_exists', { path: 'no/where' })).toEqual({
      path: 'no/where',
      exists: false,
    })
    expect(await data('file_glob', { pattern: '**/*.py' })).toMatchObject({
      paths: ['src/a.py'],
      truncated: false,
    })
    expect(await data('file_grep', { pattern: '^PRINT\\(' })).toEqual({
      matches: [{ path: 'src/a.py', line: 2, content: 'print("A")' }],
      truncated: false,
    })
    expect(await data('file_grep', { pattern: 'PRINT', case_sensitive: true })).toMatchObject({
      matches: [],
    })
    expect(await error('file_grep', { pattern: '(' })).toContain('Invalid pattern')
  })
})

test('a content search reports what it has found so far', async () => {
  await put('a.txt', 'needle\nneedle\n')
  const reports: unknown[] = []
  const report = (progress: unknown) => reports.push(progress)
  await my.run('file_grep', { pattern: 'needle' }, { progress: report })
  expect(reports[0]).toMatchObject({ kind: 'count', done: 1 })
})
