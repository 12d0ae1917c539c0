// Shapes of exports seen in the field (public bug reports; the content is invented), and damaged or hostile files, read without a server.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { strToU8, zipSync } from 'fflate'
import { afterAll, describe, expect, test } from 'vitest'
import { SqliteClient } from '../../../server/lib/sqlite-driver.ts'
import { openArchive } from '../../../server/transfer/archive.ts'
import { readChatGpt } from '../../../server/transfer/formats/chatgpt.ts'
import { readClaude } from '../../../server/transfer/formats/claude.ts'
import { readLibreChat } from '../../../server/transfer/formats/librechat.ts'
import { readOpenWebUi } from '../../../server/transfer/formats/open-webui.ts'
import { openPython } from '../../../server/transfer/formats/python.ts'
import { chatGpt, node, said } from '../../support/chatgpt-exports.ts'

const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-shapes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a ChatGPT answer', () => {
  const answered = (text: string, metadata: object = {}) => {
    const draft = readChatGpt(
      chatGpt('c', [node('a', 'root', 'assistant', said(text), { metadata })], 'a'),
      () => null,
    )
    return draft.nodes.at(-1)?.steps
  }

  // daugaard47/ChatGPT_Conversations_To_Markdown#8, pionxzh/chatgpt-exporter#276
  test('keeps the words of entities and the links of its sources', () => {
    const cite = '\ue200cite\ue202turn0search3\ue201'
    const text = `Ask \ue200entity\ue202["people","Mira Example",0]\ue201 of \ue200entity\ue202["company","Example Motors","car maker"]\ue201.${cite} See \ue200url\ue202Example site\ue202https://example.com/page\ue201.`
    const reference = { matched_text: cite, type: 'grouped_webpages' }
    const items = [{ title: 'Annual [report]', url: 'https://example.com/report' }]
    expect(
      answered(text, {
        content_references: [
          { ...reference, alt: '([Example](https://example.com/report))', items },
        ],
      }),
    ).toEqual([
      {
        type: 'text',
        content:
          'Ask Mira Example of Example Motors.([Example](https://example.com/report)) See [Example site](https://example.com/page).',
      },
    ])
    expect(
      answered(`Grew.${cite}`, { content_references: [{ ...reference, alt: null, items }] }),
    ).toEqual([{ type: 'text', content: 'Grew.([Annual report](https://example.com/report))' }])
  })

  test('of an earlier year has the links of its sources, and no marks', () => {
    const page = { title: 'Report', url: 'https://example.com/report' }
    const content_references = [
      { matched_text: '【12†source】', type: 'webpage', alt: null, ...page },
    ]
    expect(
      answered('It grew【12†source】, \ue203much\ue204\ue206【4:0†report.pdf】. 【Note】', {
        content_references,
      }),
    ).toEqual([
      { type: 'text', content: 'It grew([Report](https://example.com/report)), much. 【Note】' },
    ])
  })

  test('without the content of a mark of an unknown kind is imported, and the kind is named', () => {
    const mark = (kind: string) => `\ue200${kind}\ue202turn0search3\ue201`
    const text = ['image_group', 'forecast', 'cite', 'image_group'].map(mark).join(' and ')
    const alt = { matched_text: mark('forecast'), alt: 'Sunny' }
    const read = (metadata: object) =>
      readChatGpt(
        chatGpt('c', [node('a', 'root', 'assistant', said(text), { metadata })], 'a'),
        () => null,
      ).skipped
    const failure = expect.objectContaining({
      reason: 'import_marks_unknown',
      params: { conversation: 'Chat c' },
    })
    expect(read({})).toEqual([{ what: 'image_group, forecast', failure }])
    // The export says what this one shows.
    expect(read({ content_references: [alt] })).toEqual([{ what: 'image_group', failure }])
  })

  test('with hundreds of thousands of marks that never end is read at once', () => {
    const text = '\ue200'.repeat(1_000_000)
    expect(answered(text)).toEqual([{ type: 'text', content: text }])
  })

  test('loses marks that the export does not explain, and links that are none', () => {
    expect(
      answered('Blue\ue200cite\ue202turn0\ue201. \ue200url\ue202Click\ue202javascript:x\ue201'),
    ).toEqual([{ type: 'text', content: 'Blue. Click' }])
  })
})

