// Copies of projects, and bundles out and in, also of somebody who means harm.
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import yazl from 'yazl'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import { describeOnEachServer } from '../../../support/server/server.ts'
import { useTwoAccounts } from '../../../support/server/two-accounts.ts'
import { uploadFile } from '../../../support/server/uploads.ts'

const upstream = await useUpstream()

const zipOf = async (files: Record<string, string | Buffer>, mode = 0o100644): Promise<Buffer> => {
  const zip = new yazl.ZipFile()
  for (const [path, content] of Object.entries(files))
    zip.addBuffer(Buffer.from(content), path, { mode })
  zip.end()
  return await buffer(zip.outputStream)
}
const about = (more: object = {}) =>
  JSON.stringify({ format: 'nanoclaw-project', version: 1, name: 'Given', ...more })
const SKILL = '---\nname: cook\ndescription: Cooks.\n---\nSalt it.\n'

describeOnEachServer('bundles of projects', (start) => {
  const accounts = useTwoAccounts(start, {
    models: [{ id: 'scripted', api_url: upstream.url }],
    titles: 'off',
    limits: { import: '2MB', upload_files: 300 },
  })
  const { call } = accounts
  const upload = (bytes: Buffer, token = accounts.ann) =>
    uploadFile(accounts.server.url, 'project.zip', bytes, { token, path: '/api/projects/import' })
  const download = async (id: string, token = accounts.ann) => {
    const response = await fetch(`${accounts.server.url}/api/projects/${id}/bundle`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  const read = async (id: string, path: string, token = accounts.ann) =>
    (await call('GET', `/api/projects/${id}/files/${path}`, undefined, token)).json.data?.content
  const settings = {
    icon: '🍳',
    description: 'Recipes',
    instructions: 'Be brief.',
    uses_memory: false,
    starters: [{ title: 'Dinner', text: 'What shall we cook?' }],
    defaults: { temperature: 0.5 },
    skills_off: ['plan-trip'],
  }
  const make = async (name: string): Promise<string> => {
    const { id } = (await call('POST', '/api/projects', { name })).json.data
    await call('PUT', `/api/projects/${id}`, settings)
    await call('PUT', `/api/projects/${id}/files/src/a.txt`, { content: 'A' })
    await call('PUT', `/api/projects/${id}/files/.agents/skills/cook/SKILL.md`, { content: SKILL })
    return id
  }
  const states = async (id: string, token = accounts.ann) =>
    (await call('GET', `/api/projects/${id}/consent`, undefined, token)).json.data.items

  test('carry settings and files to another account, where skills need consent', async () => {
    const id = await make('Out')
    const bundle = await download(id)
    expect(bundle.status).toBe(200)
    const { status, json } = await upload(bundle.bytes, accounts.bob)
    expect(status).toBe(200)
    expect(json.data).toMatchObject({ name: 'Out', owner: { name: 'bob' }, ...settings })
    expect(await read(json.data.id, 'src/a.txt', accounts.bob)).toBe('A')
    expect(await states(json.data.id, accounts.bob)).toMatchObject([
      { what: 'skill', name: 'cook' },
    ])
    const again = await upload(bundle.bytes, accounts.bob)
    expect(again.json.data.name).toBe('Out (2)')
    expect((await download(id, accounts.bob)).status).toBe(404)
  })

  test('bring neither a model that is not offered, nor an approval mode, nor the image of somebody else', async () => {
    const bundle = await zipOf({
      'project.json': about({
        model: 'missing',
        icon: '01890000-0000-7000-8000-000000000000',
        defaults: { approval: 'auto', temperature: 1 },
      }),
    })
    expect((await upload(bundle)).json.data).toMatchObject({
      model: null,
      icon: null,
      defaults: { temperature: 1 },
    })
  })

  test('are copied with or without files; consent and its name stay with the person', async () => {
    const id = await make('Original')
    const copy = await call('POST', `/api/projects/${id}/copy`, { name: 'Copy' })
    expect(copy.json.data).toMatchObject({ name: 'Copy', ...settings, stats: { files: 2 } })
    expect(await read(copy.json.data.id, 'src/a.txt')).toBe('A')
    expect(await states(copy.json.data.id)).toEqual([])
    const taken = await call('POST', `/api/projects/${id}/copy`, { name: 'Copy' })
    expect(taken).toMatchObject({ status: 409, json: { error: 'name_taken' } })
    const empty = await call('POST', `/api/projects/${id}/copy`, { name: 'Empty', files: false })
    expect(empty.json.data).toMatchObject({ ...settings, stats: { files: 0 } })
    const foreign = await call('POST', `/api/projects/${id}/copy`, { name: 'x' }, accounts.bob)
    expect(foreign.status).toBe(404)
  })

  test('make files that are text from outside, also in a copy of the project', async () => {
    /** Whether reading the file taints a conversation in the project. */
    const taints = async (id: string): Promise<boolean> => {
      const { json } = await call('POST', '/api/conversations', { project_id: id })
      upstream.enqueue(
        turn.toolCalls([{ name: 'file_read', arguments: { path: 'notes.txt' } }]),
        turn.text('Read.'),
      )
      const path = `/api/conversations/${json.data.id}/messages`
      const sent = await call('POST', path, { text: 'Read it.', stream: false })
      expect(JSON.stringify(sent.json.data)).toContain('"file_read"')
      return JSON.stringify(sent.json.data).includes('"untrusted":true')
    }
    const bundle = await zipOf({
      'project.json': about({ name: 'Outside' }),
      'files/notes.txt': 'From a stranger.',
    })
    const { id } = (await upload(bundle)).json.data
    expect(await taints(id)).toBe(true)
    const copy = await call('POST', `/api/projects/${id}/copy`, { name: 'Outside too' })
    expect(await taints(copy.json.data.id)).toBe(true)
    const own = (await call('POST', '/api/projects', { name: 'Own' })).json.data.id
    await call('PUT', `/api/projects/${own}/files/notes.txt`, { content: 'My own.' })
    expect(await taints(own)).toBe(false)
  })

  test('carry long documents line by line, also through a copy and out again', async () => {
    const head = { name: 'Long', mime: 'text/plain', size: 1, created_at: new Date().toISOString() }
    const passages = Array.from({ length: 400 }, (_, at) => ({
      heading: null,
      page: at,
      text: `${at}é `.repeat(200),
    }))
    const lines = `${JSON.stringify(head).slice(0, -1)},"passages":[\n${passages.map((one) => JSON.stringify(one)).join(',\n')}\n]}\n`
    expect(lines.length).toBeGreaterThan(256 * 1024)
    const given = { 'project.json': about({ name: 'Long' }), 'documents/a.json': lines }
    const { id } = (await upload(await zipOf(given))).json.data
    const copy = (await call('POST', `/api/projects/${id}/copy`, { name: 'Long copy' })).json.data
    const again = (await upload((await download(copy.id)).bytes)).json.data
    for (const one of [id, copy.id, again.id]) {
      const { items } = (await call('GET', `/api/projects/${one}/documents`)).json.data
      expect(items).toMatchObject([{ name: 'Long', status: 'ready', passages: 400 }])
    }
    const compact = JSON.stringify({ ...head, passages })
    const page = lines.replace('"page":7,', '"page":-7,')
    for (const text of [compact, page, lines.slice(0, -300)]) {
      const { status } = await upload(await zipOf({ ...given, 'documents/a.json': text }))
      expect(status).toBe(400)
    }
  })

  test('that are hostile or broken are refused, and nothing is kept', async () => {
    const good = about()
    const climbing = Buffer.from(
      (await zipOf({ 'project.json': good, 'files/aa/bb': '1' }))
        .toString('latin1')
        .replaceAll('files/aa/bb', 'files/../../'.slice(0, 11)),
      'latin1',
    )
    /** An archive of which one byte of the stored content of a file was changed. */
    const damaged = async (size: number): Promise<Buffer> => {
      const zip = new yazl.ZipFile()
      zip.addBuffer(Buffer.from(good), 'project.json')
      zip.addBuffer(Buffer.alloc(size, 'x'), 'files/a.txt', { compress: false })
      zip.end()
      const bytes = await buffer(zip.outputStream)
      bytes[bytes.lastIndexOf('xxxx')] = 0x79
      return bytes
    }
    const many = Object.fromEntries(Array.from({ length: 301 }, (_, at) => [`files/f${at}`, '1']))
    const cases: [string, Buffer, string][] = [
      ['no archive', Buffer.from('PK no'), 'project_import_archive_damaged'],
      ['no project.json', await zipOf({ 'files/a': '1' }), 'project_import_entry_missing'],
      [
        'another format',
        await zipOf({ 'project.json': about({ format: 'other' }) }),
        'project_import_field_invalid',
      ],
      [
        'a newer version',
        await zipOf({ 'project.json': about({ version: 2 }) }),
        'project_import_field_invalid',
      ],
      [
        'settings beyond the limits',
        await zipOf({ 'project.json': about({ starters: [{}] }) }),
        'project_import_field_invalid',
      ],
      ['a path out of it', climbing, 'project_import_entry_refused'],
      ['a small damaged file', await damaged(100), 'project_import_archive_damaged'],
      ['a large damaged file', await damaged(1_000_000), 'project_import_archive_damaged'],
      [
        'a link',
        await zipOf({ 'project.json': good, 'files/link': '/etc/passwd' }, 0o120777),
        'project_import_entry_refused',
      ],
      [
        'a name that is refused',
        await zipOf({ 'project.json': good, 'files/a\u202eb': '1' }),
        'path_has_invisible_characters',
      ],
      [
        'a document that is none',
        await zipOf({ 'project.json': good, 'documents/a.json': '[]' }),
        'project_import_entry_invalid',
      ],
      [
        'too many files',
        await zipOf({ 'project.json': good, ...many }),
        'upload_has_too_many_files',
      ],
      [
        'too many bytes',
        await zipOf({ 'project.json': good, 'files/z': Buffer.alloc(3_000_000) }),
        'project_import_unpacked_too_large',
      ],
    ]
    const before = (await call('GET', '/api/projects')).json.data.total
    for (const [what, bytes, reason] of cases) {
      const { status, json } = await upload(bytes)
      expect([400, 413], what).toContain(status)
      expect([what, json.reason]).toEqual([what, reason])
    }
    expect((await call('GET', '/api/projects')).json.data.total).toBe(before)
  })
})
