// MCP servers that send odd elements: one is mended or left out and named, and everything beside it works.
import sharp from 'sharp'
import { describe, expect, test } from 'vitest'
import { type Script, startScriptedMcpServer } from '../../../fixtures/mcp-scripted-server.ts'
import { call, SOMEBODY, start } from './use-servers.ts'

async function connect(script: Script) {
  const server = await startScriptedMcpServer(script)
  const started = start({ odd: { url: server.url } })
  await started.connected('odd')
  const problems = () => started.mcp.listAll(SOMEBODY)[0]?.problems
  return { ...started, ...server, problems }
}

const good = { name: 'good', description: 'Works', inputSchema: { type: 'object', properties: {} } }

const nested = (levels: number): unknown => {
  let value: unknown = {}
  for (let level = 0; level < levels; level += 1) value = { items: value }
  return value
}

describe('one odd tool', () => {
  test.each([
    ['a null description', { description: null }],
    ['null annotations', { annotations: null }],
    ['a null title, icons and _meta', { title: null, icons: null, _meta: null, execution: null }],
    ['an output schema without a type', { outputSchema: { $id: 'x' } }],
    ['an output schema that is none', { outputSchema: 7 }],
    ['an empty input schema', { inputSchema: {} }],
    ['a null input schema', { inputSchema: null }],
    ['no input schema', { inputSchema: undefined }],
    ['the input schema true', { inputSchema: true }],
    ['null properties', { inputSchema: { type: 'object', properties: null, required: null } }],
    ['two types', { inputSchema: { type: ['object', 'null'] } }],
    ['no type', { inputSchema: { properties: { a: { type: 'string' } } } }],
    ['a property that is null', { inputSchema: { type: 'object', properties: { a: null } } }],
    ['a boolean property', { inputSchema: { type: 'object', properties: { a: true } } }],
  ])('with %s works, and so does the tool beside it', async (_what, odd) => {
    const { tools, problems } = await connect({ tools: [good, { ...good, name: 'bad', ...odd }] })
    expect(await call(tools.get('mcp__odd__good'))).toMatchObject({ success: true, data: 'done' })
    expect(await call(tools.get('mcp__odd__bad'))).toMatchObject({ success: true, data: 'done' })
    expect(problems()).toEqual([])
  })

  test.each([
    ['a description that is a number', { description: 5 }, 'description'],
    ['annotations that are a text', { annotations: 'read' }, 'annotations'],
    ['a title that is a list', { title: ['t'] }, 'title'],
  ])('with %s works without it, which is named', async (_what, odd, fields) => {
    const { tools, problems } = await connect({ tools: [good, { ...good, name: 'bad', ...odd }] })
    expect(await call(tools.get('mcp__odd__bad'))).toMatchObject({ success: true })
    expect(problems()).toEqual([{ kind: 'tool', name: 'bad', problem: 'fields_ignored', fields }])
  })

  test.each([
    ['without a name', { name: undefined }, '#2', 'unreadable'],
    ['with a name that is a number', { name: 5 }, '#2', 'unreadable'],
    ['with an empty name', { name: '' }, '#2', 'unreadable'],
    ['with a name of a million characters', { name: 'x'.repeat(1e6) }, /^x{200}$/, 'unreadable'],
    [
      'whose arguments would be a text',
      { inputSchema: { type: 'string' } },
      'bad',
      'schema_unusable',
    ],
    ['whose schema is a list', { inputSchema: [] }, 'bad', 'schema_unusable'],
    ['whose schema accepts nothing', { inputSchema: false }, 'bad', 'schema_unusable'],
    [
      'with a schema of 100 KB',
      { inputSchema: { type: 'object', description: 'x'.repeat(100_000) } },
      'bad',
      'schema_too_large',
    ],
    ['with the name of another one', { name: 'good' }, 'good', 'duplicate_name'],
  ])('%s is left out and named; the others work', async (_what, odd, name, problem) => {
    const { tools, mcp, problems } = await connect({
      tools: [good, { ...good, name: 'bad', ...odd }, { ...good, name: 'later' }],
    })
    expect(mcp.tools(SOMEBODY).map((tool) => tool.name)).toEqual([
      'mcp__odd__good',
      'mcp__odd__later',
    ])
    expect(await call(tools.get('mcp__odd__later'))).toMatchObject({ success: true })
    const shown = typeof name === 'string' ? name : expect.stringMatching(name)
    expect(problems()).toEqual([{ kind: 'tool', name: shown, problem }])
  })

  test('that is no object is left out; a list that is none is empty', async () => {
    const { mcp, problems } = await connect({ tools: [null, 'tool', good] })
    expect(mcp.tools(SOMEBODY)).toHaveLength(1)
    expect(problems()).toMatchObject([{ name: '#1' }, { name: '#2' }])
    const other = await connect({ tools: { good } })
    expect(other.mcp.tools(SOMEBODY)).toEqual([])
  })

  test('that is nested too deeply is left out, and so is what follows very many tools', async () => {
    const many = Array.from({ length: 50_000 }, (_, at) => ({ name: `many${at}` }))
    const { mcp, problems } = await connect({
      tools: [good, { name: 'deep', inputSchema: nested(1_000) }, ...many],
    })
    expect(mcp.tools(SOMEBODY)).toHaveLength(200)
    expect(problems()).toMatchObject([
      { name: 'deep', problem: 'schema_too_large' },
      { problem: 'too_many' },
    ])
  })

  test('has a name for models in the characters that providers accept', async () => {
    const names = ['файл.читать', 'files/read', 'read file', 'x'.repeat(200)]
    const { mcp } = await connect({ tools: names.map((name) => ({ ...good, name })) })
    for (const { name } of mcp.tools(SOMEBODY)) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(mcp.tools(SOMEBODY)).toHaveLength(4)
  })
})

