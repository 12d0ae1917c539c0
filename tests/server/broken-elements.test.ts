// Lists that come from outside: an element of which any one field is broken costs at most itself, and never the others.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { AppError } from '../../server/errors.ts'
import { createRerankApi } from '../../server/knowledge/rerank-api.ts'
import { createEventReader } from '../../server/llm/anthropic/messages-reader.ts'
import { createChunkReader } from '../../server/llm/openai/chunk-reader.ts'
import { listModels } from '../../server/llm/probe/probe-requests.ts'
import { createResponseEventReader } from '../../server/llm/responses/responses-reader.ts'
import type { ProviderHttp } from '../../server/llm/streaming/provider-http.ts'
import type { ResponseReader } from '../../server/llm/streaming/response-reader.ts'
import { createTelegramKind } from '../../server/messaging/kinds/telegram.ts'
import type { Arrival } from '../../server/messaging/messenger.ts'
import type { GuardedFetch } from '../../server/net/guarded-fetch.ts'
import { withStoredFiles } from '../../server/openai-api/past.ts'
import { readChatRequest } from '../../server/openai-api/read-chat.ts'
import { readMessagesRequest } from '../../server/openai-api/read-messages.ts'
import { entriesOfInput, readResponseRequest } from '../../server/openai-api/read-responses.ts'
import { MessagesBody } from '../../server/protocol/anthropic/messages.ts'
import { FileId } from '../../server/protocol/ids.ts'
import { ChatCompletionBody } from '../../server/protocol/openai/chat-completions.ts'
import { ResponseBody } from '../../server/protocol/openai/responses.ts'
import { createSkillFolders } from '../../server/skills/skill-folders.ts'
import { createWeatherTool } from '../../server/tools/builtin/web/weather.ts'
import {
  createBrave,
  createSearxng,
} from '../../server/tools/builtin/web/web-search/search-providers.ts'
import { assemble } from '../../server/transfer/assemble.ts'
import type { Draft } from '../../server/transfer/draft.ts'
import { readChatGpt } from '../../server/transfer/formats/chatgpt.ts'
import { readClaude } from '../../server/transfer/formats/claude.ts'
import { readLibreChat } from '../../server/transfer/formats/librechat.ts'
import { readOpenWebUi } from '../../server/transfer/formats/open-webui.ts'
import { startScriptedMcpServer } from '../fixtures/mcp-scripted-server.ts'
import { brokenCopies } from '../support/broken-elements.ts'
import { chatGpt, node, said } from '../support/chatgpt-exports.ts'
import { call, SOMEBODY, start } from './tools/mcp/use-servers.ts'
import { runTool } from './tools/support.ts'

const json = (value: unknown): Buffer => Buffer.from(text(value))
/** JSON at any depth, which `JSON.stringify` cannot write. */
function text(value: unknown): string {
  if (Array.isArray(value)) {
    if (value.length === 1 && Array.isArray(value[0])) {
      let levels = 0
      let inner: unknown = value
      while (Array.isArray(inner) && inner.length === 1) {
        levels += 1
        inner = inner[0]
      }
      return '['.repeat(levels) + text(inner) + ']'.repeat(levels)
    }
    return `[${value.map((one) => (one === undefined ? 'null' : text(one))).join(',')}]`
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value).filter(([, one]) => one !== undefined)
  return `{${fields.map(([key, one]) => `${JSON.stringify(key)}:${text(one)}`).join(',')}}`
}

/** Each list with a broken element between two good ones; both are found, or `problems` says where not. */
async function problemsOf(
  element: unknown,
  good: readonly [unknown, unknown],
  read: (list: readonly unknown[]) => Promise<readonly unknown[]> | readonly unknown[],
  wanted: readonly [unknown, unknown],
  except: readonly string[] = [],
): Promise<string[]> {
  const problems: string[] = []
  let tried = 0
  for (const { what, element: broken } of brokenCopies(element, except)) {
    tried += 1
    try {
      const found = await read([good[0], broken, good[1]])
      for (const one of wanted) if (!found.includes(one)) problems.push(`${what}: lost ${one}`)
    } catch (error) {
      problems.push(`${what}: ${error instanceof Error ? error.message.slice(0, 200) : error}`)
    }
  }
  expect(tried).toBeGreaterThan(12)
  return problems
}

