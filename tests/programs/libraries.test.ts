// Real libraries, installed at pinned versions, ask the server as programs that use them would, with a scripted model.
// `npm run test:programs`; not part of the other commands, because it installs some hundred megabytes from the registry.
import { execFile } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { UpstreamRequest } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useUpstream } from '../support/provider/use-upstream.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

/** The packages of each library, as docs/api.md names them. Each is installed apart: they need different versions of others. */
const LIBRARIES = {
  'openai-agents': { '@openai/agents': '0.20.0', zod: '4.6.7' },
  instructor: { '@instructor-ai/instructor': '1.7.0', openai: '4.104.0', zod: '3.25.76' },
  llamaindex: { llamaindex: '0.12.1', '@llamaindex/openai': '0.4.23', zod: '4.6.7' },
  'tanstack-ai': { '@tanstack/ai': '0.58.0', '@tanstack/ai-openai': '0.23.1', zod: '4.6.7' },
  anthropic: { '@anthropic-ai/sdk': '1.14.0', zod: '4.6.7' },
} as const
type Library = keyof typeof LIBRARIES

/** Both APIs where a library has them; and the modes of Instructor, which has nothing but objects. */
const VARIANTS: readonly [library: Library, variant: string][] = [
  ['openai-agents', 'responses'],
  ['openai-agents', 'chat_completions'],
  ['tanstack-ai', 'responses'],
  ['tanstack-ai', 'chat_completions'],
  ['llamaindex', ''],
  ['anthropic', ''],
]
const MODES = ['TOOLS', 'JSON', 'MD_JSON', 'JSON_SCHEMA', 'THINKING_MD_JSON']

const Outcome = z.object({
  text: z.string().optional(),
  pieces: z.number().optional(),
  object: z.unknown().optional(),
  error: z.string().optional(),
})

const PERSON = { name: 'Ada', age: 36 }
const TOO_LONG = "This model's maximum context length is 8192 tokens, your messages have 9000."
const OfferedTools = z
  .array(
    z.object({
      function: z.object({
        name: z.string(),
        parameters: z.object({ properties: z.record(z.string(), z.unknown()).optional() }),
      }),
    }),
  )
  .default([])

/** A model that calls the program's tool once, and gives an object through the tool that stands for it, if there is one. */
function playModel({ messages, body }: UpstreamRequest) {
  const tools = OfferedTools.parse(body.tools).map((tool) => tool.function)
  const last = messages.at(-1)
  const forObject = tools.find(({ parameters }) => parameters.properties?.age !== undefined)
  if (forObject !== undefined) return turn.toolCalls([{ name: forObject.name, arguments: PERSON }])
  if (JSON.stringify(messages).includes('Who is it?')) return turn.text(JSON.stringify(PERSON))
  if (last?.role === 'tool') return turn.text(`It is ${JSON.stringify(last.content)}.`)
  const thermometer = tools.find(({ name }) => name === 'thermometer')
  return thermometer === undefined
    ? turn.text(`Answer ${messages.filter(({ role }) => role === 'user').length}.`)
    : turn.toolCalls([{ name: thermometer.name, arguments: { room: 'hall' } }])
}

describe.runIf(process.env.PROGRAMS === '1')('a real library', () => {
  const installed = join(tmpdir(), 'nanoclaw-libraries')
  let server: TestServer
  let upstream: Awaited<ReturnType<typeof useUpstream>>
  const { start } = useServers()
  const opened = useUpstream()

  beforeAll(async () => {
    upstream = await opened
    for (const [name, dependencies] of Object.entries(LIBRARIES)) {
      const folder = join(installed, name)
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'package.json'), JSON.stringify({ dependencies }))
      await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder })
      await cp(resolve('tests/programs/libraries'), folder, { recursive: true })
    }
    server = await start({
      config: {
        models: [{ id: 'scripted', api_url: upstream.url, context_window: 200_000 }],
        titles: 'off',
      },
    })
  })

  beforeEach(() => upstream.reset())

  async function run(library: Library, variant: string, scenario: string, question = 'Hello') {
    const before = upstream.requests.length
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [`${library}.mjs`, scenario, question],
      {
        cwd: join(installed, library),
        env: {
          PATH: process.env.PATH,
          NANOCLAW_URL: server.url,
          NANOCLAW_API: variant,
          NANOCLAW_MODE: variant,
        },
      },
    )
    const outcome = Outcome.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''))
    return { ...outcome, requests: upstream.requests.length - before }
  }

  describe.each(VARIANTS)('%s (%s)', (library, variant) => {
    const act = (scenario: string, question?: string) => run(library, variant, scenario, question)

    test('gets a text, and a second one in the same conversation', async () => {
      upstream.program(playModel)
      expect(await act('text')).toMatchObject({ text: 'Answer 1.', requests: 1 })
      expect(await act('rounds')).toMatchObject({ text: 'Answer 2.', requests: 2 })
    })

    test('runs its own tool, and offers no tool of the server', async () => {
      upstream.program(playModel)
      const { text, requests } = await act('tool')
      expect(text).toContain('21 °C in the hall')
      expect(requests).toBe(2)
      const offered = OfferedTools.parse(upstream.requests.at(-1)?.body.tools)
      expect(offered.map((tool) => tool.function.name)).toEqual(['thermometer'])
    })

    test('gets a text in pieces', async () => {
      upstream.program(() => turn.text('One two three four five six.', { delayMs: 40 }))
      const { text, pieces } = await act('stream')
      expect(text).toBe('One two three four five six.')
      expect(pieces).toBeGreaterThan(1)
    })

    test('ends the call of the model when it cancels', async () => {
      upstream.program(() => turn.cut(turn.text('Begun, but never ended.'), 3, 'stall'))
      expect((await act('cancel')).text).toContain('Begun')
      expect(await upstream.requests.at(-1)?.closed).toBe('client_left')
    })

    test('gets an object', async () => {
      upstream.program(playModel)
      expect(await act('object', 'Who is it?')).toMatchObject({ object: PERSON, requests: 1 })
    })

    test('says why a request is refused, which the provider gets once', async () => {
      upstream.program(() => turn.error(400, 'The field x is unknown.'))
      const refused = await act('text')
      expect(refused.error).toContain('The field x is unknown.')
      expect(refused.requests).toBe(1)
      upstream.reset()
      upstream.program(() => turn.error(400, TOO_LONG))
      const long = await act('text')
      expect(long.error).toContain('too long')
      expect(long.requests).toBe(1)
    })

    test('asks a broken provider at most four times', async () => {
      upstream.program(() => turn.error(500, 'The provider is broken.'))
      const { error, requests } = await act('text', `Break ${library} ${variant}`)
      expect(error).toContain('The provider is broken.')
      expect(requests).toBeLessThanOrEqual(4)
    })
  })

  test.each(MODES)(
    'instructor gets an object in its mode %s, whole and in pieces',
    async (mode) => {
      upstream.program(playModel)
      expect(await run('instructor', mode, 'object', 'Who is it?')).toMatchObject({
        object: PERSON,
        requests: 1,
      })
      expect(await run('instructor', mode, 'stream', 'Who is it?')).toMatchObject({
        object: PERSON,
      })
      upstream.reset()
      upstream.program(() => turn.error(500, 'The provider is broken.'))
      expect((await run('instructor', mode, 'object', 'Break.')).requests).toBeLessThanOrEqual(4)
    },
  )

  test('instructor says that its mode FUNCTIONS needs fields that the server refuses', async () => {
    const { error } = await run('instructor', 'FUNCTIONS', 'object')
    expect(error).toContain('use `tools`')
  })
})
