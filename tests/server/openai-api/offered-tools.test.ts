// Tools of every kind that programs offer: namespaces, texts as input, a web search; and which tools of the server they get.
import OpenAI from 'openai'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import {
  describeOnEachServer,
  register,
  TEST_JWT_SECRET,
  type TestServer,
} from '../../support/server/server.ts'

const upstream = await useUpstream()
const model = 'nanoclaw/scripted'
const Sent = z.object({ function: z.object({ name: z.string() }) })
/** The names of the tools in the last request to the provider. */
const sentTools = (): string[] =>
  z
    .array(Sent)
    .parse(upstream.requests.at(-1)?.body.tools ?? [])
    .map((tool) => tool.function.name)

/** The tools that Codex sends by default, with one MCP server of its own. */
const CODEX_TOOLS = [
  { type: 'function', name: 'exec_command', strict: false, parameters: { type: 'object' } },
  {
    type: 'custom',
    name: 'apply_patch',
    description: 'Edits files.',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch"' },
  },
  {
    type: 'namespace',
    name: 'mcp__notes',
    description: 'Tools of notes',
    tools: [{ type: 'function', name: 'add_note', description: 'Adds a note.', parameters: {} }],
  },
  { type: 'web_search', external_web_access: true },
  { type: 'image_generation', output_format: 'png' },
]
/** The types of the package do not list what programs send. */
const asTools = (tools: unknown): OpenAI.Responses.Tool[] => tools as OpenAI.Responses.Tool[]