/** Answers every request with this body. */
const answering = (body: () => Buffer): GuardedFetch =>
  Object.assign(
    async (url: string) => ({
      ok: true as const,
      url,
      status: 200,
      contentType: 'application/json',
      headers: {},
      body: body(),
      truncated: false,
    }),
    { close: async () => {} },
  )
const { signal } = new AbortController()

test('models of a provider', async () => {
  let body: Buffer = Buffer.alloc(0)
  const http: ProviderHttp = {
    request: async () => {
      const parts = [[body]]
      return {
        ok: true,
        status: 200,
        headers: new Headers(),
        body: { read: async () => parts.pop() ?? null, abort() {}, release() {} },
      }
    },
    gatherMs: 50,
    async close() {},
  }
  const model = (id: string) => ({
    id,
    object: 'model',
    max_model_len: 9000,
    context_length: 8000,
    top_provider: { context_length: 7000 },
  })
  const settings = { id: 'm', api_url: 'http://127.0.0.1:1/v1' }
  const read = async (data: readonly unknown[]) => {
    body = json({ object: 'list', data })
    const { models, windows } = await listModels(settings, http, signal)
    return models.filter((id) => windows.get(id) !== undefined || id === 'odd')
  }
  expect(await problemsOf(model('odd'), [model('a'), model('b')], read, ['a', 'b'])).toEqual([])
})

test.each(['brave', 'searxng'])('hits of %s', async (name) => {
  let body: Buffer = Buffer.alloc(0)
  const fetch = answering(() => body)
  const service =
    name === 'brave'
      ? createBrave({ fetch, apiKey: 'k' })
      : createSearxng({ fetch, url: 'http://127.0.0.1:1/' })
  const hit = (title: string) => ({
    title,
    url: `https://${title}.example/`,
    description: 'About it',
    content: 'About it',
  })
  const read = async (results: readonly unknown[]) => {
    body = json(name === 'brave' ? { web: { results } } : { results })
    const found = await service.search('q', 10, signal)
    return found.ok ? found.hits.map(({ title }) => title) : []
  }
  expect(await problemsOf(hit('odd'), [hit('a'), hit('b')], read, ['a', 'b'])).toEqual([])
})

test('scores of a reranker', async () => {
  let body: Buffer = Buffer.alloc(0)
  const fetch = answering(() => body)
  const about = { apiKey: undefined, model: 'm', candidates: 9, form: 'cohere' as const }
  const api = createRerankApi({ apiUrl: 'http://127.0.0.1:1', ...about }, fetch)
  const score = (index: number) => ({ index, relevance_score: 0.5, document: { text: 'x' } })
  const read = async (results: readonly unknown[]) => {
    body = json({ results })
    const { scores } = await api.score('q', ['a', 'b', 'c'], 3)
    return scores.map(({ index }) => index)
  }
  expect(await problemsOf(score(1), [score(0), score(2)], read, [0, 2])).toEqual([])
})

test('updates of Telegram', async () => {
  const message = (id: number) => ({
    update_id: id,
    message: {
      message_id: id,
      date: 1,
      from: { id: 77, is_bot: false, first_name: 'Ann', last_name: 'B', username: 'ann' },
      chat: { id: 77, type: 'private', title: 'T' },
      text: `text ${id}`,
      caption: 'C',
      forward_origin: { type: 'user' },
      reply_to_message: { from: { id: 1, first_name: 'Bot' } },
      photo: [{ file_id: 'p', file_size: 5 }],
      document: { file_id: 'd', file_name: 'a.txt', file_size: 5 },
    },
  })
  const read = async (updates: readonly unknown[]) => {
    const stop = new AbortController()
    const seen: string[] = []
    let polls = 0
    const fetch = answering(() => {
      polls += 1
      if (polls === 1) return json({ ok: true, result: { id: 1, username: 'bot' } })
      if (polls === 2) return json({ ok: true, result: updates })
      stop.abort()
      return json({ ok: true, result: [] })
    })
    const kind = createTelegramKind({ fetch, apiUrl: 'http://127.0.0.1:1' })
    const inbox = {
      place: null,
      address: null,
      take: async (arrivals: readonly Arrival[], place: string | null) => {
        seen.push(...arrivals.map(({ text }) => text), `next ${place}`)
      },
      connected: async () => {},
      unreadable() {},
    }
    await kind.messenger?.receive?.({ bot_token: `1:${'a'.repeat(30)}` }, inbox, stop.signal)
    return seen
  }
  const wanted = ['text 5', 'text 7'] as const
  expect(await problemsOf(message(6), [message(5), message(7)], read, wanted)).toEqual([])
})

