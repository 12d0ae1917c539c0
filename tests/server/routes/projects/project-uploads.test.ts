// Uploads of folders and files over real HTTP; every refused upload leaves nothing behind.
import { symlink } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { file, useProjectServer } from './use-project-server.ts'

const server = useProjectServer()
const { everything, createProject, write, upload } = server

describe('an upload', () => {
  test('of 1,000 files becomes a project without the top folder that all files share', async () => {
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
  ])('%s returns 400, for projects, their files and documents', async (_what, type, body) => {
    const project = await createProject()
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
  })

  test('that the client aborts leaves nothing behind', async () => {
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
    // After the files, as forms may order their fields this way too.
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

  test('may be of any kind, replace files of the same name, keep the others, and are undone in one step', async () => {
    const id = await createProject()
    await write(id, 'kept.txt', 'kept')
    await write(id, 'in/old.bin', 'old')
    // One is buffered in memory; the other is streamed to disk and exceeds the limit for text files.
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
  ])('are all refused for %s, and nothing changes', async (_what, files, folder, status, error) => {
    const id = await createProject()
    await write(id, 'file.txt', 'mine')
    for (const name of ['folder/1', 'folder/2']) await write(id, name, 'x'.repeat(290_000))
    await symlink('/etc', join(await server.folderOf(id), 'link'))
    // Contents stored for a checkpoint may remain; they are not visible.
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
  })

  test('return 404 for a project that does not exist', async () => {
    const id = await createProject()
    await server.call('DELETE', `/api/projects/${id}`)
    expect((await add(id, [['a', 'x']])).status).toBe(404)
  })
})
