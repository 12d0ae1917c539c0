// Files of a project over real HTTP: reading, writing, searching, and every path that must be refused.
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { presentation } from '../../../support/documents.ts'
import { eventually } from '../../../support/eventually.ts'
import { file, useProjectServer } from './use-project-server.ts'

const server = useProjectServer()
const { createProject, write, upload, raw } = server

describe('files', () => {
  test('of all projects are found by words of their paths, in any case', async () => {
    const [one, other] = [await createProject(), await createProject()]
    await write(one, 'src/Queue[1].ts', 'a')
    await write(one, 'src/sender.ts', 'a')
    await write(other, 'docs/queue notes.md', 'a')
    const find = async (q: string, more = '') => {
      const path = `/api/project-files?q=${encodeURIComponent(q)}${more}`
      const { files } = (await server.call('GET', path)).json.data
      return files.map((found: { project_id: string; path: string }) => [
        found.project_id,
        found.path,
      ])
    }
    expect(await find('queue')).toEqual([
      [other, 'docs/queue notes.md'],
      [one, 'src/Queue[1].ts'],
    ])
    expect(await find('src QUEUE[1')).toEqual([[one, 'src/Queue[1].ts']])
    expect(await find('queue*ts')).toEqual([])
    expect(await find('queue', `&project_id=${one}`)).toEqual([[one, 'src/Queue[1].ts']])
    expect((await server.call('GET', '/api/project-files?q=%20')).status).toBe(400)
  })

  test('are copied for a message, which keeps the copy, with what models read of it', async () => {
    const id = await createProject()
    await write(id, 'docs/plan.md', '# Plan')
    const attach = (path: string) =>
      server.call('POST', `/api/projects/${id}/attachments`, { body: { path } })
    const attached = (await attach('docs/plan.md')).json.data
    expect(attached).toMatchObject({ name: 'plan.md', mime: 'text/plain', characters: 6 })
    await write(id, 'docs/plan.md', '# Changed')
    const copy = await fetch(`${server.url}/api/files/${attached.id}`)
    expect(await copy.text()).toBe('# Plan')
    expect((await attach('docs/none.md')).status).toBe(404)
    expect((await attach('../other')).status).toBe(403)
    const other = `/api/projects/${crypto.randomUUID()}/attachments`
    expect((await server.call('POST', other, { body: { path: 'a' } })).status).toBe(404)
  })

  test('are made searchable, which their folder says; uploaded documents are listed apart', async () => {
    const id = await createProject()
    await write(id, 'docs/plan.md', '# Plan\n\nBy train.')
    const make = (path: string) =>
      server.call('POST', `/api/projects/${id}/searchable-files`, { body: { path } })
    const made = (await make('./docs/plan.md')).json.data
    expect(made).toMatchObject({ name: 'plan.md', path: 'docs/plan.md' })
    expect((await make('../plan.md')).status).toBe(403)
    expect((await make('none.md')).status).toBe(404)
    const form = new FormData()
    form.append('files[]', new Blob(['# Handbook']), 'handbook.md')
    const documents = `/api/projects/${id}/documents`
    await fetch(`${server.url}${documents}`, { method: 'POST', body: form })
    const namesOf = async (query: string) =>
      (await server.call('GET', documents + query)).json.data.items.map(
        ({ name, path }: { name: string; path: string | null }) => [name, path],
      )
    expect(await namesOf('')).toEqual([
      ['handbook.md', null],
      ['plan.md', 'docs/plan.md'],
    ])
    expect(await namesOf('?without_file=true')).toEqual([['handbook.md', null]])
    const file = async () =>
      (await server.call('GET', `/api/projects/${id}/files?path=docs`)).json.data.files[0]
    await eventually(async () =>
      expect(await file()).toMatchObject({ document: { id: made.id, status: 'ready' } }),
    )
    await server.call('DELETE', `${documents}/${made.id}`)
    expect(await file()).not.toHaveProperty('document')
  })

  test('have a preview if they are documents, or the reason why there is none', async () => {
    const id = await createProject()
    const form = new FormData()
    form.append('files[]', new Blob([presentation(['Welcome'])]), 'talks/trip.pptx')
    form.append('files[]', new Blob(['PK\u0003\u0004']), 'broken.docx')
    const uploaded = `${server.url}/api/projects/${id}/files`
    expect((await fetch(uploaded, { method: 'POST', body: form })).status).toBe(200)
    const preview = async (path: string) =>
      await server.call('GET', `/api/projects/${id}/previews/${path}`)
    expect((await preview('talks/trip.pptx')).json.data).toMatchObject({
      preview: { kind: 'slides', slides: [{ number: 1, text: 'Welcome\nsecond line' }] },
      error: null,
    })
    expect((await preview('broken.docx')).json.data).toMatchObject({
      preview: null,
      reason: 'document_docx_damaged',
    })
    expect((await preview('none.docx')).status).toBe(404)
  })

  test('are listed, read, written, renamed and deleted', async () => {
    const id = await createProject()
    expect((await write(id, 'src/main.py', 'print(1)\n')).json.data).toMatchObject({
      path: 'src/main.py',
      name: 'main.py',
      size: 9,
    })
    await server.call('POST', `/api/projects/${id}/directories`, { body: { path: 'docs/deep' } })
    const top = await server.call('GET', `/api/projects/${id}/files`)
    expect(top.json.data).toEqual({
      current_path: '',
      files: [],
      directories: [
        { name: 'docs', path: 'docs' },
        { name: 'src', path: 'src' },
      ],
      total_files: 0,
      total_dirs: 2,
    })
    const inner = await server.call('GET', `/api/projects/${id}/files?path=src`)
    expect(inner.json.data.files).toEqual([
      { name: 'main.py', path: 'src/main.py', size: 9, extension: '.py' },
    ])
    await server.call('PATCH', file(id, 'src/main.py'), { body: { new_path: 'app/start.py' } })
    expect((await server.call('GET', file(id, 'app/start.py'))).json.data).toMatchObject({
      content: 'print(1)\n',
      encoding: 'utf-8',
    })
    expect((await server.call('DELETE', file(id, 'app'))).json.code).toBe(0)
    expect((await server.call('GET', file(id, 'app/start.py'))).status).toBe(404)
  })

  test('in another encoding are read in it, or in the chosen one, and written back in it', async () => {
    const id = await createProject()
    const text = 'id,name\r\n1,山田太郎\r\n'
    await server.call('PUT', file(id, 'sales.csv'), { body: { content: text, encoding: 'sjis' } })
    const { content, encoding, version } = (await server.call('GET', file(id, 'sales.csv'))).json
      .data
    expect(encoding).toBe('shift_jis')
    expect(content).toContain('山田太郎')
    const chosen = await server.call('GET', `${file(id, 'sales.csv')}?encoding=windows-1252`)
    expect(chosen.json.data).toMatchObject({
      encoding: 'windows-1252',
      content: expect.stringContaining('ŽR“c'),
    })
    expect(await server.call('GET', `${file(id, 'sales.csv')}?encoding=utf-8`)).toMatchObject({
      status: 400,
      json: { reason: 'encoding_mismatch' },
    })
    const put = (changed: string) =>
      server.call('PUT', file(id, 'sales.csv'), { body: { content: changed, encoding, version } })
    expect(await put(`${content}😀`)).toMatchObject({
      status: 400,
      json: { reason: 'encoding_not_writable' },
    })
    expect((await put(content.replace('山田太郎', '高橋'))).status).toBe(200)
    const raw = await fetch(`${server.url}${file(id, 'sales.csv')}?raw=1`)
    expect(new TextDecoder('shift_jis').decode(await raw.arrayBuffer())).toBe(
      content.replace('山田太郎', '高橋'),
    )
  })

  test('may have names with unusual but allowed characters', async () => {
    const id = await createProject()
    for (const name of [
      'ä ö.txt',
      '日本語.md',
      '100%.txt',
      'a+b&c=d?.txt',
      '#hash',
      "it's",
      '..a',
      '👩‍👩‍👧.txt',
    ]) {
      expect((await write(id, `dir/${name}`, name)).status).toBe(200)
      expect((await server.call('GET', file(id, `dir/${name}`))).json.data.content).toBe(name)
    }
  })

  test.each([
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e%2f%2e%2e%2fx',
    '%2fetc%2fpasswd',
    '..%5c..%5cx',
    'a%2f..%2f..%2fx',
    '%2e%2e',
  ])('return 403 for the path %s on every route', async (path) => {
    const id = await createProject()
    const at = `/api/projects/${id}/files/${path}`
    expect(await raw('GET', at)).toBe(403)
    expect(await raw('GET', `${at}?raw=1`)).toBe(403)
    expect(await raw('PUT', at, '{"content":"x"}')).toBe(403)
    expect(await raw('PATCH', at, '{"new_path":"x"}')).toBe(403)
    expect(await raw('DELETE', at)).toBe(403)
    expect(await raw('GET', `/api/projects/${id}/files?path=${path}`)).toBe(403)
    const text = JSON.stringify(decodeURIComponent(path))
    expect(await raw('POST', `/api/projects/${id}/directories`, `{"path":${text}}`)).toBe(403)
    expect(await raw('POST', `/api/projects/${id}/search`, `{"query":"x","path":${text}}`)).toBe(
      403,
    )
    await write(id, 'mine', 'x')
    expect(await raw('PATCH', file(id, 'mine'), `{"new_path":${text}}`)).toBe(403)
  })

  test.each([
    'a%00b',
    'a%0ab',
    '%e2%80%ae',
    '%ff',
    '%c0%ae%c0%ae%2fx',
    `${'a'.repeat(256)}`,
    `${'d%2f'.repeat(40)}x`,
    'a%5cb',
  ])('return 400 for the name %s', async (path) => {
    const id = await createProject()
    expect(await raw('GET', `/api/projects/${id}/files/${path}`)).toBe(400)
    expect(await raw('PUT', `/api/projects/${id}/files/${path}`, '{"content":"x"}')).toBe(400)
  })

  test('behind a symbolic link return 403 for reading, writing and listing', async () => {
    const id = await createProject()
    await write(id, 'a.txt', 'x')
    await symlink('/etc', join(await server.folderOf(id), 'link'))
    expect((await server.call('GET', file(id, 'link/passwd'))).status).toBe(403)
    expect((await server.call('GET', file(id, 'link'))).status).toBe(403)
    expect((await write(id, 'link/evil', 'x')).status).toBe(403)
    expect((await server.call('GET', `/api/projects/${id}/files?path=link`)).status).toBe(403)
    expect((await server.call('GET', `/api/projects/${id}/files`)).json.data.total_dirs).toBe(0)
  })

  test('with binary content return 400 as text, and are downloaded as attachments only', async () => {
    const response = await upload('Binary', [
      ['image.png', '\u0089PNG\r\n\u001a\n\0\0'],
      ['page.html', '<script>alert(1)</script>'],
      ['run.svg', '<svg onload="alert(1)"/>'],
    ])
    const { data } = (await response.json()) as { data: { id: string } }
    const read = await server.call('GET', file(data.id, 'image.png'))
    expect(read.status).toBe(400)
    expect(read.json.message).toContain('binary')
    for (const [name, type] of [
      ['image.png', 'image/png'],
      ['page.html', 'application/octet-stream'],
      ['run.svg', 'application/octet-stream'],
    ]) {
      const download = await fetch(`${server.url}${file(data.id, name ?? '')}?raw=1`)
      expect(download.status).toBe(200)
      expect(download.headers.get('content-type')).toBe(type)
      expect(download.headers.get('content-disposition')).toBe(
        `attachment; filename*=UTF-8''${name}`,
      )
      expect(download.headers.get('x-content-type-options')).toBe('nosniff')
      expect(download.headers.get('content-security-policy')).toContain('sandbox')
      expect(download.headers.get('cache-control')).toContain('no-store')
      expect((await download.arrayBuffer()).byteLength).toBeGreaterThan(5)
    }
  })

  test('beyond a limit return 413 with a message for that limit', async () => {
    const id = await createProject()
    expect((await write(id, 'large', 'x'.repeat(300_000 + 10_000))).json).toMatchObject({
      code: 413,
      message: expect.stringContaining('too large to write'),
    })
    await write(id, 'readable', 'x'.repeat(250_000))
    expect((await server.call('GET', file(id, 'readable'))).status).toBe(413)
    for (const name of ['b', 'c', 'd']) await write(id, name, 'x'.repeat(250_000))
    expect((await write(id, 'e', 'x'.repeat(250_000))).json.message).toContain('project')
  })

  test('that somebody else changed meanwhile return 409, by version or If-Match', async () => {
    const id = await createProject()
    const first = (await write(id, 'a', '1')).json.data.version
    expect((await write(id, 'a', '2', { version: first })).status).toBe(200)
    expect((await write(id, 'a', '3', { version: first })).status).toBe(409)
    expect((await write(id, 'new', '1', { version: '' })).status).toBe(200)
    expect((await write(id, 'new', '1', { version: '' })).status).toBe(409)
    const etag = (await server.call('GET', file(id, 'a'))).headers.get('etag') ?? ''
    const put = (tag: string) =>
      server.call('PUT', file(id, 'a'), { body: { content: 'x' }, headers: { 'if-match': tag } })
    expect((await put(etag)).status).toBe(200)
    expect((await put(etag)).status).toBe(409)
  })

  test('with a name that is taken return 409 and change nothing on disk', async () => {
    const id = await createProject()
    await write(id, 'a', '1')
    await write(id, 'dir/b', '1')
    expect((await write(id, 'dir', 'x')).status).toBe(409)
    expect((await write(id, 'a/b', 'x')).status).toBe(409)
    expect((await server.call('PATCH', file(id, 'a'), { body: { new_path: 'dir' } })).status).toBe(
      409,
    )
    expect(
      (await server.call('POST', `/api/projects/${id}/directories`, { body: { path: 'dir' } }))
        .status,
    ).toBe(409)
    expect(
      (await server.call('GET', `/api/projects/${id}/checkpoints`)).json.data.items,
    ).toHaveLength(2)
  })

  test('are searched as plain text', async () => {
    const id = await createProject()
    await write(id, 'src/a.txt', 'one (two)\nthree\n')
    await write(id, 'b.txt', 'ONE (TWO)\n')
    const search = (body: object) => server.call('POST', `/api/projects/${id}/search`, { body })
    expect((await search({ query: '(two)' })).json.data).toEqual({
      query: '(two)',
      results: [
        { path: 'b.txt', matches: [{ line: 1, content: 'ONE (TWO)' }] },
        { path: 'src/a.txt', matches: [{ line: 1, content: 'one (two)' }] },
      ],
      total_matches: 2,
      truncated: false,
    })
    expect(
      (await search({ query: '(two)', case_sensitive: true, path: 'src' })).json.data.total_matches,
    ).toBe(1)
    expect((await search({ query: '' })).status).toBe(400)
  })
})