describe('messages of an export', () => {
  const formats: [string, (messages: readonly unknown[]) => Draft, (id: string) => unknown][] = [
    [
      'ChatGPT',
      (messages) =>
        readChatGpt(
          { ...chatGpt('c', [], 'a'), mapping: Object.fromEntries(messages.entries()) },
          () => null,
        ),
      (id) =>
        node(id, 'root', 'user', said(`text ${id}`), {
          metadata: { attachments: [{ id: 'f', name: 'n', mime_type: 'text/plain' }] },
          weight: 1,
        }),
    ],
    [
      'Claude',
      (chat_messages) => readClaude({ uuid: 'c', name: 'C', chat_messages }),
      (id) => ({
        uuid: id,
        sender: 'human',
        text: `text ${id}`,
        content: [{ type: 'text', text: `text ${id}`, citations: [{ end_index: 1, url: 'x' }] }],
        created_at: '2026-03-18T03:16:18Z',
        attachments: [{ file_name: 'a.txt', extracted_content: 'A' }],
        files: [{ file_name: 'b.txt' }],
      }),
    ],
    [
      'Open WebUI',
      (messages) => {
        const history = { currentId: 'b', messages: Object.fromEntries(messages.entries()) }
        return readOpenWebUi({ id: 'o', title: 'O', chat: { models: [], history } })
      },
      (id) => ({
        id,
        parentId: null,
        role: 'user',
        content: `text ${id}`,
        timestamp: 1_756_000_000,
        files: [{ type: 'file', name: 'n', file: { filename: 'n', data: { content: 'x' } } }],
        output: [{ type: 'message', content: [{ type: 'output_text', text: 'x' }] }],
        sources: [{ source: { url: 'x' }, document: ['d'], metadata: [{ source: 's' }] }],
      }),
    ],
    [
      'LibreChat',
      (messages) => readLibreChat({ conversationId: 'l', title: 'L', messages }),
      (id) => ({
        messageId: id,
        parentMessageId: null,
        isCreatedByUser: true,
        text: '',
        content: [{ type: 'text', text: { value: `text ${id}`, annotations: [] } }],
        createdAt: '2026-03-18T03:16:18Z',
        files: [{ filename: 'a.txt' }],
        children: [],
      }),
    ],
  ]
  /** Where a break leaves nothing that could be shown; in ChatGPT's tree, a node without a message is ordinary. */
  const SAYS_NOTHING =
    /^(the element: (?!an (empty )?object)|(id|uuid|messageId|role|sender):|message(\.author.*)?: (?!null|missing))/
  test.each(formats)('of %s: those that cannot be read are named', (_name, read, message) => {
    const problems: string[] = []
    for (const { what, element } of brokenCopies(message('odd'))) {
      const { messages, skipped } = assemble(read([message('a'), element, message('b')]))
      const texts = messages.map((one) => one.text)
      for (const good of ['text a', 'text b'])
        if (!texts.some((one) => one.includes(good))) problems.push(`${what}: lost ${good}`)
      const isNamed = messages.length === 3 || skipped.length > 0
      if (SAYS_NOTHING.test(what) && !isNamed) problems.push(`${what}: is not named`)
    }
    expect(problems).toEqual([])
  })
})

