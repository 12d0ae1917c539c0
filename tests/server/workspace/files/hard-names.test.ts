// Irregular files and look-alike names on a real disk: through the routes, through the tools, and restored again.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ScriptedCall, turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import { openEvents } from '../../../support/server/events.ts'
import { type TestServer, useServers } from '../../../support/server/server.ts'

const upstream = await useUpstream()

/** Whether this file system distinguishes names by case and by Unicode normalization form. */
const isCaseSensitive = !existsSync(import.meta.filename.toUpperCase())

describe('on a real disk', () => {
  const servers = useServers()
  let root: string
  let server: TestServer
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'hard-names-'))
    server = await servers.start({
      config: {
        workspace_root: root,
        models: [{ id: 'scripted', api_url: upstream.url }],
        titles: 'off',
      },
    })
  })
  afterAll(async () => {
    await rm(root, { recursive: true, force: true })
  })

  const makeProject = async (name: string): Promise<{ id: string; folder: string }> => {
    const { json } = await server.call('POST', '/api/projects', { body: { name } })
    const id: string = json.data.id
    await server.call('PUT', file(id, 'plain.txt'), { body: { content: 'plain' } })
    const [user = ''] = (await readdir(root)).filter((entry) => !entry.startsWith('.'))
    return { id, folder: join(root, user, id) }
  }
  const file = (id: string, path: string): string =>
    `/api/projects/${id}/files/${path.split('/').map(encodeURIComponent).join('/')}`
  const contentOf = async (id: string, path: string): Promise<string | undefined> =>
    (await server.call('GET', file(id, path))).json.data?.content
  /** The results of these tool calls, made in one iteration. */
  const ask = async (projectId: string, calls: ScriptedCall[]) => {
    upstream.enqueue(turn.toolCalls(calls), turn.text('Done.'))
    const { json } = await server.call('POST', '/api/conversations', {
      body: { project_id: projectId, approval: 'auto' },
    })
    const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Go', stream_mode: 'delta' },
    })
    const results = (await stream.all()).filter(({ data }) => data.type === 'tool_result')
    expect(results).toHaveLength(calls.length)
    return results.map(({ data }) => JSON.parse(data.content))
  }

  describe.skipIf(process.platform === 'win32')('special files', () => {
    const kinds: Record<string, (path: string) => Promise<void>> = {
      'a pipe': async (path) => void execFileSync('mkfifo', [path]),
      'a socket': async (path) => {
        const listener = createServer()
        const short = join(root, 's')
        await new Promise<void>((resolve) => listener.listen(short, resolve))
        await rename(short, path)
        await new Promise((resolve) => listener.close(resolve))
      },
      // An endless device (/dev/zero), if the test may create one.
      'a device': async (path) => void execFileSync('mknod', [path, 'c', '1', '5']),
    }

    test.each(Object.keys(kinds))(
      '%s is never opened, neither by a route nor by a tool',
      async (kind) => {
        const { id, folder } = await makeProject(kind)
        try {
          await kinds[kind]?.(join(folder, 'odd'))
        } catch {
          // Creating devices requires privileges that tests seldom have.
          return
        }
        const body = { content: 'x' }
        expect((await server.call('GET', file(id, 'odd'))).status).toBe(400)
        expect((await server.call('GET', `${file(id, 'odd')}?raw=1`)).status).toBe(400)
        expect((await server.call('PUT', file(id, 'odd'), { body })).status).toBe(400)
        expect((await server.call('PUT', file(id, 'odd/x'), { body })).status).toBe(409)
        const search = { body: { query: 'plain' } }
        const found = await server.call('POST', `/api/projects/${id}/search`, search)
        expect(found.json.data.total_matches).toBe(1)
        const answers = await ask(id, [
          { name: 'file_read', arguments: { path: 'odd' } },
          { name: 'file_write', arguments: { path: 'odd', content: 'x' } },
          { name: 'file_edit', arguments: { path: 'odd', old: 'a', new: 'b' } },
          { name: 'file_grep', arguments: { pattern: 'x', path: 'odd' } },
          { name: 'file_exists', arguments: { path: 'odd' } },
        ])
        expect(answers.map(({ success }) => success)).toEqual([
          false,
          false,
          false,
          expect.any(Boolean),
          true,
        ])
        expect(answers[3].data?.matches ?? []).toEqual([])
        expect(answers[4].data.type).toBe('other')
        expect((await server.call('DELETE', file(id, 'odd'))).status).toBe(200)
        expect(await readdir(folder)).toEqual(['plain.txt'])
      },
    )
  })

  test.skipIf(!isCaseSensitive)(
    'names that look alike stay separate files, also in the history',
    async () => {
      const names = [
        'README.md',
        'readme.md',
        // The same word in composed and decomposed form, and pairs that are equal after case folding or normalization.
        'caf\u00e9.txt',
        'cafe\u0301.txt',
        'stra\u00dfe',
        'STRASSE',
        '\u0130',
        'i\u0307',
        '\u212b',
        '\u00c5',
        'file\u200d.txt',
        'file.txt',
      ]
      const form = new FormData()
      form.set('name', 'Alike')
      for (const name of names) form.append('files[]', new Blob([name]), `top/${name}`)
      const uploaded = await fetch(`${server.url}/api/projects/upload`, {
        method: 'POST',
        body: form,
      })
      expect(uploaded.status).toBe(200)
      const { data } = (await uploaded.json()) as { data: { id: string } }
      const listed = (await server.call('GET', `/api/projects/${data.id}/files`)).json.data.files
      expect(listed.map(({ name }: { name: string }) => name).sort()).toEqual([...names].sort())
      for (const name of names) expect(await contentOf(data.id, name)).toBe(name)

      const answers = await ask(
        data.id,
        names.map((path) => ({
          name: 'file_edit',
          arguments: { path, old: path, new: `${path} edited` },
        })),
      )
      expect(answers.filter(({ success }) => !success)).toEqual([])
      for (const name of names) expect(await contentOf(data.id, name)).toBe(`${name} edited`)
      const base = `/api/projects/${data.id}/checkpoints`
      const { items } = (await server.call('GET', base)).json.data
      await server.call('POST', `${base}/${items.at(-1).id}/restore`)
      for (const name of names) expect(await contentOf(data.id, name)).toBe(name)
    },
  )

  test('a rename may change only the case of a name, but never overwrites another file', async () => {
    const { id, folder } = await makeProject('Case')
    const move = (from: string, to: string) =>
      server.call('PATCH', file(id, from), { body: { new_path: to } })
    expect((await move('plain.txt', 'Plain.txt')).status).toBe(200)
    expect(await readdir(folder)).toEqual(['Plain.txt'])
    await writeFile(join(folder, 'other.txt'), 'other')
    expect((await move('Plain.txt', 'other.txt')).status).toBe(409)
    expect(await contentOf(id, 'other.txt')).toBe('other')
  })

  test.each([
    ['of 256 bytes', 'x'.repeat(256)],
    ['of 128 letters that take 256 bytes', '\u00e9'.repeat(128)],
    ['33 folders deep', `${'d/'.repeat(33)}x`],
    ['with an override of the direction', 'a\u202egnp.exe'],
    ['with half a character', 'a\ud800b'],
  ])('a name %s is refused by every tool and leaves nothing', async (_what, path) => {
    const { id, folder } = await makeProject(`Refused ${_what}`)
    const answers = await ask(id, [
      { name: 'file_read', arguments: { path } },
      { name: 'file_write', arguments: { path, content: 'x' } },
      { name: 'file_mkdir', arguments: { path } },
      { name: 'file_delete', arguments: { path } },
      { name: 'file_list', arguments: { path } },
    ])
    for (const { success, error } of answers)
      expect({ success, error }).toMatchObject({
        success: false,
        error: expect.stringContaining('Invalid path'),
      })
    expect(await readdir(folder)).toEqual(['plain.txt'])
  })

  test('the longest name that a disk allows works everywhere', async () => {
    const { id } = await makeProject('Longest')
    const path = `${'d'.repeat(255)}/${'f'.repeat(255)}`
    const [written, read] = [
      await ask(id, [{ name: 'file_write', arguments: { path, content: 'far' } }]),
      await ask(id, [{ name: 'file_read', arguments: { path } }]),
    ]
    expect([written[0].success, read[0].data.content]).toEqual([true, 'far'])
    expect((await server.call('DELETE', file(id, path))).status).toBe(200)
  })
})
