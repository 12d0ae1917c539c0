// The largest requests that the limits allow: none holds the event loop for long, so that nobody else waits for them.
import { request } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { longestTurn, slowness } from '../../support/event-loop.ts'
import { eventually } from '../../support/eventually.ts'
import { scripted } from '../../support/provider/scripted.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { randomFrom, SEED } from '../../support/random.ts'
import {
  register,
  TEST_JWT_SECRET,
  type TestServer,
  useServers,
} from '../../support/server/server.ts'

/**
 * CPU time of the main thread, in milliseconds, on a machine of ordinary speed; a slower one, or one that is slowed down by
 * others, gets more in proportion (`slowness`). Client and provider of the tests run in the same thread.
 */
const LIMIT_MS = 50
/** The smallest of several: a collection of garbage or a busy machine may prolong one. */
const ATTEMPTS = 6
/** The long form sends also what differs from another test in its kind of contents, not in the code that it passes. */
const isFull = process.env.FAULTS === 'full'
/** Results of tools in one request of nearly 10 MB. */
const RESULTS = 40

const settings = {
  title: 'long',
  model: null,
  system_prompt: null,
  temperature: null,
  max_tokens: null,
  thinking_enabled: false,
  pinned: false,
  archived: false,
  tags: [],
  leaf_id: 'm-1',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
}
const message = (at: number, parent: string | null, more: object = {}) => ({
  id: `m-${at}`,
  parent_id: parent,
  role: 'user',
  text: `text ${at}`,
  token_count: 0,
  model: null,
  status: 'completed',
  error: null,
  created_at: '2026-01-01T00:00:00.000Z',
  attachments: [],
  steps: [],
  ...more,
})
const conversation = (messages: object[]) =>
  JSON.stringify({ format: 'nanoclaw', version: 1, conversation: settings, messages })
const stepsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `step-${index}`,
    index,
    type: 'text',
    content: `step ${index} of a long answer`,
  }))

/** Routes that the reference does not contain. */
const HIDDEN_READS = ['/openapi.json', '/metrics', '/mcp']

const upstream = await useUpstream()
const random = randomFrom(SEED)

const Schema = z.object({
  $ref: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
})
const Operation = z.object({
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: Schema })) }).optional(),
})
const Reference = z.object({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), Schema) }),
})

