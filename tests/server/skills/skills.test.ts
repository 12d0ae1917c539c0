// The skills of the server and of users: where they come from, what models and people get of them, and how they are switched off.
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { builtInSkills } from '../../../server/skills/built-in.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer } from '../../support/server/server.ts'
import { useTwoAccounts } from '../../support/server/two-accounts.ts'
import { uploadFile, zipOf } from '../../support/server/uploads.ts'

const upstream = await useUpstream()
const folder = await mkdtemp(join(tmpdir(), 'skills-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const skillText = (name: string, body = 'Do it well.', more = ''): string =>
  `---\nname: ${name}\ndescription: What ${name} does.\n${more}---\n${body}\n`
const writeSkill = async (name: string, text: string): Promise<void> => {
  await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, name, 'SKILL.md'), text)
}
await writeSkill('of-the-house', skillText('of-the-house', 'House rules.'))
const BUILT_IN = (await readdir(builtInSkills())).sort()

/** The same archive with another name of the same length, which no honest program writes. */
const renamed = (zip: Buffer, from: string, to: string): Buffer =>
  Buffer.from(zip.toString('latin1').replaceAll(from, to), 'latin1')

describeOnEachServer('skills', (start) => {
  const accounts = useTwoAccounts(start, {
    models: [{ id: 'scripted', api_url: upstream.url }],
    titles: 'off',
    skills_dir: folder,
  })
  const { call } = accounts
  const list = async (): Promise<{ name: string; source: string; state: string }[]> =>
    (await call('GET', '/api/skills')).json.data.items
  const stateOf = async (name: string) => (await list()).find((one) => one.name === name)?.state
  const upload = async (content: string | Buffer, name = 'skill.zip') => {
    const { status, json } = await uploadFile(accounts.server.url, name, content, {
      token: accounts.ann,
      path: '/api/skills',
    })
    return { status, data: json.data }
  }
  const ask = async (turns: Parameters<typeof upstream.enqueue>, more: object = {}) => {
    const { json } = await call('POST', '/api/conversations', {})
    const before = upstream.requests.length
    upstream.enqueue(...turns)
    const sent = await call('POST', `/api/conversations/${json.data.id}/messages`, {
      text: 'Hello',
      stream: false,
      ...more,
    })
    return { sent, requests: upstream.requests.slice(before) }
  }

  test('of the server are there for everybody: those that come with it, and those of skills_dir', async () => {
    const items = await list()
    expect(BUILT_IN).toEqual([
      'analyse-table',
      'make-app',
      'plan-trip',
      'research',
      'review-text',
      'write-document',
    ])
    for (const name of [...BUILT_IN, 'of-the-house'])
      expect(items.find((one) => one.name === name)).toMatchObject({
        source: 'server',
        state: 'active',
        warnings: [],
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      })
  })

  test.each(BUILT_IN)(
    '%s reaches the model when it is asked for, and no longer when it is switched off',
    async (name) => {
      const { body, model_invocable: isOffered } = (await call('GET', `/api/skills/server/${name}`))
        .json.data
      expect(body.length).toBeGreaterThan(500)
      expect(body.length).toBeLessThan(6_000)
      const chosen = await ask([turn.text('Yes.')], { skills: [name] })
      expect(JSON.stringify(chosen.requests[0]?.messages.at(-1))).toContain(
        JSON.stringify(body).slice(1, -1),
      )
      if (isOffered) {
        const used = await ask([
          turn.toolCalls([{ name: 'use_skill', arguments: { name } }]),
          turn.text('Done.'),
        ])
        expect(used.requests[1]?.messages.at(-1)?.content).toContain(JSON.stringify(body))
      }
      await call('PATCH', '/api/preferences', { skills_off: [name] })
      expect(await stateOf(name)).toBe('off')
      const refused = await ask([], { skills: [name] })
      expect(refused.sent).toMatchObject({ status: 400, json: { details: { name, state: 'off' } } })
      const tools = JSON.stringify((await ask([turn.text('Yes.')])).requests[0]?.body.tools)
      expect(tools).not.toContain(`- ${name}:`)
      await call('PATCH', '/api/preferences', { skills_off: [] })
      expect(await stateOf(name)).toBe('active')
    },
  )

  test('are listed in one tool, sorted by name, which is not there when all are off', async () => {
    const { requests } = await ask([turn.text('Yes.')])
    const tools = requests[0]?.body.tools as {
      function: {
        name: string
        description: string
        parameters: { properties: { name: { enum: string[] } } }
      }
    }[]
    const tool = tools.find((one) => one.function.name === 'use_skill')?.function
    const names = tool?.parameters.properties.name.enum ?? []
    expect(names).toEqual(names.toSorted())
    expect(names).toContain('of-the-house')
    expect(names).not.toContain('research')
    expect(tool?.description).toContain('- of-the-house: What of-the-house does.')
    await call('PATCH', '/api/preferences', { skills_off: [...BUILT_IN, 'of-the-house'] })
    const without = await ask([turn.text('Yes.')])
    expect(JSON.stringify(without.requests[0]?.body.tools)).not.toContain('use_skill')
    await call('PATCH', '/api/preferences', { skills_off: [] })
  })

  test('of skills_dir are read again within 10 s of a change', async () => {
    await writeSkill('late', skillText('late'))
    await expect.poll(() => stateOf('late'), { timeout: 10_000 }).toBe('active')
    await writeSkill('late', 'broken')
    await expect.poll(() => stateOf('late'), { timeout: 10_000 }).toBe('invalid')
    await rm(join(folder, 'late'), { recursive: true })
    await expect.poll(() => stateOf('late'), { timeout: 10_000 }).toBeUndefined()
  })

  test('of a user are written, read, replaced and deleted, and nobody else sees them', async () => {
    const created = await call('POST', '/api/skills', { content: skillText('mine', 'First.') })
    expect(created).toMatchObject({
      status: 200,
      json: { data: { name: 'mine', source: 'user', state: 'active', body: 'First.' } },
    })
    const zip = await zipOf({
      'mine/SKILL.md': skillText('mine', 'Second.'),
      'mine/data/a.txt': 'A',
      'mine/b.bin': Buffer.from([0, 1]),
    })
    expect((await upload(zip, 'mine.skill')).data).toMatchObject({
      body: 'Second.',
      files: [{ path: 'SKILL.md' }, { path: 'b.bin', size: 2 }, { path: 'data/a.txt', size: 1 }],
    })
    const file = (path: string) => call('GET', `/api/skills/user/mine/file?path=${path}`)
    expect((await file('data/a.txt')).json.data).toEqual({ path: 'data/a.txt', content: 'A' })
    expect((await file('b.bin')).status).toBe(400)
    expect((await file('../SKILL.md')).status).toBe(404)
    const put = await call('PUT', '/api/skills/user/mine', { content: skillText('mine', 'Third.') })
    expect(put.json.data).toMatchObject({ body: 'Third.', files: [{}, {}, {}] })
    const other = await call('PUT', '/api/skills/user/mine', { content: skillText('other') })
    expect(other).toMatchObject({ status: 400, json: { error: 'skill_invalid' } })
    const { requests } = await ask([
      turn.toolCalls([{ name: 'use_skill', arguments: { name: 'mine', file: 'data/a.txt' } }]),
      turn.text('Done.'),
    ])
    expect(requests[1]?.messages.at(-1)?.content).toContain('"content":"A"')
    const foreign = await call('GET', '/api/skills/user/mine', undefined, accounts.bob)
    expect(foreign.status).toBe(404)
    expect((await call('DELETE', '/api/skills/user/mine')).status).toBe(200)
    expect((await call('DELETE', '/api/skills/user/mine')).status).toBe(404)
    expect(await stateOf('mine')).toBeUndefined()
  })

  test('of a user come before those of the server', async () => {
    await call('POST', '/api/skills', { content: skillText('of-the-house', 'My rules.') })
    expect((await list()).filter(({ name }) => name === 'of-the-house')).toMatchObject([
      { source: 'user', state: 'active' },
      { source: 'server', state: 'hidden' },
    ])
    await call('DELETE', '/api/skills/user/of-the-house')
  })

  test('say who may use them', async () => {
    await call('POST', '/api/skills', {
      content: skillText('for-people', 'x', 'disable-model-invocation: true\n'),
    })
    await call('POST', '/api/skills', {
      content: skillText('for-models', 'x', 'user-invocable: false\n'),
    })
    const tools = JSON.stringify((await ask([turn.text('Yes.')])).requests[0]?.body.tools)
    expect(tools).not.toContain('for-people')
    expect(tools).toContain('for-models')
    const commands = (await call('GET', '/api/commands')).json.data.items
    expect(commands).toContainEqual({
      name: 'for-people',
      kind: 'skill',
      title: 'for-people',
      description: 'What for-people does.',
      fields: [],
    })
    expect(JSON.stringify(commands)).not.toContain('for-models')
    expect((await ask([], { skills: ['for-models'] })).sent.status).toBe(400)
    for (const name of ['for-people', 'for-models'])
      await call('DELETE', `/api/skills/user/${name}`)
  })

  test('commands have the saved prompts with their fields', async () => {
    await call('PATCH', '/api/preferences', {
      saved_prompts: [{ name: 'Greet', text: 'Hello {{who}}' }],
    })
    expect((await call('GET', '/api/commands')).json.data.items).toContainEqual({
      name: 'Greet',
      kind: 'prompt',
      title: 'Greet',
      description: 'Hello {{who}}',
      fields: ['who'],
    })
  })

  test('with instructions of 150 KB reach the model whole', async () => {
    const body = `BEGIN ${'word '.repeat(30_000)}END`
    await call('POST', '/api/skills', { content: skillText('long', body) })
    const { requests } = await ask([
      turn.toolCalls([{ name: 'use_skill', arguments: { name: 'long' } }]),
      turn.text('Done.'),
    ])
    expect(requests[1]?.messages.at(-1)?.content).toContain(body)
    await call('DELETE', '/api/skills/user/long')
  })

  test('that are hostile, broken or too large are refused, and nothing is stored', async () => {
    const good = skillText('evil')
    const climbing = renamed(
      await zipOf({ 'SKILL.md': good, 'aa/aa/x': '1' }),
      'aa/aa/x',
      '../../x',
    )
    const bomb = await zipOf({ 'SKILL.md': good, zeros: Buffer.alloc(11 * 1024 * 1024) })
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`f${at}`, '']))
    const cases: [string, string | Buffer, number][] = [
      ['no front matter', '# Evil', 400],
      ['no SKILL.md', await zipOf({ 'a/b': '1' }), 400],
      [
        'two folders',
        await zipOf({ 'a/SKILL.md': skillText('a'), 'b/SKILL.md': skillText('b') }),
        400,
      ],
      ['a file beside its folder', await zipOf({ 'evil/SKILL.md': good, evilx: '1' }), 400],
      ['another folder', await zipOf({ 'other/SKILL.md': good }), 400],
      ['a path out of it', climbing, 400],
      ['a link', await zipOf({ 'SKILL.md': good, link: '/etc/passwd' }, 0o120777), 400],
      ['too deep', await zipOf({ 'SKILL.md': good, 'a/b/c/d/e/f/g/h': '1' }), 400],
      ['a damaged archive', (await zipOf({ 'SKILL.md': good })).subarray(0, 60), 400],
      ['too many bytes', bomb, 413],
      ['too many files', await zipOf({ 'SKILL.md': good, ...many }), 413],
      ['a long SKILL.md', skillText('evil', 'x'.repeat(201 * 1024)), 413],
    ]
    for (const [what, content, status] of cases)
      expect((await upload(content)).status, what).toBe(status)
    const content = skillText('evil', 'x'.repeat(201 * 1024))
    for (const [method, path] of [
      ['POST', '/api/skills'],
      ['PUT', '/api/skills/user/evil'],
    ] as const)
      expect(await call(method, path, { content }), path).toMatchObject({
        status: 413,
        json: { reason: 'skill_too_large' },
      })
    expect(await stateOf('evil')).toBeUndefined()
  })
})