test('a result that is nested too deeply says so, and one of very many parts is read up to a limit', async () => {
  const image = { type: 'image', data: '????' }
  const parts = Array.from({ length: 3_000 }, (_, at) => ({ type: 'text', text: `${at}` }))
  const { tools } = await connect({
    tools: [good],
    call: (_name, input) =>
      Object.keys(Object(input)).length === 0
        ? { content: [{ type: 'text', text: 'x' }], structuredContent: nested(1_000) }
        : {
            content: [
              ...parts,
              ...parts.flatMap((part) => [{ type: 'resource_link', uri: 'a:b' }, part]),
              image,
            ],
          },
  })
  const tool = tools.get('mcp__odd__good')
  expect(await call(tool)).toMatchObject({
    success: false,
    error: expect.stringMatching(/nested too deeply, so it was not read\. The call has run/),
  })
  expect(await call(tool, { all: true })).toMatchObject({
    success: true,
    data: expect.stringMatching(/^0\n1\n2\n[\s\S]*\[\d+ further parts: not read\]$/),
  })
})

test('an odd prompt, resource or template is mended or left out, and the others are listed', async () => {
  const { mcp, problems } = await connect({
    prompts: [
      { name: 'fine', description: null, arguments: null },
      { name: 'odd', arguments: [{ name: 'a', required: 'yes' }, null, { name: 7 }] },
      { description: 'nameless' },
    ],
    resources: [
      { uri: 'file:///a', name: null, mimeType: null, size: 'big', annotations: null },
      { name: 'nowhere' },
    ],
    templates: [{ uriTemplate: 'file:///{path}', name: 5, description: null }, { uriTemplate: 7 }],
  })
  expect(await mcp.prompts(SOMEBODY)).toEqual([
    { server: 'odd', name: 'fine', arguments: [] },
    { server: 'odd', name: 'odd', arguments: [{ name: 'a', required: false }] },
  ])
  expect(await mcp.resources(SOMEBODY)).toEqual([
    { server: 'odd', uri: 'file:///a', name: 'file:///a' },
  ])
  expect(await mcp.resourceTemplates(SOMEBODY)).toMatchObject([
    { uri_template: 'file:///{path}', name: 'file:///{path}' },
  ])
  expect(problems()).toEqual([
    { kind: 'prompt', name: '#3', problem: 'unreadable' },
    { kind: 'resource', name: 'file:///a', problem: 'fields_ignored', fields: 'size' },
    { kind: 'resource', name: 'nowhere', problem: 'unreadable' },
    { kind: 'template', name: '#2', problem: 'unreadable' },
  ])
})