describe(`the largest requests (SEED=${SEED})`, () => {
  const { start } = useServers()
  let server: TestServer
  let token: string
  beforeAll(async () => {
    const { models, ...config } = scripted(upstream)
    const gemini = { id: 'gemini', api_url: `${upstream.url}/v1beta/openai`, api_key: 'test-key' }
    server = await start({
      config: {
        auth_mode: 'multi',
        jwt_secret: TEST_JWT_SECRET,
        registration: 'open',
        ...config,
        models: [...z.array(z.unknown()).parse(models), gemini],
      },
    })
    token = await register(server, 'longwinded')
  })

  /** Sends prepared bytes and drops the response, so that the client hardly takes part in the measurement. */
  const send = (
    method: string,
    path: string,
    body?: string | readonly Buffer[],
    headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
  ) => {
    const pieces = typeof body === 'string' ? [Buffer.from(body)] : body
    const length = pieces?.reduce((sum, piece) => sum + piece.length, 0)
    return () =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        const sent = request(
          server.url + path,
          {
            method,
            headers: {
              authorization: `Bearer ${token}`,
              ...(length === undefined ? {} : { ...headers, 'content-length': length }),
            },
          },
          (response) => {
            let text = ''
            response.on('data', (chunk: Buffer) => {
              if (text.length < 1_000) text += chunk.toString()
            })
            response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
          },
        )
        sent.on('error', reject)
        for (const piece of pieces ?? []) sent.write(piece)
        sent.end()
      })
  }

  async function expectShort(
    work: () => Promise<{ status: number; text: string }>,
    status = 200,
    after: () => Promise<void> = async () => {},
  ): Promise<void> {
    const turns: number[] = []
    while (turns.length < ATTEMPTS && turns.every((ms) => ms > LIMIT_MS)) {
      const ms = await longestTurn(async () => {
        const response = await work()
        expect(response.status, response.text).toBe(status)
        await after()
      })
      turns.push(ms > LIMIT_MS ? ms / slowness() : ms)
    }
    expect(Math.min(...turns), `of ${turns}`).toBeLessThanOrEqual(LIMIT_MS)
  }

  const imported = async (messages: object[]): Promise<string> => {
    const path = '/api/conversations/import'
    const { status, json } = await server.call('POST', path, {
      body: conversation(messages),
      token,
    })
    expect(status).toBe(200)
    return json.data.id
  }
  const fromOne = (count: number) => [
    message(0, null),
    ...Array.from({ length: count }, (_, at) => message(at + 1, 'm-0', { role: 'assistant' })),
  ]

  test('an import of 22,000 messages is parsed, checked and stored in short turns', async () => {
    const body = conversation(
      Array.from({ length: 22_000 }, (_, at) => message(at, at === 0 ? null : `m-${at - 1}`)),
    )
    await expectShort(send('POST', '/api/conversations/import', body))
  })

  test.runIf(isFull)(
    'an import near the largest allowed body is stored in short turns, of many short messages as of few long ones',
    async () => {
      const short = conversation(
        Array.from({ length: 46_000 }, (_, at) => message(at, at === 0 ? null : `m-${at - 1}`)),
      )
      const long = conversation(
        Array.from({ length: 24 }, (_, at) =>
          message(at, at === 0 ? null : `m-${at - 1}`, { text: 'é long '.repeat(50_000) }),
        ),
      )
      for (const body of [short, long]) {
        // The limit is 10 MB.
        expect(Buffer.byteLength(body)).toBeGreaterThan(9_000_000)
        await expectShort(send('POST', '/api/conversations/import', body))
      }
    },
    240_000,
  )

  test('an import of one message with 2,000 steps is stored in short turns', async () => {
    const body = conversation([
      message(0, null),
      message(1, 'm-0', { role: 'assistant', steps: stepsOf(2_000) }),
    ])
    await expectShort(send('POST', '/api/conversations/import', body))
  })

  test('exports of thousands of answers to one question are written in short turns', async () => {
    const id = await imported(fromOne(4_000))
    await expectShort(send('GET', `/api/conversations/${id}/export?format=json`))
    await expectShort(
      send('POST', '/api/exports', JSON.stringify({ conversation_ids: [id] })),
      200,
      () =>
        eventually(async () => {
          const { text } = await send('GET', '/api/exports')()
          expect(text).not.toMatch(/queued|running/)
        }),
    )
  })

  test.runIf(isFull)(
    'continuing a shared answer of thousands of steps stores it in short turns',
    async () => {
      const id = await imported([
        message(0, null),
        message(1, 'm-0', { role: 'assistant', steps: stepsOf(2_000) }),
      ])
      const share = `/api/conversations/${id}/share`
      await expectShort(send('POST', share, '{}'))
      const { json } = await server.call('POST', share, { body: {}, token })
      await expectShort(send('POST', `/api/shared/${json.data.token}/continue`, '{}'))
    },
  )

  test('a body of 400,000 unknown keys is refused in short turns and changes nothing', async () => {
    const keys = Array.from({ length: 400_000 }, (_, at) => `"unknown_${at}":1`).join(',')
    await expectShort(send('POST', '/v1/chat/completions', `{"model":"nanoclaw",${keys}}`), 400)
    await expectShort(send('POST', '/api/conversations', `{${keys}}`), 400)
    await expectShort(send('POST', '/api/conversations/import', `{${keys}}`), 400)
  })

  test.each([
    ['a long name', `"${'x'.repeat(300)}"`],
    ['a name after much space', `${' '.repeat(600)}"messages"`],
  ])('a body with a million values under %s is refused in short turns', async (_what, name) => {
    const body = `{"version":1,${name}:[${'{},'.repeat(1_000_000)}{}]}`
    const refused = send('POST', '/api/conversations/import', body)
    await expectShort(refused, 400)
    expect((await refused()).text).toContain('json_too_many_values')
  })

  test('a long text under a long name is read like any other field', async () => {
    const messages = Array.from({ length: 10_000 }, (_, at) =>
      message(at, at === 0 ? null : `m-${at - 1}`),
    )
    const body = conversation(messages).replace(
      '{',
      `{"${'x'.repeat(300)}":"${'y'.repeat(100_000)}",`,
    )
    const plain = conversation(messages).replace('{', '{"x":"y",')
    const path = '/api/conversations/import'
    expect((await send('POST', path, body)()).status).toBe(
      (await send('POST', path, plain)()).status,
    )
  })

  const asked = (path: string, body: object, model = 'nanoclaw/scripted') => {
    const request = send('POST', path, JSON.stringify({ model, ...body }))
    return () => {
      upstream.enqueue(turn.text('Done.'))
      return request()
    }
  }
  const ask = { role: 'user', content: 'Go on' }
  const called = (at: number) => ({
    id: `call_${at}`,
    type: 'function',
    function: { name: 'look_up', arguments: JSON.stringify({ place: `place ${at}` }) },
  })

  test('a program that sends 2,000 messages is answered in short turns', async () => {
    const past = Array.from({ length: 1_999 }, (_, at) => ({
      role: at % 2 === 0 ? 'user' : 'assistant',
      content: `message ${at} of a long conversation`,
    }))
    await expectShort(asked('/v1/chat/completions', { messages: [...past, ask] }))
    const input = [...past, ask]
    await expectShort(asked('/v1/responses', { input }))
  })

  test.runIf(isFull)(
    'a program that sends 950 tool calls with their results is answered in short turns',
    async () => {
      const past = Array.from({ length: 950 }, (_, at) => [
        { role: 'assistant', content: null, tool_calls: [called(at)] },
        { role: 'tool', tool_call_id: `call_${at}`, content: `result ${at}` },
      ]).flat()
      await expectShort(asked('/v1/chat/completions', { messages: [ask, ...past, ask] }))
    },
  )

  test('a program that brings 128 tools with large schemas is answered in short turns', async () => {
    const tools = Array.from({ length: 128 }, (_, at) => ({
      type: 'function',
      function: {
        name: `tool_${at}`,
        description: `Does the ${at}th thing. ${'It does it well. '.repeat(50)}`,
        parameters: {
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: 60 }, (_, field) => [
              `field_${field}`,
              { type: 'string', description: `The ${field}th field of the ${at}th tool` },
            ]),
          ),
        },
      },
    }))
    for (const model of ['nanoclaw/scripted', 'nanoclaw/gemini'])
      await expectShort(asked('/v1/chat/completions', { messages: [ask], tools }, model))
    const flat = tools.map(({ function: own }) => ({ type: 'function', ...own }))
    await expectShort(asked('/v1/responses', { input: 'Go on', tools: flat }))
  })

  const object = (properties: object, more: object = {}) => ({
    type: 'object',
    properties,
    ...more,
  })
  const times = (count: number, value: (at: number) => unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`field_${at}`, value(at)]))
  /** Each definition refers to the next one several times, so that their number multiplies where references are resolved. */
  const multiplying = object(
    times(20, (at) => ({ $ref: `#/$defs/field_${at}` })),
    {
      $defs: times(20, (at) =>
        object(
          times(6, () => (at < 19 ? { $ref: `#/$defs/field_${at + 1}` } : { type: 'string' })),
        ),
      ),
    },
  )
  const wide = object(times(10_000, () => ({ type: 'string' })))
  const parts = (count: number, value: (at: number) => object) =>
    Array.from({ length: count }, (_, at) => value(at))
  const hostile: readonly [what: string, schemas: object[]][] = [
    ['refer to each other', Array.from({ length: 128 }, () => multiplying)],
    [
      'combine a large schema hundreds of times',
      [{ type: 'object', $defs: { wide }, allOf: parts(400, () => ({ $ref: '#/$defs/wide' })) }],
    ],
    [
      'combine thousands of schemas',
      [{ type: 'object', allOf: parts(4_000, (at) => ({ required: [`a_${at}`, `b_${at}`] })) }],
    ],
    [
      'combine schemas on many levels',
      [
        object({
          nested: Array.from({ length: 22 }).reduce<object>(
            (inner) => ({ type: 'object', allOf: [inner, object(times(500, () => ({})))] }),
            wide,
          ),
        }),
      ],
    ],
    [
      'have a long reference',
      [
        object(
          times(2_000, () => ({ $ref: '#/$defs/long' })),
          { $defs: { long: { $ref: `#/${'a/'.repeat(200_000)}` } } },
        ),
      ],
    ],
  ]
  test.each(isFull ? hostile : hostile.slice(0, 2))(
    'a program whose tools %s is answered in short turns',
    async (_what, schemas) => {
      const tools = schemas.map((parameters, at) => ({
        type: 'function',
        function: { name: `tool_${at}`, description: 'Does something', parameters },
      }))
      for (const model of ['nanoclaw/scripted', 'nanoclaw/gemini'])
        await expectShort(asked('/v1/chat/completions', { messages: [ask], tools }, model))
    },
  )

  test('results of tools with many values are imported, exported and read in short turns', async () => {
    // Nearly as many values as one artifact may have, in nearly as many results as a request may have bytes.
    const values = Array.from({ length: 15_000 }, (_, at) => ({ at }))
    const steps = Array.from({ length: RESULTS }, (_, at) => [
      { id: `step-${2 * at}`, index: 2 * at, type: 'tool_call', id_ref: `c${at}`, name: 'list' },
      {
        id: `step-${2 * at + 1}`,
        index: 2 * at + 1,
        type: 'tool_result',
        id_ref: `c${at}`,
        name: 'list',
        content: 'Listed.',
        skipped: false,
        artifact: { display: 'Listed', values },
      },
    ])
      .flat()
      .map((step) => (step.type === 'tool_call' ? { ...step, arguments: '{}' } : step))
    const messages = [message(0, null), message(1, 'm-0', { role: 'assistant', steps })]
    await expectShort(send('POST', '/api/conversations/import', conversation(messages)))
    const path = `/api/conversations/${await imported(messages)}`
    await expectShort(send('GET', `${path}/export?format=json`))
    await expectShort(send('GET', `${path}/messages`))
    await expectShort(send('GET', `${path}/export?format=html`))
    await expectShort(send('POST', `${path}/share`, JSON.stringify({ include: ['tools'] })))
    const { json } = await server.call('GET', path, { token })
    const answer = `${path}/messages/${json.data.leaf_id}`
    await expectShort(send('GET', answer))
    await expectShort(send('POST', `${answer}/revisions`, JSON.stringify({ text: 'Better' })))
    await expectShort(
      asked(`${path}/messages`, { text: 'And now?', stream: false, model: 'scripted' }),
    )
    const { json: read } = await server.call('GET', `${path}/messages?limit=1`, { token })
    expect(read.data.items).toHaveLength(1)
  })

  test('a page of a conversation with 4,000 answers to one question is read in short turns', async () => {
    const id = await imported(fromOne(4_000))
    await expectShort(send('GET', `/api/conversations/${id}/messages`))
    await expectShort(send('GET', `/api/conversations/${id}`))
  })

  const BOUNDARY = `----${'boundary'.repeat(8)}`
  /** A multipart body of fields and files; the files of one list have one field. */
  const multipart = (parts: readonly (readonly [string, string | Buffer, string?])[]): Buffer =>
    Buffer.concat([
      ...parts.flatMap(([field, content, file]) => [
        Buffer.from(
          `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"${file === undefined ? '' : `; filename="${file}"\r\nContent-Type: application/octet-stream`}\r\n\r\n`,
        ),
        typeof content === 'string' ? Buffer.from(content) : content,
        Buffer.from('\r\n'),
      ]),
    ])
  /** @param first parts that are new in each request. */
  const upload = (
    path: string,
    parts: Parameters<typeof multipart>[0],
    key?: () => string,
    first: () => Parameters<typeof multipart>[0] = () => [],
  ) => {
    const rest = [multipart(parts), Buffer.from(`--${BOUNDARY}--\r\n`)]
    return () =>
      send('POST', path, [multipart(first()), ...rest], {
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
        ...(key === undefined ? {} : { 'idempotency-key': key() }),
      })()
  }
  const fields = Array.from({ length: 19 }, (_, at) => [`field_${at}`, 'x'.repeat(10_000)] as const)
  /** Nearly boundaries, again and again. */
  const nearBoundaries = Buffer.from(`\r\n--${BOUNDARY.slice(0, -1)}`.repeat(100_000))
  const prose = 'Всё течёт, всё изменяется. Everything flows.\n'.repeat(160_000)
  const commas = Buffer.from('a,"b",3\n'.repeat(1_000_000))
  const newKey = () => `key-${Math.random()}`
  /** Waits until nothing that an upload has started goes on. */
  const untilRead = (path: string) => () =>
    eventually(async () => {
      const { text } = await send('GET', path)()
      expect(text).not.toMatch(/queued|running|pending|processing/)
    })

  const uploads: readonly [what: string, name: string, content: Buffer][] = [
    ['a long text in two scripts', 'text.txt', Buffer.from(prose)],
    ['a long text in an older encoding', 'text.txt', Buffer.from(prose.slice(0, 5e6), 'latin1')],
    ['a long table', 'table.csv', commas],
    ['bytes that are nearly boundaries', 'data.bin', nearBoundaries],
    ['bytes of no known type', 'data', Buffer.alloc(19_000_000, 7)],
    ['a page of many elements', 'page.html', Buffer.from('<div>'.repeat(1_000_000))],
    ['JSON of many values', 'data.json', Buffer.from(`[${'{"a":[1]},'.repeat(500_000)}1]`)],
  ]
  test.each(isFull ? uploads : uploads.slice(0, 1))(
    'an uploaded file that is %s is received in short turns',
    async (_what, name, content) => {
      const parts = [...fields, ['file', content, name]] as const
      await expectAnswered(upload('/api/files', parts))
      await expectAnswered(upload('/api/files', parts, newKey))
    },
  )

  /** Whatever the answer is, but no failure of the server. */
  async function expectAnswered(
    work: () => Promise<{ status: number; text: string }>,
    after?: () => Promise<void>,
  ): Promise<void> {
    await expectShort(
      async () => {
        const { status, text } = await work()
        return { status: status < 500 ? 200 : status, text }
      },
      200,
      after,
    )
  }

  const newProject = async (): Promise<string> => {
    const body = { name: `p ${Math.random()}` }
    const { json } = await server.call('POST', '/api/projects', { body, token })
    return json.data.id
  }

  test('a folder of thousands of files and one with a large file become projects, or parts of one, in short turns', async () => {
    const many = Array.from(
      // As many as the limit allows take minutes on a busy machine, and each is treated alike.
      { length: isFull ? 3_000 : 1_000 },
      (_, at) =>
        [
          'files[]',
          `content ${at}`,
          `top/${'folder/'.repeat(8)}${at % 100}/file-${at}.txt`,
        ] as const,
    )
    const large = [
      ['files[]', nearBoundaries, 'top/near.bin'],
      ['files[]', Buffer.alloc(30_000_000, 7), 'top/large.bin'],
    ] as const
    for (const files of [many, large]) {
      const named = () => [['name', `uploaded ${Math.random()}`]] as const
      await expectShort(upload('/api/projects/upload', files, undefined, named))
      const id = await newProject()
      await expectShort(upload(`/api/projects/${id}/files`, files, newKey))
    }
  })

  test.runIf(isFull)('50 documents of a project are received and read in short turns', async () => {
    const id = await newProject()
    const path = `/api/projects/${id}/documents`
    const many = Array.from(
      { length: 50 },
      (_, at) => ['files[]', Buffer.from(`${at} ${prose.slice(0, 100_000)}`), `${at}.txt`] as const,
    )
    const large = [
      ['files[]', Buffer.from(prose), 'long.txt'],
      ['files[]', commas, 'table.csv'],
    ] as const
    for (const files of [many, large]) await expectAnswered(upload(path, files), untilRead(path))
  })

  test('an imported file is received, read and stored in short turns', async () => {
    const steps = Array.from({ length: 200 }, (_, at) => ({
      id: `step-${at}`,
      index: at,
      type: 'tool_result',
      id_ref: `c${at}`,
      name: 'list',
      content: 'Listed.',
      skipped: false,
      artifact: { display: 'Listed', values: Array.from({ length: 1_000 }, (_, n) => ({ n })) },
    }))
    const whole = conversation([message(0, null), message(1, 'm-0', { role: 'assistant', steps })])
    const many = conversation(
      Array.from({ length: 20_000 }, (_, at) => message(at, at === 0 ? null : `m-${at - 1}`)),
    )
    const chatGpt = JSON.stringify(
      Array.from({ length: 300 }, (_, at) => ({
        title: `Conversation ${at}`,
        create_time: 1_700_000_000,
        update_time: 1_700_000_000,
        conversation_id: `c-${at}`,
        current_node: 'n-29',
        mapping: Object.fromEntries(
          Array.from({ length: 30 }, (_, n) => [
            `n-${n}`,
            {
              id: `n-${n}`,
              parent: n === 0 ? null : `n-${n - 1}`,
              children: n === 29 ? [] : [`n-${n + 1}`],
              message: {
                id: `n-${n}`,
                author: { role: n % 2 === 0 ? 'user' : 'assistant' },
                create_time: 1_700_000_000 + n,
                content: { content_type: 'text', parts: [`text ${n} `.repeat(50)] },
              },
            },
          ]),
        ),
      })),
    )
    for (const [name, content] of [
      ['conversation.json', whole],
      ['conversation.json', many],
      ['conversations.json', chatGpt],
      ['unknown.bin', nearBoundaries],
    ] as const)
      await expectAnswered(
        upload('/api/imports', [...fields, ['file', Buffer.from(content), name]]),
        untilRead('/api/imports'),
      )
  })

  const reference = async () => {
    const headers = { authorization: `Bearer ${token}` }
    return Reference.parse(await (await fetch(`${server.url}/openapi.json`, { headers })).json())
  }

  test('every route that reads answers in short turns, whatever a user has stored', async () => {
    const large = await imported(fromOne(4_000))
    for (let at = 0; at < 150; at += 1) {
      const { json } = await server.call('POST', '/api/conversations', {
        body: { title: `Conversation ${at}`, system_prompt: 'x'.repeat(20_000) },
        token,
      })
      expect(json.code).toBe(0)
    }
    const { json: shared } = await server.call('POST', `/api/conversations/${large}/share`, {
      body: {},
      token,
    })
    const read = Object.entries((await reference()).paths).flatMap(([path, { get }]) =>
      // Streams do not end.
      get === undefined || path.endsWith('/events') ? [] : [path],
    )
    expect(read.length).toBeGreaterThan(60)
    for (const path of [...read, ...HIDDEN_READS, `/s/${shared.data.token}`]) {
      const own = path.replace(/^(\/api\/conversations\/)\{\w+\}/, `$1${large}`)
      const request = send('GET', own.replaceAll(/\{[\w*]+\}/g, 'x'))
      await expectShort(async () => {
        const { status, text } = await request()
        return { status: status < 500 ? 200 : status, text: `${path} ${text}` }
      })
    }
  })

  test('every route with a body answers the widest one in short turns, and the longest text', async () => {
    const { paths, components } = await reference()
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { requestBody }]) => {
        const schema = requestBody?.content['application/json']?.schema
        if (schema === undefined) return []
        const name = schema.$ref?.split('/').at(-1) ?? ''
        const { properties = {} } = components.schemas[name] ?? schema
        const fields = Object.keys(properties)
        return [{ method: method.toUpperCase(), path, fields }]
      }),
    )
    expect(routes.length).toBeGreaterThan(60)
    routes.push({ method: 'POST', path: '/mcp', fields: ['jsonrpc', 'id', 'method', 'params'] })
    // Each is checked by the same code: every run of the short form has others.
    for (const { method, path, fields } of isFull ? routes : random.shuffle(routes).slice(0, 40)) {
      const names = fields.length === 0 ? ['text'] : fields
      const wide = Array.from({ length: Math.floor(9_900 / names.length) }, () => ({ a: [1] }))
      // How a long text is parsed does not depend on the route.
      const long = path === '/api/memory' ? ['x'.repeat(9_000_000)] : []
      for (const value of [wide, ...long]) {
        const body = JSON.stringify(Object.fromEntries(names.map((name) => [name, value])))
        const request = send(method, path.replaceAll(/\{\w+\}/g, 'x'), body)
        const what = `${method} ${path} ${typeof value}`
        await expectShort(async () => {
          const { status, text } = await request()
          return { status: status < 500 ? 400 : status, text: `${what} ${text}` }
        }, 400)
      }
    }
  })

  test.each([
    ['PUT', '/api/memory', { content: 'x'.repeat(60_000) }],
    ['PATCH', '/api/preferences', { instructions: 'x'.repeat(20_000) }],
    ['POST', '/api/conversations', { system_prompt: 'x'.repeat(100_000) }],
    ['POST', '/api/exports', { conversation_ids: Array.from({ length: 10_000 }, () => 'x') }],
  ])('%s %s with its longest value is answered in short turns', async (method, path, body) => {
    const request = send(method, path, JSON.stringify(body))
    await expectShort(async () => {
      const { status, text } = await request()
      return { status: status < 500 ? 200 : status, text }
    })
  })
})