describe('events of a stream', () => {
  const apis: [string, () => ResponseReader, readonly unknown[]][] = [
    [
      'chat completions',
      () => createChunkReader({ model: 'M' }),
      [
        chunkOf({ role: 'assistant', content: 'One ' }),
        chunkOf({ reasoning_content: 'Hm.', reasoning_details: [{ type: 'text', text: 'Hm.' }] }),
        chunkOf({ content: 'two ' }),
        chunkOf({ content: [{ type: 'text', text: 'three ' }] }),
        chunkOf({ tool_calls: [called(0, 'c1', 'look', '{"a":'), called(1, 'c2', 'see', '{}')] }),
        chunkOf({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
        { ...chunkOf({ content: 'four' }), usage: { prompt_tokens: 1, completion_tokens: 2 } },
      ],
    ],
    [
      'the Messages API',
      () => createEventReader({ model: 'M' }),
      [
        { type: 'message_start', message: { id: 'm', content: [], usage: { input_tokens: 1 } } },
        begun(0, { type: 'text', text: '' }),
        more(0, { type: 'text_delta', text: 'One ' }),
        more(0, { type: 'citations_delta', citation: { url: 'x', cited_text: 'y' } }),
        more(0, { type: 'text_delta', text: 'two ' }),
        { type: 'content_block_stop', index: 0 },
        begun(1, { type: 'tool_use', id: 't1', name: 'look', input: {} }),
        more(1, { type: 'input_json_delta', partial_json: '{"a":1}' }),
        { type: 'content_block_stop', index: 1 },
        begun(2, { type: 'text', text: '' }),
        more(2, { type: 'text_delta', text: 'three ' }),
        { type: 'content_block_stop', index: 2 },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
        { type: 'message_stop' },
      ],
    ],
    [
      'the Responses API',
      () => createResponseEventReader({ model: 'M' }),
      [
        { type: 'response.created', response: { id: 'r', status: 'in_progress' } },
        itemEvent('added', 0, { type: 'message', id: 'm', content: [] }),
        deltaEvent('output_text', 0, 'One '),
        deltaEvent('output_text', 0, 'two '),
        itemEvent('done', 0, {
          type: 'message',
          id: 'm',
          content: [{ type: 'output_text', text: 'One two ' }],
        }),
        itemEvent('added', 1, { type: 'function_call', id: 'f', call_id: 'c', name: 'look' }),
        deltaEvent('function_call_arguments', 1, '{"a":1}'),
        itemEvent('done', 1, {
          type: 'function_call',
          id: 'f',
          call_id: 'c',
          name: 'look',
          arguments: '{"a":1}',
        }),
      ],
    ],
  ]
  test.each(apis)(
    'of %s: the words of the others arrive, or the failure is named',
    (_name, create, events) => {
      const read = (sent: readonly unknown[]) => {
        const reader = create()
        for (const one of sent) {
          const line = text(one)
          reader.read(line, 0, line.length)
        }
        const words = reader.end().map((event) => ('text' in event ? event.text : ''))
        return { words: words.join(''), calls: reader.calls(), failure: reader.error?.reason }
      }
      const whole = read(events)
      expect(whole.failure).toBeUndefined()
      const problems: string[] = []
      for (const [at, event] of events.entries()) {
        const without = read(events.filter((_, index) => index !== at))
        for (const { what, element } of brokenCopies(event)) {
          const where = `${at} ${what}`
          try {
            const { words, failure, calls } = read(events.with(at, element))
            for (const call of calls) JSON.parse(JSON.stringify(call))
            if (failure !== undefined) continue
            for (const word of without.words.split(/[ .]+/))
              if (!words.includes(word)) problems.push(`${where}: lost ${word}`)
          } catch (error) {
            problems.push(`${where}: ${error}`)
          }
        }
      }
      expect(problems).toEqual([])
    },
  )

  function chunkOf(delta: object) {
    return { id: 'x', choices: [{ index: 0, delta, finish_reason: null }] }
  }
  function called(index: number, id: string, name: string, args: string) {
    return { index, id, type: 'function', function: { name, arguments: args } }
  }
  function begun(index: number, content_block: object) {
    return { type: 'content_block_start', index, content_block }
  }
  function more(index: number, delta: object) {
    return { type: 'content_block_delta', index, delta }
  }
  function itemEvent(what: string, output_index: number, item: object) {
    return { type: `response.output_item.${what}`, output_index, item }
  }
  function deltaEvent(what: string, output_index: number, delta: string) {
    return { type: `response.${what}.delta`, output_index, item_id: 'm', content_index: 0, delta }
  }
})

describe('what an MCP server lists', () => {
  /** Deep ones are tried in `odd-servers.test.ts`: the scripted server cannot write any depth. */
  const flatCopies = (odd: unknown): unknown[] =>
    [...brokenCopies(odd)].flatMap(({ what, element }) =>
      what.endsWith('deeply') ? [] : [element],
    )
  /** Lists in which broken copies, of which each has a name of its own, stand between two good elements; as the client reads them. */
  const eachList = async (
    key: 'tools' | 'prompts' | 'resources' | 'templates',
    odd: object,
    read: (mcp: ReturnType<typeof start>['mcp']) => Promise<readonly string[]>,
  ): Promise<void> => {
    const good = (name: string) => ({ ...odd, name, uri: `file:///${name}` })
    const copies = flatCopies(odd).map((one, at) =>
      Object(one).name === 'odd' ? { ...Object(one), name: `odd-${at}` } : one,
    )
    for (let from = 0; from < copies.length; from += AT_ONCE) {
      const some = copies.slice(from, from + AT_ONCE)
      const server = await startScriptedMcpServer({ [key]: [good('first'), ...some, good('last')] })
      const { mcp, connected } = start({ odd: { url: server.url } })
      await connected('odd')
      const found = (await read(mcp)).flatMap((name) => /(first|last)$/.exec(name)?.[1] ?? [])
      expect(found).toEqual(['first', 'last'])
    }
  }
  const AT_ONCE = 80

  test('tools', () =>
    eachList(
      'tools',
      {
        name: 'odd',
        title: 'Odd',
        description: 'Does it',
        inputSchema: {
          type: 'object',
          properties: { a: { type: 'string', items: { $ref: '#/$defs/%' } } },
          required: ['a'],
        },
        annotations: { title: 'T', readOnlyHint: true },
        _meta: { ui: { resourceUri: 'ui://x' } },
      },
      async (mcp) => mcp.tools(SOMEBODY).map(({ name }) => name),
    ))

  test('prompts, resources and templates', async () => {
    const described = { name: 'odd', title: 'Odd', description: 'D', icons: [{ src: 'x' }] }
    const argument = { name: 'x', description: 'X', required: true }
    await eachList('prompts', { ...described, arguments: [argument] }, async (mcp) =>
      (await mcp.prompts(SOMEBODY)).map(({ name }) => name),
    )
    const resource = { ...described, mimeType: 'text/plain', annotations: { priority: 1 } }
    await eachList('resources', { ...resource, uri: 'file:///odd', size: 5 }, async (mcp) =>
      (await mcp.resources(SOMEBODY)).map(({ uri }) => uri),
    )
    await eachList('templates', { ...resource, uriTemplate: 'file:///{odd}' }, async (mcp) =>
      (await mcp.resourceTemplates(SOMEBODY)).map(({ name }) => name),
    )
  })

  test('parts of a result', async () => {
    const forms = [
      { type: 'text', text: 'odd', annotations: { audience: ['user'] } },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource_link', uri: 'file:///x', name: 'x', title: 'X', size: 5 },
      { type: 'resource', resource: { uri: 'file:///x', text: 'x', mimeType: 'text/plain' } },
    ]
    const server = await startScriptedMcpServer({
      tools: [{ name: 'odd', inputSchema: { type: 'object' } }],
      call: (_name, input) => {
        const form = forms[Number(Object(input).form)]
        const odd = flatCopies(form)
        const said = (words: string) => ({ type: 'text', text: words })
        return { content: [said('the first'), ...odd, said('the last')] }
      },
    })
    const { tools, connected } = start({ odd: { url: server.url } })
    await connected('odd')
    for (const form of forms.keys())
      expect(await call(tools.get('mcp__odd__odd'), { form })).toMatchObject({
        success: true,
        data: expect.stringMatching(/^the first[\s\S]*the last$/),
      })
  })
})

describe('parts of what programs send', () => {
  const wishes = {
    waitsForApproval: false,
    isRepeatable: false,
    tools: undefined,
    retries: undefined,
  }
  const upload = async () => FileId.parse('018f0000-0000-7000-8000-000000000002')
  const model = 'nanoclaw/m'
  const apis: [
    string,
    readonly unknown[],
    (part: unknown) => unknown,
    (body: unknown) => Promise<unknown>,
  ][] = [
    [
      'chat completions',
      [
        { type: 'text', text: 'T' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
        { type: 'file', file: { filename: 'a.txt', file_data: 'QQ==' } },
      ],
      (part) => ({
        model,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Q' }, part] }],
      }),
      async (body) => await readChatRequest(ChatCompletionBody.parse(body), wishes, upload),
    ],
    [
      'responses',
      [
        { type: 'input_text', text: 'T' },
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
        { type: 'input_file', filename: 'a.txt', file_data: 'QQ==' },
      ],
      (part) => ({
        model,
        input: [{ role: 'user', content: [{ type: 'input_text', text: 'Q' }, part] }],
      }),
      async (given) => {
        const body = ResponseBody.parse(given)
        const entries = await withStoredFiles(
          await entriesOfInput(body.input, async () => []),
          upload,
        )
        return readResponseRequest(body, entries, wishes)
      },
    ],
    [
      'the Messages API',
      [
        { type: 'text', text: 'T', cache_control: { type: 'ephemeral' } },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        {
          type: 'document',
          title: 'D',
          source: { type: 'base64', media_type: 'text/plain', data: 'QQ==' },
        },
      ],
      (part) => ({
        model,
        max_tokens: 5,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Q' }, part] }],
      }),
      async (body) => await readMessagesRequest(MessagesBody.parse(body), wishes, upload),
    ],
  ]
  test.each(apis)('of %s are read, left out or refused', async (_name, parts, body, read) => {
    const problems: string[] = []
    for (const part of parts) {
      await read(body(part))
      for (const { what, element } of brokenCopies(part))
        await read(body(element)).then(
          (request) => {
            if (!text(request).includes('"Q')) problems.push(`${what}: lost the question`)
          },
          (error: unknown) => {
            const isRefused =
              error instanceof AppError ? error.status < 500 : error instanceof z.ZodError
            if (!isRefused) problems.push(`${what}: ${error}`.slice(0, 200))
          },
        )
    }
    expect(problems).toEqual([])
  })
})

test('figures of a weather forecast', async () => {
  let forecast: unknown = {}
  let isForecast = false
  const fetch = answering(() => {
    const city = { results: [{ name: 'Oslo', latitude: 1, longitude: 2 }] }
    isForecast = !isForecast
    return json(isForecast ? city : forecast)
  })
  const urls = { geocodingUrl: 'http://127.0.0.1:1', forecastUrl: 'http://127.0.0.1:1' }
  const tool = createWeatherTool({ provider: 'open-meteo', ...urls }, fetch)
  const whole = {
    timezone: 'Europe/Oslo',
    current: { time: 't', temperature_2m: 3, relative_humidity_2m: 50, weather_code: 0 },
    daily: { time: ['d1', 'd2'], weather_code: [0, 1], temperature_2m_max: [5, 6] },
  }
  const needed = /^(the element|current|current\.time|current\.temperature_2m):/
  for (const { what, element } of brokenCopies(whole)) {
    forecast = element
    const result = await runTool(tool, { city: 'Oslo' })
    if (!result.success) expect(result.error).toMatch(/could not be read/)
    expect([what, result.success || needed.test(what)]).toEqual([what, true])
  }
})

test('skills of a folder', async () => {
  const root = await mkdtemp(join(tmpdir(), 'nanoclaw-skills-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const skill = async (name: string, fields: unknown): Promise<void> => {
    await mkdir(join(root, name))
    const head = Object.entries(Object(fields)).map(([key, value]) => `${key}: ${text(value)}`)
    await writeFile(join(root, name, 'SKILL.md'), `---\n${head.join('\n')}\n---\nDo it.`)
  }
  const fields = (name: string) => ({
    name,
    description: 'Does something.',
    license: 'MIT',
    compatibility: 'any',
    metadata: { author: 'ann' },
    'allowed-tools': ['file_read', 'exec'],
    'disable-model-invocation': false,
    'user-invocable': true,
  })
  await skill('a-good', fields('a-good'))
  await skill('z-good', fields('z-good'))
  let count = 0
  for (const { element } of brokenCopies(fields('odd'))) {
    await skill(`odd-${count}`, element)
    count += 1
  }
  await mkdir(join(root, 'odd-folder', 'SKILL.md'), { recursive: true })
  await writeFile(join(root, 'odd-file'), 'no folder')
  const found = await createSkillFolders().list(root, '')
  const valid = found.filter(({ read }) => read.ok).map(({ folder }) => folder)
  expect(valid).toEqual(['a-good', 'z-good'])
  // Each odd one is named, with what is wrong.
  expect(found).toHaveLength(count + 2)
  for (const { read } of found) if (!read.ok) expect(read.error).not.toBe('')
})
