// Projects over real HTTP: folders uploaded, files read and written, everything undone again, and every path that must not work.
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestServer, useServers } from '../../support/server.ts'

let root: string
let server: TestServer

/** All below the workspace root; read again where something was on its way out just then. */
const everything = async (): Promise<string[]> => {
  for (;;) {
    try {
      return await readdir(root, { recursive: true })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
  }
}

let made = 0
const makeProject = async (): Promise<string> =>
  (await server.call('POST', '/api/projects', { body: { name: `project ${++made}` } })).json.data.id
const file = (id: string, path: string) =>
  `/api/projects/${id}/files/${path.split('/').map(encodeURIComponent).join('/')}`
const write = (id: string, path: string, content: string, more: object = {}) =>
  server.call('PUT', file(id, path), { body: { content, ...more } })
const upload = (name: string | null, files: readonly (readonly [string, string])[]) => {
  const form = new FormData()
  if (name !== null) form.set('name', name)
  for (const [path, content] of files) form.append('files[]', new Blob([content]), path)
  return fetch(`${server.url}/api/projects/upload`, { method: 'POST', body: form })
}
/** A request whose path is sent as it is written; `fetch` would tidy it up. */
const raw = (method: string, path: string, body?: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url)
    const call = httpRequest(
      { hostname, port, method, path, headers: { 'content-type': 'application/json' } },
      (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      },
    )
    call.on('error', reject)
    call.end(body)
  })