test.each([
  ['no name of its own', { serverInfo: null }],
  [
    'capabilities that are true or null',
    { capabilities: { tools: true, prompts: null, logging: null } },
  ],
])('a server with %s connects', async (_what, script) => {
  const { tools } = await connect({ tools: [good], ...script })
  expect(await call(tools.get('mcp__odd__good'))).toMatchObject({ success: true })
})

test.each([
  ['a text instead of a list', { content: 'plain' }, 'plain'],
  ['null', { content: null }, ''],
  ['nothing', {}, ''],
  ['the field of revision 2024-10-07', { toolResult: { answer: 42 } }, '{"answer":42}'],
  ['an object instead of a list', { content: { type: 'text', text: 'one' } }, 'one'],
  ['a number as text', { content: [{ type: 'text', text: 42 }] }, '42'],
  ['a text without a type', { content: [{ text: 'untyped' }] }, 'untyped'],
  [
    'an unknown type',
    { content: [{ type: 'json', json: { a: 1 } }] },
    '{"type":"json","json":{"a":1}}',
  ],
  ['a null part', { content: [null, { type: 'text', text: 'rest' }], isError: null }, 'rest'],
  [
    'an image that is none',
    { content: [{ type: 'image', data: '§' }] },
    '[image without readable data]',
  ],
  [
    'an image with a character that is no base64',
    { content: [{ type: 'image', data: 'AAAA!AAA' }] },
    '[image without readable data]',
  ],
  [
    'an image that is cut within a byte',
    { content: [{ type: 'image', data: 'AAAAA' }] },
    '[image without readable data]',
  ],
  ['only a list as structure', { structuredContent: [1, 2] }, '[1,2]'],
])('a result whose content is %s reaches the model', async (_what, result, text) => {
  const { tools } = await connect({ tools: [good], call: () => result })
  expect(await call(tools.get('mcp__odd__good'))).toMatchObject({ success: true, data: text })
})

test.each([
  ['in the alphabet of URLs', (bytes: Buffer) => bytes.toString('base64url')],
  ['with line breaks', (bytes: Buffer) => bytes.toString('base64').replace(/.{20}/g, '$&\r\n')],
  ['without padding', (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')],
  ['as a data URL', (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`],
])('a picture in base64 %s is shown', async (_how, encode) => {
  const create = { width: 40, height: 30, channels: 3 as const, background: '#29c' }
  const bytes = await sharp({ create }).png().toBuffer()
  const content = [{ type: 'image', data: encode(bytes), mimeType: 'image/png' }]
  const { tools } = await connect({ tools: [good], call: () => ({ content }) })
  expect(await call(tools.get('mcp__odd__good'))).toMatchObject({
    images: [{ mime: 'image/png', data: bytes.toString('base64') }],
  })
})

test.each([
  [
    "Anthropic's API",
    (data: string) => ({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data },
    }),
  ],
  [
    "OpenAI's API",
    (data: string) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }),
  ],
])('a picture in the form of %s is shown', async (_whose, form) => {
  const create = { width: 40, height: 30, channels: 3 as const, background: '#29c' }
  const data = (await sharp({ create }).png().toBuffer()).toString('base64')
  const { tools } = await connect({ tools: [good], call: () => ({ content: [form(data)] }) })
  expect(await call(tools.get('mcp__odd__good'))).toMatchObject({
    data: '[image 1: image/png, 40x30]',
    images: [{ mime: 'image/png', data }],
  })
})
