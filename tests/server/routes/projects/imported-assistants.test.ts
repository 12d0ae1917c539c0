// Assistants of other programs that become projects: what they bring, what the report says, and files that mean harm.
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import yazl from 'yazl'
import { cardChunk, pictureWith } from '../../../support/character-cards.ts'
import { turn } from '../../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../../support/provider/use-upstream.ts'
import { describeOnEachServer } from '../../../support/server/server.ts'
import { useTwoAccounts } from '../../../support/server/two-accounts.ts'
import { uploadFile } from '../../../support/server/uploads.ts'

const upstream = await useUpstream()

const zipOf = async (files: Record<string, string | Buffer>): Promise<Buffer> => {
  const zip = new yazl.ZipFile()
  for (const [path, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), path)
  zip.end()
  return await buffer(zip.outputStream)
}
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

const AGENT = {
  id: 'agent_x1',
  name: 'Reviewer',
  description: 'Reviews code',
  instructions: 'Be strict, {{current_user}}.',
  provider: 'openAI',
  model: 'scripted',
  model_parameters: { temperature: 0.2, max_output_tokens: 900, top_p: 0.5, resendFiles: true },
  conversation_starters: ['Review my last commit', 'Explain this error'],
  tools: ['execute_code', 'search_mcp_github', 'file_search'],
  tool_resources: { file_search: { file_ids: ['f1', 'f2'] } },
  agent_ids: ['agent_x2'],
  avatar: { filepath: '/images/x.png', source: 'local' },
}
const MODEL = {
  id: 'cook',
  name: 'Cook',
  base_model_id: 'llama3:8b',
  user_id: 'u',
  is_active: true,
  params: { system: 'You cook.', temperature: 3, num_ctx: 8192 },
  meta: {
    description: 'Recipes',
    profile_image_url: `data:image/png;base64,${pictureWith([]).toString('base64')}`,
    suggestion_prompts: [{ title: ['Dinner', 'for two'], content: 'What shall we cook?' }],
    knowledge: [{ id: 'k', name: 'Grandma' }],
    toolIds: ['web'],
    capabilities: { vision: true },
  },
}
const CARD = {
  spec: 'chara_card_v2',
  spec_version: '2.0',
  data: {
    name: 'Alma',
    description: '{{char}} is a librarian. <USER> visits.',
    personality: 'kind',
    scenario: 'A library',
    first_mes: 'Hello {{user}}!',
    mes_example: '<START>\n{{user}}: Hi\n{{char}}: Hush.',
    creator_notes: 'Best at night.',
    system_prompt: '{{original}} Stay in character.',
    post_history_instructions: 'Never shout.',
    alternate_greetings: ['Good evening.', 'Who is there?'],
    tags: ['books'],
    extensions: {},
    character_book: {
      entries: [
        { keys: ['cellar'], content: 'The cellar is locked by {{char}}.', enabled: true },
        { keys: ['gone'], content: 'Never.', enabled: false },
      ],
    },
  },
}