test.each([
  ['tags that never end', '<details type="reasoning"'.repeat(100_000)],
  ['elements that never end', '<details type="reasoning">'.repeat(200_000)],
])('an answer of Open WebUI with very many %s is read at once, as text', (_what, content) => {
  expect(answerOf(content)).toEqual([{ type: 'text', content }])
})

test('a tag of Open WebUI with a very long word among its attributes is read at once', () => {
  const tag = `<details type="tool_calls" ${'a'.repeat(500_000)} id="call_1" name="get_weather">`
  expect(answerOf(`${tag}</details>`)).toMatchObject([
    { type: 'tool_call', callId: 'call_1', name: 'get_weather' },
  ])
})

/** The steps of an answer that has only text. */
function answerOf(content: string) {
  const messages = { a: { id: 'a', parentId: null, role: 'assistant', content } }
  const history = { currentId: 'a', messages }
  return readOpenWebUi({ id: 'o', title: 'OW', chat: { models: [], history } }).nodes[0]?.steps
}

// Chang-Tong/dsh-import-agents#6, open-webui/open-webui#15846, Fu-Jie/openwebui-extensions#84
test('an Open WebUI chat of 2025 has calls with their results, code that was run, and files with their text', () => {
  const escaped = (value: unknown): string =>
    JSON.stringify(JSON.stringify(value)).replaceAll('"', '&quot;')
  const call = `<details type="tool_calls" done="true" id="call_1" name="get_weather" arguments="${escaped({ city: 'Oslo' })}" result="${escaped({ temp: 3 })}" files="">\n<summary>Tool Executed</summary>\n</details>`
  const reasoning =
    '<details type="reasoning" done="true" duration="2">\n<summary>Thought for 2 seconds</summary>\n&gt; I should look it up.\n</details>'
  const code = `<details type="code_interpreter" done="true" output="${escaped({ stdout: '4' })}">\n<summary>Analyzed</summary>\nprint(2 &lt; 3)\n</details>`
  const file = (name: string) => ({
    type: 'file',
    name,
    url: 'f1',
    file: { filename: name, data: { content: 'The text.' } },
  })
  const draft = readOpenWebUi({
    id: 'o1',
    title: 'OW',
    chat: {
      models: ['qwen3'],
      history: {
        currentId: 'b',
        messages: {
          a: {
            id: 'a',
            parentId: null,
            role: 'user',
            content: 'Weather in Oslo?',
            files: [file('notes.txt'), file('report.pdf'), { type: 'file', name: 'gone.bin' }],
          },
          b: {
            id: 'b',
            parentId: 'a',
            role: 'assistant',
            content: `${reasoning}\n${call}\nIt is 3 °C in Oslo.\n${code}\nDone [1].`,
            sources: [
              {
                source: { id: 's', name: 'Weather', url: 'https://weather.example' },
                document: ['3 °C'],
                metadata: [{ source: 'https://weather.example/oslo' }, { source: 'notes.txt' }],
              },
            ],
          },
        },
      },
    },
  })
  expect(draft.nodes[0]?.files).toEqual([
    { name: 'notes.txt', text: 'The text.' },
    { name: 'report.pdf.txt', text: 'The text.' },
    { name: 'gone.bin', missing: true },
  ])
  const steps = draft.nodes[1]?.steps
  expect(steps).toMatchObject([
    { type: 'thinking', content: 'I should look it up.' },
    { type: 'tool_call', callId: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' },
    { type: 'tool_result', callId: 'call_1', content: expect.stringContaining('temp') },
    { type: 'text', content: expect.stringMatching(/^It is 3 °C in Oslo\./) },
    { type: 'tool_call', name: 'code_interpreter', arguments: '{"code":"print(2 < 3)"}' },
    { type: 'tool_result', content: expect.stringContaining('stdout') },
    { type: 'text', content: 'Done [1].' },
    {
      type: 'text',
      content:
        '\n\n- [Weather](https://weather.example/oslo)\n- [Weather](https://weather.example)',
    },
  ])
})

// Sinity/polylogue: its notes on the exports of Claude
test('a Claude answer has the links of its sources, failed calls, and the text of blocks of other kinds', () => {
  const block = (type: string, more: object) => ({
    start_timestamp: null,
    stop_timestamp: null,
    flags: null,
    type,
    ...more,
  })
  const message = (uuid: string, sender: string, content: object[]) => ({
    uuid,
    text: 'as the page shows it',
    content,
    sender,
    created_at: '2026-03-18T03:16:18.177293Z',
    attachments: [],
    files: [],
  })
  const text = 'Rents rose. Wages fell.'
  const cited = (end: number, url: string) => ({
    uuid: 'x',
    start_index: 0,
    end_index: end,
    details: { type: 'web_search_citation', url },
  })
  const draft = readClaude({
    uuid: 'c',
    name: 'Rents',
    summary: '',
    account: { uuid: 'u' },
    chat_messages: [
      message('h', 'human', [block('voice_note', { title: 'Note', text: 'How are rents?' })]),
      message('a', 'assistant', [
        block('tool_use', { id: 'tu', name: 'web_fetch', input: { url: 'https://a.example' } }),
        block('tool_result', {
          tool_use_id: 'tu',
          name: 'web_fetch',
          content: [{ type: 'text', text: 'The page is gone.', uuid: 'y' }],
          is_error: true,
        }),
        block('token_budget', {}),
        block('text', {
          text,
          citations: [
            cited(text.length, 'javascript:alert(1)'),
            cited(11, 'https://b.example/rents'),
            cited(text.length, 'https://b.example/wages'),
          ],
        }),
        block('hologram', { data: 'x' }),
      ]),
    ],
  })
  expect(draft.nodes[0]).toMatchObject({ role: 'user', text: 'How are rents?' })
  expect(draft.nodes[1]?.steps).toEqual([
    expect.objectContaining({ type: 'tool_call', callId: 'tu', name: 'web_fetch' }),
    {
      type: 'tool_result',
      callId: 'tu',
      name: 'web_fetch',
      content: JSON.stringify({ success: false, error: 'The page is gone.' }),
    },
    {
      type: 'text',
      content:
        'Rents rose. ([https://b.example/rents](https://b.example/rents)) Wages fell. ([https://b.example/wages](https://b.example/wages))',
    },
  ])
  expect(draft.skipped).toEqual([
    {
      what: 'hologram',
      failure: expect.objectContaining({
        reason: 'import_parts_unknown',
        params: { conversation: 'Rents' },
      }),
    },
  ])
})

test('a Claude answer of 2024 has its artifacts as code below their titles, and its thoughts as such', () => {
  const text =
    'Here it is.\n\n<antThinking>A new script.</antThinking>\n\n<antArtifact identifier="s" type="application/vnd.ant.code" language="bash" title="Script">\necho hi\n</antArtifact>\n\nRun it.'
  const message = (uuid: string, sender: string) => ({ uuid, sender, text, content: [] })
  const [question, answer] = readClaude({
    uuid: 'c',
    name: 'Script',
    chat_messages: [message('h', 'human'), message('a', 'assistant')],
  }).nodes
  // What a person wrote about artifacts is none.
  expect(question?.text).toBe(text)
  const [thought, said] = answer?.steps ?? []
  expect(thought).toEqual({ type: 'thinking', content: 'A new script.' })
  expect(said?.type === 'text' && said.content.replaceAll(/\n{2,}/g, '\n\n')).toBe(
    'Here it is.\n\n**Script**\n\n```bash\necho hi\n```\n\nRun it.',
  )
})

// danny-avila/LibreChat: `TMessageContentParts` in its types of assistants
test('a LibreChat answer has the calls of assistants, errors, pictures, and texts in both forms', () => {
  const call = (tool_call: object) => ({ type: 'tool_call', tool_call })
  const draft = readLibreChat({
    conversationId: 'l',
    title: 'Sums',
    endpoint: 'assistants',
    options: { model: 'gpt-4o', endpoint: 'assistants' },
    messages: [
      {
        messageId: 'h',
        parentMessageId: '00000000-0000-0000-0000-000000000000',
        isCreatedByUser: true,
        text: '',
        content: [
          { type: 'text', text: { value: 'Add them up', annotations: [] } },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
        ],
      },
      {
        messageId: 'a',
        parentMessageId: 'h',
        isCreatedByUser: false,
        sender: 'GPT-4o',
        text: '',
        content: [
          { type: 'think', think: { value: 'Easy.' } },
          call({
            id: 'c1',
            type: 'code_interpreter',
            code_interpreter: { input: 'print(2+2)', outputs: [{ type: 'logs', logs: '4' }] },
            progress: 1,
          }),
          call({
            id: 'c2',
            type: 'function',
            function: { name: 'look_up', arguments: '{"q":"sum"}', output: 'four' },
          }),
          call({ id: 'c3', type: 'tool_call', name: 'search', args: { q: 'x' }, output: 'found' }),
          { type: 'image_file', image_file: { file_id: 'f', filename: 'chart.png', width: 9 } },
          { type: 'agent_update', agent_update: { agentId: 'x', index: 0, runId: 'y' } },
          { type: 'mystery' },
          { type: 'error', error: 'The quota is used up.' },
        ],
      },
    ],
  })
  const [question, answer] = draft.nodes
  expect(question).toMatchObject({
    text: 'Add them up',
    files: [{ name: 'image.png', base64: 'iVBORw0KGgo=' }],
  })
  expect(answer).toMatchObject({
    status: 'failed',
    files: [{ name: 'chart.png', missing: true }],
    steps: [
      { type: 'thinking', content: 'Easy.' },
      { type: 'tool_call', name: 'code_interpreter', arguments: '{"code":"print(2+2)"}' },
      { type: 'tool_result', callId: 'c1', content: expect.stringContaining('"logs":"4"') },
      { type: 'tool_call', name: 'look_up', arguments: '{"q":"sum"}' },
      { type: 'tool_result', callId: 'c2', content: expect.stringContaining('four') },
      { type: 'tool_call', name: 'search', arguments: '{"q":"x"}' },
      { type: 'tool_result', callId: 'c3', content: expect.stringContaining('found') },
      { type: 'text', content: 'The quota is used up.' },
    ],
  })
  expect(draft.skipped).toMatchObject([
    { what: 'mystery', failure: { reason: 'import_parts_unknown' } },
  ])
})

// danny-avila/LibreChat: `client/src/utils/citations.ts`
test('a LibreChat answer has no marks of sources or artifacts, whichever way they are written', () => {
  const answered = (text: string) =>
    readLibreChat({
      conversationId: 'l',
      messages: [{ messageId: 'a', sender: 'M', isCreatedByUser: false, text }],
    }).nodes[0]?.steps
  for (const [text, content] of [
    ['It grew \ue202turn0search3.', 'It grew.'],
    ['\ue203It grew.\ue204 \ue200\ue202turn0search3\ue202turn1news0\ue201 Much.', 'It grew. Much.'],
    ['It grew.\\ue202turn0search3', 'It grew.'],
    ['The character \\ue203 is private.', 'The character \\ue203 is private.'],
    [
      ':::artifact{identifier="a" type="text/html" title="Demo"}\n```html\n<p>\n```\n:::',
      '**Demo**\n\n```html\n<p>\n```\n',
    ],
  ])
    expect(answered(text ?? '')).toEqual([{ type: 'text', content }])
})

test('an entry of an archive whose checksum is wrong fails when it is read', async () => {
  const bytes = zipSync({ 'a.txt': [strToU8('unchanged text'), { level: 0 }] })
  const path = join(folder, 'export.zip')
  const read = async (): Promise<string> => {
    const archive = await openArchive(path, 1e6, '1 MB')
    try {
      return (await buffer(await archive.open('a.txt'))).toString()
    } finally {
      archive.close()
    }
  }
  writeFileSync(path, bytes)
  expect(await read()).toBe('unchanged text')
  const at = Buffer.from(bytes).indexOf('unchanged')
  bytes.set(strToU8('exchanged'), at)
  writeFileSync(path, bytes)
  await expect(read()).rejects.toThrow('checksum')
})

describe('a SQLite file of the Python version', () => {
  const created = (name: string, sql: string): string => {
    const path = join(folder, name)
    const database = new SqliteClient(path)
    database.exec(sql)
    database.close()
    return path
  }
  const messages = 'create table messages (id integer primary key, conversation_id, role, content);'

  test('is read if its tables are tables', () => {
    const sql = `${messages} create table conversations (id integer primary key, title); insert into conversations values (1, 'Hi');`
    const database = openPython(created('good.db', sql))
    expect(database.count).toBe(1)
    database.close()
  })

  test('is refused at once if a table is a view that never ends', () => {
    const view =
      "create view conversations as with recursive endless(id) as (select 1 union all select id + 1 from endless) select id, id as rowid, 'x' as title from endless;"
    expect(() => openPython(created('endless.db', `${messages} ${view}`))).toThrow(
      expect.objectContaining({ name: 'ImportFault' }),
    )
  })
})