describe('the project routes', () => {
  const servers = useServers()
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'routes-'))
    server = await servers.start({
      config: {
        workspace_root: root,
        limits: {
          file_read: '200KB',
          file_write: '300KB',
          project: '1MB',
          upload: '500KB',
          upload_files: 1_200,
        },
      },
    })
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  describe('projects', () => {
    test('are made, listed with their number, shown with statistics, changed and deleted with their folder', async () => {
      const created = await server.call('POST', '/api/projects', {
        body: { name: 'One', description: 'first', nonsense: true },
      })
      expect(created.status).toBe(200)
      const { id } = created.json.data
      expect(created.json.data).toMatchObject({
        name: 'One',
        description: 'first',
        stats: { files: 0 },
      })
      await write(id, 'src/a.txt', 'abc')
      const shown = await server.call('GET', `/api/projects/${id}`)
      expect(shown.json.data.stats).toEqual({ files: 1, directories: 1, total_size: 3 })
      const renamed = await server.call('PUT', `/api/projects/${id}`, {
        body: { name: '../Two', description: null },
      })
      expect(renamed.json.data).toMatchObject({ name: '../Two', description: null })
      const list = await server.call('GET', '/api/projects?limit=100')
      expect(list.json.data.items.some((item: { id: string }) => item.id === id)).toBe(true)
      expect(list.json.data.total).toBeGreaterThan(0)
      expect((await server.call('DELETE', `/api/projects/${id}`)).json).toEqual({
        code: 0,
        message: 'deleted',
      })
      expect((await server.call('GET', `/api/projects/${id}`)).status).toBe(404)
      const folders = (await everything()).filter((path) => path.endsWith(id))
      expect(folders).toEqual([])
    })

    test('of the same name are 409, also when two requests come at once', async () => {
      const body = { name: 'Twice' }
      const answers = await Promise.all([
        server.call('POST', '/api/projects', { body }),
        server.call('POST', '/api/projects', { body }),
      ])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    })

    test('bad bodies and unknown ids are 4xx', async () => {
      for (const body of [{}, { name: '' }, { name: 'x'.repeat(256) }, { name: 7 }, []])
        expect((await server.call('POST', '/api/projects', { body })).status).toBe(400)
      for (const id of ['nope', '..', '%2e%2e', 'x'.repeat(65)]) {
        const { status } = await server.call('GET', `/api/projects/${encodeURIComponent(id)}/files`)
        expect([400, 404]).toContain(status)
      }
    })
  })

  describe('an upload', () => {
    test('of 1,000 files becomes a project; the top folder that all share is dropped', async () => {
      const files = Array.from(
        { length: 1_000 },
        (_, index) => [`top/dir${index % 20}/file${index}.txt`, `content ${index}`] as const,
      )
      const response = await upload('Thousand', files)
      expect(response.status).toBe(200)
      const { data } = (await response.json()) as { data: { id: string; stats: object } }
      expect(data.stats).toMatchObject({ files: 1_000, directories: 20 })
      const read = await server.call('GET', file(data.id, 'dir7/file7.txt'))
      expect(read.json.data.content).toBe('content 7')
    })

    test.each([
      ['a path that leaves the project', [['../evil.txt', 'x']], 403],
      ['an absolute path', [['/etc/evil', 'x']], 403],
      ['a path with a backslash', [['a\\b', 'x']], 400],
      [
        'one name twice',
        [
          ['a.txt', 'x'],
          ['a.txt', 'y'],
        ],
        409,
      ],
      [
        'a file in the place of a folder',
        [
          ['a', 'x'],
          ['a/b', 'y'],
        ],
        409,
      ],
      ['too many bytes', [['big', 'x'.repeat(600_000)]], 413],
      ['no file', [], 400],
    ] as const)('with %s is refused and leaves nothing', async (_what, files, status) => {
      const before = await everything()
      const response = await upload(
        'Refused',
        [['fine.txt', 'fine'], ...files].slice(files.length === 0 ? 1 : 0) as [string, string][],
      )
      expect(response.status).toBe(status)
      expect(await everything()).toEqual(before)
      const { json } = await server.call('GET', '/api/projects?limit=100')
      expect(json.data.items.some(({ name }: { name: string }) => name === 'Refused')).toBe(false)
    })

    test('without a name, of too many files, or with a name that is taken is refused', async () => {
      expect((await upload(null, [['a', 'x']])).status).toBe(400)
      const many = Array.from({ length: 1_201 }, (_, index) => [`f${index}`, ''] as const)
      expect((await upload('Many', many)).status).toBe(413)
      expect((await upload('Taken', [['a', 'x']])).status).toBe(200)
      expect((await upload('Taken', [['a', 'x']])).status).toBe(409)
    })

    const opened = '--x\r\nContent-Disposition: form-data; name="files[]"; filename="a.txt"\r\n\r\n'
    test.each([
      ['without a boundary', 'multipart/form-data', `${opened}abc\r\n--x--\r\n`],
      ['with an empty boundary', 'multipart/form-data; boundary=', 'abc'],
      ['of another boundary', 'multipart/form-data; boundary=y', `${opened}abc\r\n--x--\r\n`],
      ['that ends within a file', 'multipart/form-data; boundary=x', `${opened}abc`],
      ['that ends within a header', 'multipart/form-data; boundary=x', opened.slice(0, 30)],
    ])(
      '%s is the fault of the sender, for projects, their files and documents',
      async (_what, type, body) => {
        const project = await makeProject()
        const before = await everything()
        for (const path of [
          '/api/projects/upload',
          `/api/projects/${project}/files`,
          `/api/projects/${project}/documents`,
        ]) {
          const response = await fetch(server.url + path, {
            method: 'POST',
            headers: { 'content-type': type },
            body,
          })
          expect([path, response.status]).toEqual([path, 400])
        }
        expect(await everything()).toEqual(before)
        const { json } = await server.call('GET', `/api/projects/${project}/documents`)
        expect(json.data.items).toEqual([])
      },
    )

    test('cut off by the client leaves nothing behind', async () => {
      const before = await everything()
      const { hostname, port } = new URL(server.url)
      await new Promise<void>((resolve) => {
        const call = httpRequest({
          hostname,
          port,
          method: 'POST',
          path: '/api/projects/upload',
          headers: { 'content-type': 'multipart/form-data; boundary=x', 'content-length': 100_000 },
        })
        call.on('error', () => resolve())
        call.write(
          '--x\r\ncontent-disposition: form-data; name="files[]"; filename="a.txt"\r\n\r\nhalf',
        )
        call.once('finish', () => {})
        setImmediate(() => setTimeout(() => call.destroy(new Error('gone')), 50))
      })
      await expect.poll(everything).toEqual(before)
    })
  })

  describe('files uploaded into a project', () => {
    type Part = readonly [path: string, content: string | Uint8Array<ArrayBuffer>]
    const add = async (id: string, files: readonly Part[], folder?: string) => {
      const form = new FormData()
      for (const [path, content] of files) form.append('files[]', new Blob([content]), path)
      // Behind the files, where a form may have it too.
      if (folder !== undefined) form.set('path', folder)
      const response = await fetch(`${server.url}/api/projects/${id}/files`, {
        method: 'POST',
        body: form,
      })
      return { status: response.status, json: JSON.parse(await response.text()) }
    }
    const download = async (id: string, path: string): Promise<Buffer> =>
      Buffer.from(await (await fetch(`${server.url}${file(id, path)}?raw=1`)).arrayBuffer())
    const bytesOf = (length: number) => Uint8Array.from({ length }, (_, index) => (index * 7) % 256)
    const listOf = async (id: string) =>
      (await server.call('GET', `/api/projects/${id}/checkpoints`)).json.data.items

    test('are of any kind, keep what else is there, replace their names, and are undone in one step', async () => {
      const id = await makeProject()
      await write(id, 'kept.txt', 'kept')
      await write(id, 'in/old.bin', 'old')
      // One that is gathered in memory, one that is written as it comes, larger than a text may be written.
      const [small, large] = [bytesOf(1_000), bytesOf(310_000)]
      const added = await add(
        id,
        [
          ['old.bin', small],
          ['deep/er/large.bin', large],
        ],
        'in',
      )
      expect([added.status, added.json.data]).toEqual([
        200,
        { added: 1, replaced: 1, total_size: 311_000 },
      ])
      expect((await download(id, 'in/old.bin')).equals(Buffer.from(small))).toBe(true)
      expect((await download(id, 'in/deep/er/large.bin')).equals(Buffer.from(large))).toBe(true)
      const [checkpoint] = await listOf(id)
      expect(checkpoint).toMatchObject({ tool: 'upload', file_count: 2 })
      await server.call('POST', `/api/projects/${id}/checkpoints/${checkpoint.id}/restore`)
      expect((await download(id, 'in/old.bin')).toString()).toBe('old')
      expect((await server.call('GET', file(id, 'in/deep/er/large.bin'))).status).toBe(404)
      expect((await download(id, 'kept.txt')).toString()).toBe('kept')
    })

    test.each<[string, Part[], string, number, string]>([
      ['a path that leaves the project', [['../evil.txt', 'x']], '', 403, 'path_escapes'],
      ['a folder that leaves the project', [['a.txt', 'x']], '../..', 403, 'path_escapes'],
      ['a link on the way', [['link/a.txt', 'x']], '', 403, 'path_escapes'],
      ['a link in its place', [['link', 'x']], '', 403, 'path_escapes'],
      ['a folder in its place', [['folder', 'x']], '', 409, 'conflict'],
      ['a file in the place of its folder', [['file.txt/a', 'x']], '', 409, 'conflict'],
      [
        'one name twice',
        [
          ['a', 'x'],
          ['a', 'y'],
        ],
        '',
        409,
        'conflict',
      ],
      ['an invisible character', [['a\u202eb', 'x']], '', 400, 'bad_request'],
      ['too many bytes', [['big', 'x'.repeat(600_000)]], '', 413, 'payload_too_large'],
      ['more than the project may hold', [['b1', 'x'.repeat(480_000)]], '', 413, 'project_full'],
      ['no file', [], '', 400, 'bad_request'],
    ])(
      'are refused for %s, all of them, and nothing has changed',
      async (_what, files, folder, status, error) => {
        const id = await makeProject()
        await write(id, 'file.txt', 'mine')
        for (const name of ['folder/1', 'folder/2']) await write(id, name, 'x'.repeat(290_000))
        const home = (await everything()).find((path) => path.endsWith(id) && !path.startsWith('.'))
        await symlink('/etc', join(root, home ?? '', 'link'))
        // What a checkpoint kept may stay; nobody sees it.
        const seen = async () => [
          (await everything()).filter((path) => !path.startsWith('.nanoclaw/projects')),
          await listOf(id),
        ]
        const before = await seen()
        const refused = await add(
          id,
          files.length === 0 ? [] : [['fine.txt', 'fine'], ...files],
          folder,
        )
        expect([refused.status, refused.json.error]).toEqual([status, error])
        expect(await seen()).toEqual(before)
      },
    )

    test('are refused for a project that is not there', async () => {
      const id = await makeProject()
      await server.call('DELETE', `/api/projects/${id}`)
      expect((await add(id, [['a', 'x']])).status).toBe(404)
    })
  })

  describe('files', () => {
    test('are listed, read, written, renamed and deleted', async () => {
      const id = await makeProject()
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

    test('names with every odd but allowed character work', async () => {
      const id = await makeProject()
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
    ])('the path %s is 403 on every file route', async (path) => {
      const id = await makeProject()
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
    ])('the name %s is a 400', async (path) => {
      const id = await makeProject()
      expect(await raw('GET', `/api/projects/${id}/files/${path}`)).toBe(400)
      expect(await raw('PUT', `/api/projects/${id}/files/${path}`, '{"content":"x"}')).toBe(400)
    })

    test('a link in the project is 403 to read, to write and to list', async () => {
      const id = await makeProject()
      await write(id, 'a.txt', 'x')
      const [folder] = (await everything()).filter(
        (path) => path.endsWith(id) && !path.startsWith('.'),
      )
      await symlink('/etc', join(root, folder ?? '', 'link'))
      expect((await server.call('GET', file(id, 'link/passwd'))).status).toBe(403)
      expect((await server.call('GET', file(id, 'link'))).status).toBe(403)
      expect((await write(id, 'link/evil', 'x')).status).toBe(403)
      expect((await server.call('GET', `/api/projects/${id}/files?path=link`)).status).toBe(403)
      expect((await server.call('GET', `/api/projects/${id}/files`)).json.data.total_dirs).toBe(0)
    })

    test('binary files are 400 to read and can be downloaded, never as a page', async () => {
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

    test('limits are 413, each with its own text', async () => {
      const id = await makeProject()
      expect((await write(id, 'large', 'x'.repeat(300_000 + 10_000))).json).toMatchObject({
        code: 413,
        message: expect.stringContaining('written'),
      })
      await write(id, 'readable', 'x'.repeat(250_000))
      expect((await server.call('GET', file(id, 'readable'))).status).toBe(413)
      for (const name of ['b', 'c', 'd']) await write(id, name, 'x'.repeat(250_000))
      expect((await write(id, 'e', 'x'.repeat(250_000))).json.message).toContain('project')
    })

    test('a file changed by somebody else meanwhile is 409, by version or If-Match', async () => {
      const id = await makeProject()
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

    test('name clashes are 409 and leave the disk as it was', async () => {
      const id = await makeProject()
      await write(id, 'a', '1')
      await write(id, 'dir/b', '1')
      expect((await write(id, 'dir', 'x')).status).toBe(409)
      expect((await write(id, 'a/b', 'x')).status).toBe(409)
      expect(
        (await server.call('PATCH', file(id, 'a'), { body: { new_path: 'dir' } })).status,
      ).toBe(409)
      expect(
        (await server.call('POST', `/api/projects/${id}/directories`, { body: { path: 'dir' } }))
          .status,
      ).toBe(409)
      expect(
        (await server.call('GET', `/api/projects/${id}/checkpoints`)).json.data.items,
      ).toHaveLength(2)
    })

    test('are searched as plain text', async () => {
      const id = await makeProject()
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
        (await search({ query: '(two)', case_sensitive: true, path: 'src' })).json.data
          .total_matches,
      ).toBe(1)
      expect((await search({ query: '' })).status).toBe(400)
    })
  })

  describe('checkpoints', () => {
    test('of every change by a person are listed, compared, restored and undone', async () => {
      const id = await makeProject()
      const base = `/api/projects/${id}/checkpoints`
      await write(id, 'a.txt', 'one\n')
      await write(id, 'a.txt', 'two\n')
      await server.call('DELETE', file(id, 'a.txt'))
      const { items } = (await server.call('GET', base)).json.data
      expect(
        items.map(({ tool, files }: { tool: string; files: unknown }) => [tool, files]),
      ).toEqual([
        ['editor_delete', [{ path: 'a.txt', change: 'deleted' }]],
        ['editor_write', [{ path: 'a.txt', change: 'modified' }]],
        ['editor_write', [{ path: 'a.txt', change: 'added' }]],
      ])
      const diff = await server.call('GET', `${base}/${items[1].id}/diff`)
      expect(diff.json.data.files[0].diff).toContain('-one\n+two\n')
      const now = await server.call('GET', `${base}/${items[1].id}/diff?against=now`)
      expect(now.json.data.files).toEqual([
        { path: 'a.txt', change: 'deleted', diff: expect.stringContaining('-one\n') },
      ])
      const restored = await server.call('POST', `${base}/${items[1].id}/restore`)
      expect(restored.json.data).toMatchObject({ restored: 1, checkpoint: { tool: 'restore' } })
      expect((await server.call('GET', file(id, 'a.txt'))).json.data.content).toBe('one\n')
      await server.call('POST', `${base}/${restored.json.data.checkpoint.id}/restore`)
      expect((await server.call('GET', file(id, 'a.txt'))).status).toBe(404)
      const page = await server.call('GET', `${base}?limit=2`)
      expect(page.json.data).toMatchObject({ has_more: true })
      const next = await server.call(
        'GET',
        `${base}?limit=100&cursor=${page.json.data.next_cursor}`,
      )
      expect(next.json.data.items).toHaveLength(3)
      expect((await server.call('GET', `${base}?cursor=nonsense`)).status).toBe(400)
    })

    test('that do not exist, or of a message that does not, are 404', async () => {
      const id = await makeProject()
      const base = `/api/projects/${id}/checkpoints`
      expect((await server.call('POST', `${base}/nope/restore`)).status).toBe(404)
      expect((await server.call('GET', `${base}/nope/diff`)).status).toBe(404)
      expect(
        (await server.call('POST', `${base}/restore`, { body: { before_message_id: 'nope' } }))
          .status,
      ).toBe(404)
      expect((await server.call('POST', `${base}/restore`, { body: {} })).status).toBe(400)
    })
  })
})