describeOnEachServer('assistants of other programs', (start) => {
  const accounts = useTwoAccounts(start, {
    models: [{ id: 'scripted', api_url: upstream.url }],
    titles: 'off',
    limits: { import: '40MB' },
  })
  const { call } = accounts
  const upload = (bytes: Buffer, token = accounts.ann) =>
    uploadFile(accounts.server.url, 'assistant', bytes, { token, path: '/api/projects/import' })
  const note = (part: string, outcome: string, reason?: string, detail?: string) =>
    expect.objectContaining({
      part,
      outcome,
      ...(reason === undefined ? {} : { reason }),
      ...(detail === undefined ? {} : { detail }),
    })

  test('an agent of LibreChat becomes a project, and the report names what has no place in it', async () => {
    const { status, json: answer } = await upload(json(AGENT))
    expect(status).toBe(200)
    expect(answer.data).toMatchObject({
      name: 'Reviewer',
      description: 'Reviews code',
      instructions: AGENT.instructions,
      model: 'scripted',
      icon: null,
      defaults: { temperature: 0.2, max_tokens: 900 },
      starters: AGENT.conversation_starters.map((text) => ({ title: text, text })),
      report: { format: 'librechat', skipped: 0 },
    })
    expect(answer.data.report.projects).toMatchObject([{ id: answer.data.id, name: 'Reviewer' }])
    const { notes } = answer.data.report.projects[0]
    for (const expected of [
      note('instructions', 'taken'),
      note('placeholders', 'changed', 'not_filled_in', '{{current_user}}'),
      note('model', 'taken', undefined, 'scripted'),
      note('parameters', 'left_out', 'no_counterpart', 'top_p, resendFiles'),
      note('tools', 'left_out', 'no_counterpart', 'execute_code, search, file_search'),
      note('knowledge', 'left_out', 'not_in_file', '2'),
      note('sub_agents', 'left_out', 'no_counterpart', '1'),
      note('icon', 'left_out', 'not_in_file'),
    ])
      expect(notes).toContainEqual(expected)
  })

  test('the models of an export of Open WebUI become a project each, without those that have no instructions', async () => {
    const listed = { id: 'gpt', name: 'GPT', object: 'model', owned_by: 'openai' }
    const wrapped = {
      ...listed,
      id: 'poet',
      name: 'Poet',
      info: { base_model_id: 'scripted', params: { system: 'Rhyme.' }, meta: {} },
    }
    const { status, json: answer } = await upload(json([MODEL, listed, wrapped]))
    expect(status).toBe(200)
    const { report } = answer.data
    expect(report).toMatchObject({
      format: 'open_webui',
      skipped: 1,
      projects: [{ name: 'Cook' }, { name: 'Poet' }],
    })
    expect(answer.data).toMatchObject({
      instructions: 'You cook.',
      model: null,
      defaults: {},
      starters: [{ title: 'Dinner for two', text: 'What shall we cook?' }],
    })
    const { notes } = report.projects[0]
    for (const expected of [
      note('icon', 'taken'),
      note('model', 'left_out', 'not_offered', 'llama3:8b'),
      note('temperature', 'left_out', 'beyond_limits', '3'),
      note('parameters', 'left_out', 'no_counterpart', 'num_ctx'),
      note('knowledge', 'left_out', 'not_in_file', 'Grandma'),
      note('tools', 'left_out', 'no_counterpart', 'web'),
    ])
      expect(notes).toContainEqual(expected)
    const second = await call('GET', `/api/projects/${report.projects[1].id}`)
    expect(second.json.data).toMatchObject({ instructions: 'Rhyme.', model: 'scripted' })
    const image = await fetch(`${accounts.server.url}/api/files/${answer.data.icon}`, {
      headers: { authorization: `Bearer ${accounts.ann}` },
    })
    expect(image.headers.get('content-type')).toBe('image/png')
    expect((await image.arrayBuffer()).byteLength).toBeGreaterThan(0)
  })

  test('a character card becomes a project with its picture, and its lorebook a searchable file', async () => {
    const older = { ...CARD, data: { ...CARD.data, name: 'Old Alma' } }
    const newer = { ...CARD, spec: 'chara_card_v3', spec_version: '3.0' }
    const picture = pictureWith([cardChunk('ccv3', newer), cardChunk('chara', older)])
    const { status, json: answer } = await upload(picture)
    expect(status).toBe(200)
    expect(answer.data).toMatchObject({ name: 'Alma', description: 'Best at night.' })
    expect(answer.data.report.format).toBe('character_card')
    expect(answer.data.icon).toMatch(/^[\w-]{8,}$/)
    expect(answer.data.instructions).toBe(
      [
        'Stay in character.',
        'Alma is a librarian. the user visits.',
        '# Personality\n\nkind',
        '# Scenario\n\nA library',
        '# Examples of dialogue\n\n---\nthe user: Hi\nAlma: Hush.',
        '# How you begin the conversation\n\nHello the user!',
        'Never shout.',
      ].join('\n\n'),
    )
    const { notes } = answer.data.report.projects[0]
    expect(notes).toContainEqual(note('greeting', 'changed', 'in_instructions'))
    expect(notes).toContainEqual(note('greetings', 'left_out', 'no_counterpart', '2'))
    expect(notes).toContainEqual(note('lorebook', 'changed', 'in_file', 'lorebook.md'))
    const file = await call('GET', `/api/projects/${answer.data.id}/files/lorebook.md`)
    expect(file.json.data.content).toBe('## cellar\n\nThe cellar is locked by Alma.\n')
    const documents = await call('GET', `/api/projects/${answer.data.id}/documents`)
    expect(documents.json.data.items).toMatchObject([
      { path: 'lorebook.md', status: 'ready', passages: 1 },
    ])
  })

  test('a card of version 1 and one in an archive are read, too', async () => {
    const { name, description, personality, scenario, first_mes, mes_example } = CARD.data
    const first = await upload(
      json({ name, description, personality, scenario, first_mes, mes_example }),
    )
    expect(first.json.data).toMatchObject({
      name: expect.stringMatching(/^Alma( \(2\))?$/),
      icon: null,
    })
    const card = {
      ...CARD,
      spec: 'chara_card_v3',
      data: {
        ...CARD.data,
        name: 'Archived',
        assets: [{ type: 'icon', name: 'main', uri: 'embeded://assets/icon/main.png', ext: 'png' }],
      },
    }
    const files = { 'card.json': JSON.stringify(card), 'assets/icon/main.png': pictureWith([]) }
    const second = await upload(await zipOf(files))
    expect(second.json.data).toMatchObject({
      name: 'Archived',
      icon: expect.stringMatching(/^[\w-]{8,}$/),
    })
  })

  test('a name that is taken gets a number, and instructions that are too long are whole in a file', async () => {
    const instructions = 'x'.repeat(25_000)
    const one = { ...AGENT, name: 'Twice', instructions }
    const { json: answer } = await upload(json([one, one]))
    expect(answer.data.report.projects.map(({ name }: { name: string }) => name)).toEqual([
      'Twice',
      'Twice (2)',
    ])
    expect(answer.data.instructions).toHaveLength(20_000)
    const { notes } = answer.data.report.projects[1]
    expect(notes).toContainEqual(note('name', 'changed', 'name_taken', 'Twice (2)'))
    expect(notes).toContainEqual(
      note('instructions', 'changed', 'whole_in_file', 'instructions.md'),
    )
    const file = await call('GET', `/api/projects/${answer.data.id}/files/instructions.md`)
    expect(file.json.data.content).toBe(instructions)
  })

  test('names of prototypes, wrong kinds of fields and broken text do no harm', async () => {
    const text = JSON.stringify({
      ...AGENT,
      name: 'constructor\u0000\u202e\ud800',
      description: { toString: 1 },
      instructions: 'Fine.\u0000\u200b',
      model_parameters: 7,
      conversation_starters: ['__proto__', { text: 'no' }, null, ''],
      tools: { length: 3 },
    }).replace(
      '"id":',
      '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":1}},"id":',
    )
    const { status, json: answer } = await upload(Buffer.from(text))
    expect(status).toBe(200)
    expect(answer.data).toMatchObject({
      name: expect.stringMatching(/^constructor/),
      description: null,
      starters: [{ title: '__proto__', text: '__proto__' }],
    })
    expect(answer.data.name).not.toMatch(/[\0\u202e]/)
    expect(answer.data.report.projects[0].notes).toContainEqual(
      note('instructions', 'taken', 'hidden_characters'),
    )
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  test('files that mean harm or hold no assistant are refused, and nothing is kept', async () => {
    const cut = pictureWith([cardChunk('chara', CARD)])
    const huge = Buffer.from(cut)
    // The length of the card's chunk is beyond the file.
    huge.writeUInt32BE(0x7fffffff, 33)
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    const cases: [string, Buffer][] = [
      ['no file of anything', Buffer.from('hello')],
      ['an empty file', Buffer.alloc(0)],
      ['binary data', Buffer.from([0xff, 0xfe, 0, 1, 2])],
      ['damaged JSON', Buffer.from('{"id":')],
      ['a number', json(7)],
      ['an empty list', json([])],
      ['JSON of something else', json({ name: 'x', version: 1 })],
      ['models without instructions', json([{ id: 'a', name: 'A', object: 'model' }])],
      ['a hundred thousand levels', Buffer.from(deep)],
      ['more than a hundred', json(Array.from({ length: 101 }, () => AGENT))],
      ['40 MB of JSON', Buffer.from(`[${'1,'.repeat(17_000_000)}1]`)],
      ['a picture without a card', pictureWith([])],
      [
        'a picture with a card that is no JSON',
        pictureWith([cardChunk('chara', CARD).fill(0x2b, 20, 60)]),
      ],
      ['a picture with a chunk beyond its end', huge],
      ['a picture that ends in its card', cut.subarray(0, 200)],
      ['a picture of a thousand million pixels', pictureWith([cardChunk('chara', CARD)], 40_000)],
      [
        'a picture of ten thousand empty chunks and more',
        pictureWith(
          Array.from({ length: 25_000 }, () =>
            Buffer.from('00000000744558740000000000', 'hex').subarray(0, 12),
          ),
        ),
      ],
      ['an archive with a card that is none', await zipOf({ 'card.json': '{}' })],
      ['an archive with damaged JSON', await zipOf({ 'card.json': '{' })],
      [
        'an archive that unpacks to more than is allowed',
        await zipOf({ 'card.json': Buffer.alloc(45_000_000, ' ') }),
      ],
    ]
    const before = (await call('GET', '/api/projects')).json.data.total
    const quota = (await call('GET', '/api/quota')).json.data
    const reasons: Record<string, string> = {}
    for (const [what, bytes] of cases) {
      const { status, json: answer } = await upload(bytes)
      reasons[what] = answer.reason
      expect([400, 413, 415], `${what}: ${JSON.stringify(answer)}`).toContain(status)
    }
    const of = (reason: string, ...kinds: string[]) =>
      Object.fromEntries(kinds.map((kind) => [kind, `project_import_${reason}`]))
    expect(reasons).toEqual({
      ...of('unknown', 'no file of anything', 'an empty file', 'binary data', 'a number'),
      ...of('unknown', 'an empty list', 'JSON of something else', 'a hundred thousand levels'),
      ...of('unknown', 'a picture without a card', 'a picture with a card that is no JSON'),
      ...of('unknown', 'an archive with a card that is none'),
      ...of('json_damaged', 'damaged JSON', 'an archive with damaged JSON'),
      ...of('picture_damaged', 'a picture with a chunk beyond its end'),
      ...of('picture_damaged', 'a picture that ends in its card'),
      ...of('picture_damaged', 'a picture of ten thousand empty chunks and more'),
      ...of('empty', 'models without instructions'),
      ...of('too_many', 'more than a hundred'),
      ...of('too_large', '40 MB of JSON'),
      ...of('entry_refused', 'an archive that unpacks to more than is allowed'),
      'a picture of a thousand million pixels': 'image_unreadable',
    })
    expect((await call('GET', '/api/projects')).json.data.total).toBe(before)
    expect((await call('GET', '/api/quota')).json.data).toEqual(quota)
  })

  test('what a card brings is text from outside: a conversation that reads it is marked', async () => {
    const { json: answer } = await upload(pictureWith([cardChunk('chara', CARD)]), accounts.bob)
    const other = await call('GET', `/api/projects/${answer.data.id}`)
    expect(other.status).toBe(404)
    const { json: made } = await call(
      'POST',
      '/api/conversations',
      { project_id: answer.data.id },
      accounts.bob,
    )
    upstream.enqueue(
      turn.toolCalls([{ name: 'file_read', arguments: { path: 'lorebook.md' } }]),
      turn.text('Read.'),
    )
    const path = `/api/conversations/${made.data.id}/messages`
    const sent = await call('POST', path, { text: 'Read it.', stream: false }, accounts.bob)
    expect(JSON.stringify(sent.json.data)).toContain('"untrusted":true')
  })
})