describeOnEachServer('tools that a program offers', (start) => {
  let server: TestServer
  let client: OpenAI
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
    })
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 })
  })
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, json: Object(await response.json()) }
  }

  test('a call of a tool in a namespace and one whose input is a text are given back in the form in which they were offered', async () => {
    upstream.enqueue(
      turn.toolCalls([
        { id: 'n1', name: 'mcp__notes__add_note', arguments: { text: 'milk' } },
        { id: 'p1', name: 'apply_patch', arguments: { input: '*** Begin Patch' } },
      ]),
    )
    const first = await client.responses.create({
      model,
      input: 'Note milk.',
      store: false,
      tools: asTools(CODEX_TOOLS),
    })
    expect(sentTools()).toEqual([
      'fetch_page',
      'web_search',
      'exec_command',
      'apply_patch',
      'mcp__notes__add_note',
    ])
    expect(JSON.stringify(upstream.requests.at(-1)?.body.tools)).toContain('*** Begin Patch')
    expect(first).toMatchObject({
      warnings: ['Left out: tools of the kind image_generation. The server does not offer them.'],
    })
    expect(first.tools).toMatchObject([
      { type: 'function', name: 'exec_command' },
      { type: 'custom', name: 'apply_patch' },
      { type: 'namespace', name: 'mcp__notes', tools: [{ name: 'add_note' }] },
      { type: 'web_search' },
    ])
    expect(first.output).toMatchObject([
      {
        type: 'function_call',
        namespace: 'mcp__notes',
        name: 'add_note',
        arguments: '{"text":"milk"}',
        status: 'completed',
      },
      { type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin Patch' },
    ])
    const [note, patch] = first.output
    if (note?.type !== 'function_call' || patch?.type !== 'custom_tool_call')
      throw new Error('no calls')
    upstream.enqueue(turn.text('Done.'))
    const second = await client.responses.create({
      model,
      store: false,
      tools: asTools(CODEX_TOOLS),
      input: [
        { role: 'user', content: 'Note milk.' },
        note,
        patch,
        { type: 'function_call_output', call_id: note.call_id, output: 'noted' },
        { type: 'custom_tool_call_output', call_id: patch.call_id, output: 'patched' },
      ],
    })
    expect(second.output_text).toBe('Done.')
    expect(upstream.requests.at(-1)?.messages.slice(1)).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        tool_calls: [
          { function: { name: 'mcp__notes__add_note' } },
          { function: { name: 'apply_patch', arguments: '{"input":"*** Begin Patch"}' } },
        ],
      },
      { role: 'tool', content: 'noted' },
      { role: 'tool', content: 'patched' },
    ])
  })

  test('calls of namespaces and texts as input stream with the events of their kind', async () => {
    upstream.enqueue(
      turn.toolCalls([{ id: 'p2', name: 'apply_patch', arguments: { input: 'patch' } }]),
    )
    const types = []
    for await (const event of await client.responses.create({
      model,
      input: 'Patch.',
      stream: true,
      tools: asTools(CODEX_TOOLS),
    }))
      types.push(event.type)
    expect(types).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.custom_tool_call_input.delta',
      'response.custom_tool_call_input.done',
      'response.output_item.done',
      'response.completed',
    ])
  })

  test('items of an earlier conversation that only other servers have are left out with a warning', async () => {
    upstream.enqueue(turn.text('Hello.'))
    const { json } = await post('responses', {
      model,
      input: [
        { role: 'user', content: 'One' },
        { type: 'local_shell_call', id: 'x', call_id: 'y', action: {}, status: 'completed' },
        { type: 'web_search_call', id: 'ws_elsewhere', status: 'completed' },
        { role: 'assistant', content: 'Two' },
        { role: 'user', content: 'Three' },
      ],
    })
    expect(json.warnings).toEqual([
      'Left out: items of the kind local_shell_call. The server does not read them.',
    ])
    expect(
      upstream.requests
        .at(-1)
        ?.messages.slice(1)
        .map(({ content }) => content),
    ).toEqual(['One', 'Two', 'Three'])
  })

  test('chat completions take the same kinds of tools', async () => {
    upstream.enqueue(
      turn.toolCalls([{ id: 'c1', name: 'apply_patch', arguments: { input: 'patch' } }]),
    )
    const tools = [
      { type: 'custom', custom: { name: 'apply_patch', description: 'Edits files.' } },
      { type: 'code_interpreter' },
    ]
    const messages = [{ role: 'user', content: 'Patch.' }]
    const first = await post('chat/completions', { model, tools, messages })
    expect(first.json.warnings).toEqual([
      'Left out: tools of the kind code_interpreter. The server does not offer them.',
    ])
    const { message } = first.json.choices[0]
    expect(message.tool_calls).toMatchObject([
      { type: 'custom', custom: { name: 'apply_patch', input: 'patch' } },
    ])
    upstream.enqueue(turn.text('Patched.'))
    const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'ok' }
    const second = await post('chat/completions', {
      model,
      tools,
      messages: [...messages, message, result],
    })
    expect(second.json.choices[0].message.content).toBe('Patched.')
  })

  test('a malformed tool of a known kind is refused, and the message names the field', async () => {
    const { status, json } = await post('responses', {
      model,
      input: 'Hello',
      tools: [{ type: 'function', name: 'not a name' }],
    })
    expect(status).toBe(400)
    expect(json.error.message).toContain('name')
  })

  test("a program that brings tools gets none of the server's unless it asks for them", async () => {
    const own = { type: 'function', function: { name: 'thermometer' } }
    const ask = async (body: object, headers: Record<string, string> = {}) => {
      upstream.enqueue(turn.text('Hello.'))
      const messages = [{ role: 'user', content: 'Hello' }]
      const { status } = await post('chat/completions', { model, messages, ...body }, headers)
      expect(status).toBe(200)
      return sentTools()
    }
    expect(await ask({ tools: [own] })).toEqual(['thermometer'])
    expect(await ask({})).toContain('calculator')
    expect(await ask({ model: `${model}:plain` })).toEqual([])
    expect(await ask({}, { 'x-nanoclaw-tools': 'plain' })).toEqual([])
    const all = ['calculator', 'thermometer']
    expect(await ask({ tools: [own], model: `${model}:tools` })).toEqual(
      expect.arrayContaining(all),
    )
    expect(await ask({ tools: [own] }, { 'x-nanoclaw-tools': 'tools' })).toEqual(
      expect.arrayContaining(all),
    )
    expect(await ask({ tools: [own], nanoclaw: { server_tools: true } })).toEqual(
      expect.arrayContaining(all),
    )
    expect(await ask({ model: `${model}:tools`, nanoclaw: { server_tools: false } })).toEqual([])
    expect(await ask({ tools: [own, { type: 'web_search' }] })).toEqual([
      'fetch_page',
      'web_search',
      'thermometer',
    ])
  })

  test('tools that read files are offered to programs only with a project', async () => {
    const ask = async (nanoclaw: object) => {
      upstream.enqueue(turn.text('Hello.'))
      await post('chat/completions', {
        model,
        nanoclaw,
        messages: [{ role: 'user', content: 'Hello' }],
      })
      return sentTools()
    }
    const created = await server.call('POST', '/api/projects', { body: { name: 'Offered' } })
    expect(await ask({})).not.toContain('file_read')
    expect(await ask({})).not.toContain('search_knowledge')
    expect(await ask({ project_id: created.json.data.id })).toEqual(
      expect.arrayContaining(['file_read', 'search_knowledge']),
    )
  })

  test('there are at most 512 tools in one request, with those in namespaces, and at most 20 warnings', async () => {
    const groups = (count: number) =>
      Array.from({ length: count }, (_, group) => ({
        type: 'namespace',
        name: `group${group}`,
        tools: Array.from({ length: 100 }, (_, at) => ({
          type: 'function',
          name: `tool${at}`,
          parameters: {},
        })),
      }))
    const before = upstream.requests.length
    const refused = await post('responses', { model, input: 'Hello', tools: groups(6) })
    expect(refused.status).toBe(400)
    expect(refused.json.error.message).toContain('at most 512 tools')
    expect(upstream.requests.length).toBe(before)
    upstream.enqueue(turn.text('Hello.'), turn.text('Hello.'))
    const taken = await post('responses', { model, input: 'Hello', tools: groups(5) })
    expect(taken.status).toBe(200)
    expect(sentTools()).toHaveLength(500)
    const odd = Array.from({ length: 50 }, (_, at) => ({ type: `odd_${at}` }))
    const warned = await post('responses', { model, input: 'Hello', tools: odd })
    expect(warned.json.warnings).toHaveLength(20)
    expect(warned.json.warnings.at(-1)).toContain('31 more')
  })

  test('an API key decides about the tools of the server where the request does not', async () => {
    const many = await start({
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      auth_mode: 'multi',
      jwt_secret: TEST_JWT_SECRET,
    })
    const token = await register(many, 'caller')
    const own = { type: 'function' as const, function: { name: 'mine', parameters: {} } }
    const asked = async (programTools: string | undefined, name: string, brought: boolean) => {
      const { json } = await many.call('POST', '/api/auth/keys', {
        token,
        body: { name: 'tests', program_tools: programTools },
      })
      expect(json.data.program_tools).toBe(programTools ?? null)
      upstream.enqueue(turn.text('Done.'))
      const apiKey = json.data.key
      await new OpenAI({ baseURL: `${many.url}/v1`, apiKey }).chat.completions.create({
        model: name,
        messages: [{ role: 'user', content: 'Hello' }],
        ...(brought ? { tools: [own] } : {}),
      })
      return sentTools().includes('calculator')
    }
    expect(await asked(undefined, model, false)).toBe(true)
    expect(await asked('plain', model, false)).toBe(false)
    expect(await asked('plain', `${model}:tools`, false)).toBe(true)
    expect(await asked(undefined, model, true)).toBe(false)
    expect(await asked('tools', model, true)).toBe(true)
    const { status } = await many.call('POST', '/api/auth/keys', {
      token,
      body: { name: 'tests', program_tools: 'some' },
    })
    expect(status).toBe(400)
  })
})
