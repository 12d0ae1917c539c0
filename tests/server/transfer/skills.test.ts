// Skills of users in bundles: they go along to another account as skills of that user, and never replace one.
import { buffer } from 'node:stream/consumers'
import { beforeAll, expect, test } from 'vitest'
import yazl from 'yazl'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'
import { exportBundle, importFile } from '../../support/server/transfers.ts'

const upstream = await useUpstream()

const text = (name: string, body = 'Salt it.') =>
  `---\nname: ${name}\ndescription: Does it.\n---\n${body}\n`
const zipOf = async (files: Record<string, string | Buffer>): Promise<Buffer> => {
  const zip = new yazl.ZipFile()
  for (const [path, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), path)
  zip.end()
  return await buffer(zip.outputStream)
}
const bundleWith = async (files: Record<string, string | Buffer>): Promise<Buffer> =>
  await zipOf({
    'manifest.json': JSON.stringify({
      format: 'nanoclaw',
      version: 2,
      created_at: new Date().toISOString(),
      counts: { conversations: 0, messages: 0, files: 0, projects: 0, documents: 0 },
    }),
    ...files,
  })

describeOnEachServer('skills in bundles', (start) => {
  let server: TestServer
  let ann = ''
  let bob = ''
  beforeAll(async () => {
    server = await start({
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
      models: [{ id: 'scripted', api_url: upstream.url }],
    })
    ann = await register(server, 'ann')
    bob = await register(server, 'bob')
  })
  const upload = async (token: string, bytes: Buffer): Promise<number> => {
    const form = new FormData()
    form.set('file', new Blob([new Uint8Array(bytes)]), 'skill.zip')
    const response = await fetch(`${server.url}/api/skills`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: form,
    })
    return response.status
  }
  const skill = async (token: string, name: string) =>
    (await server.call('GET', `/api/skills/user/${name}`, { token })).json.data
  const file = async (token: string, name: string, path: string) =>
    (await server.call('GET', `/api/skills/user/${name}/file?path=${path}`, { token })).json.data
  const userSkills = async (token: string) =>
    (await server.call('GET', '/api/skills', { token })).json.data.items
      .filter(({ source }: { source: string }) => source === 'user')
      .map(({ name, state }: { name: string; state: string }) => [name, state])

  test('an account takes its skills along with all their files, and they need no consent', async () => {
    const files = { 'SKILL.md': text('cook'), 'references/salt.md': 'Sea salt.' }
    expect(await upload(ann, await zipOf(files))).toBe(200)
    const { bytes, entries } = await exportBundle(server, ann)
    expect(Buffer.from(entries['skills/cook/SKILL.md'] ?? []).toString()).toBe(text('cook'))
    expect(JSON.parse(Buffer.from(entries['manifest.json'] ?? []).toString()).version).toBe(2)
    const { report } = await importFile(server, bob, { name: 'all.zip', content: bytes })
    expect(report).toMatchObject({ skipped: [], skills: 1 })
    expect(await userSkills(bob)).toEqual([['cook', 'active']])
    expect(await skill(bob, 'cook')).toMatchObject({
      source: 'user',
      sha256: (await skill(ann, 'cook')).sha256,
    })
    expect(JSON.stringify(await file(bob, 'cook', 'references/salt.md'))).toContain('Sea salt.')
  })

  test('a skill that the user has stays as it is', async () => {
    const bundle = await bundleWith({ 'skills/cook/SKILL.md': text('cook', 'Sugar it.') })
    const before = (await skill(bob, 'cook')).sha256
    const { report } = await importFile(server, bob, { name: 'all.zip', content: bundle })
    expect(report.skipped).toMatchObject([{ what: 'cook', reason: 'import_already_there' }])
    expect((await skill(bob, 'cook')).sha256).toBe(before)
  })

  test('skills that are no skills are left out with the reason, and the others are taken', async () => {
    const bundle = await bundleWith({
      'skills/fry/SKILL.md': text('fry'),
      'skills/none/README.md': 'Nothing.',
      'skills/other/SKILL.md': text('another'),
      'skills/deep/SKILL.md': text('deep'),
      'skills/deep/a/b/c/d/e/f/g/h.md': 'x',
      'skills/odd/SKILL.md': text('odd'),
      'skills/odd/a\u202eb.md': 'x',
      'skills/large/SKILL.md': text('large'),
      'skills/large/blob': Buffer.alloc(11 * 1024 * 1024),
      'skills/loose.md': 'x',
    })
    const { report } = await importFile(server, bob, { name: 'all.zip', content: bundle })
    const left = report.skipped.map(({ what }: { what: string }) => what).sort()
    expect(left).toEqual(['deep', 'none', 'odd', 'other', 'skills/large'])
    expect(await userSkills(bob)).toEqual([
      ['cook', 'active'],
      ['fry', 'active'],
    ])
  })
})
