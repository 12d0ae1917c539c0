// A message with the skill for research: its instructions go with it, and its run has limits of its own.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { builtInSkills } from '../../../server/skills/built-in.ts'
import { readSkillText } from '../../../server/skills/front-matter.ts'
import {
  startUpstream,
  type Upstream,
  type UpstreamRequest,
} from '../../support/provider/upstream.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(() => upstream.close())
beforeEach(() => upstream.reset())

const research = readSkillText(
  await readFile(join(builtInSkills(), 'research', 'SKILL.md')),
  'research',
)
const instructions = research.ok ? research.body : 'missing'
const configuration = (more: Record<string, unknown>) => ({
  models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key' }],
  titles: 'off',
  ...more,
})

/** The text of the user messages of a request, in order. */
const questionsIn = ({ messages }: UpstreamRequest): string[] =>
  messages
    .filter(({ role }) => role === 'user')
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)))

/** Creates a conversation. @returns how to send to it; each send resolves to the last event. */
async function converse(server: TestServer) {
  const { json } = await server.call('POST', '/api/conversations', { body: {} })
  const path = `/api/conversations/${json.data.id}/messages`
  return {
    path,
    async send(text: string, more: Record<string, unknown> = {}) {
      const events = await (await openEvents(server.url + path, { body: { text, ...more } })).all()
      return events.at(-1)
    },
  }
}

/** Models call a tool whenever they have one, so that only a limit ends an answer. @returns the requests of each agent. */
function callsForever() {
  const requests = { main: 0, sub: 0 }
  upstream.program((request) => {
    const isSub = questionsIn(request).some((text) => text.includes('PART OF THE QUESTION'))
    requests[isSub ? 'sub' : 'main'] += 1
    const number = requests.main + requests.sub
    if (!Array.isArray(request.body.tools) || request.body.tools.length === 0)
      return turn.text('That is all.')
    if (!isSub && requests.main === 1)
      return turn.toolCalls([
        {
          name: 'multi_agent',
          arguments: { tasks: [{ name: 'part', instruction: 'PART OF THE QUESTION' }] },
        },
      ])
    return turn.toolCalls([{ name: 'calculator', arguments: { expression: `${number} + 1` } }])
  })
  return requests
}

describeOnEachServer('a message with the skill for research', (start) => {
  test('brings the instructions of the skill with this message, also in later requests, and with no other', async () => {
    const { send } = await converse(await start(configuration({})))
    const before = upstream.requests.length
    upstream.enqueue(turn.text('One.'), turn.text('Two.'), turn.text('Three.'))
    await send('Who built the bridge?', { skills: ['research', 'research'] })
    await send('And when?')
    await send('Why?', { skills: [] })
    const [first, second, third] = upstream.requests.slice(before).map(questionsIn)
    expect(instructions).toContain('`cite`')
    expect(first).toHaveLength(1)
    expect(first?.[0]?.split(instructions)).toHaveLength(2)
    expect(first?.[0]).toMatch(/Who built the bridge\?$/)
    expect(second?.slice(0, 1)).toEqual(first)
    expect(second?.[1]).not.toContain(instructions)
    expect(third?.slice(0, 2)).toEqual(second)
    expect(third?.[2]).not.toContain(instructions)
  })

  test('has the iterations of research, for itself and its sub-agents; other messages have those of the server', async () => {
    const server = await start(
      configuration({
        max_iterations: 2,
        sub_agent: { max_iterations: 1 },
        research: { max_iterations: 4, sub_agent: { max_iterations: 3 } },
      }),
    )
    const research = callsForever()
    const { path, send } = await converse(server)
    const ended = await send('Research.', { skills: ['research'] })
    expect(ended?.data).toMatchObject({ finish_reason: 'max_iterations' })
    // The last one of a run, without tools, comes on top.
    expect(research).toEqual({ main: 5, sub: 3 })
    // As many again when a person lets it go on.
    const runId = (await server.call('GET', path)).json.data.items.at(-1).run_id
    expect((await server.call('POST', `/api/runs/${runId}/resume`)).status).toBe(200)
    await (await openEvents(`${server.url}/api/runs/${runId}/events`)).all()
    expect(research.main).toBe(10)

    upstream.reset()
    const usual = callsForever()
    await (await converse(server)).send('Look it up.')
    expect(usual).toEqual({ main: 3, sub: 1 })
  })

  test('has the minutes of research', async () => {
    const server = await start(
      configuration({ limits: { run_minutes: 60 }, research: { minutes: 0.01 } }),
    )
    upstream.program(() => turn.raw([{ finish: 'stall' }]))
    const { send } = await converse(server)
    const ended = await send('Research.', { skills: ['research'] })
    expect(ended?.data).toMatchObject({
      finish_reason: 'budget',
      limit: { reason: 'run_minutes_used_up', params: { limit: 0.01 } },
    })
  })

  test('and its sub-agents have the seconds of research', async () => {
    const server = await start(
      configuration({
        sub_agent: { timeout: 3_600 },
        research: { sub_agent: { timeout: 0.5 } },
      }),
    )
    upstream.program((request) =>
      questionsIn(request).some((text) => text.includes('PART OF THE QUESTION'))
        ? turn.raw([{ finish: 'stall' }])
        : undefined,
    )
    upstream.enqueue(
      turn.toolCalls([
        {
          name: 'multi_agent',
          arguments: { tasks: [{ name: 'part', instruction: 'PART OF THE QUESTION' }] },
        },
      ]),
      turn.text('Without it, then.'),
    )
    const { send } = await converse(server)
    expect((await send('Research.', { skills: ['research'] }))?.data).toMatchObject({
      finish_reason: 'stop',
    })
    upstream.expectDone()
  })

  test('is refused with an unknown skill, and then nothing is stored', async () => {
    const server = await start(configuration({}))
    const { path } = await converse(server)
    const before = upstream.requests.length
    const refused = await server.call('POST', path, {
      body: { text: 'Hello', skills: ['research', 'magic'], stream: false },
    })
    expect(refused).toMatchObject({
      status: 400,
      json: { error: 'skill_unknown', details: { name: 'magic' } },
    })
    const many = await server.call('POST', path, {
      body: { text: 'Hello', skills: ['a', 'b', 'c', 'd', 'e', 'f'], stream: false },
    })
    expect(many).toMatchObject({ status: 400, json: { error: 'validation_failed' } })
    for (const name of ['', '../research', 'toString'])
      expect(
        (await server.call('POST', path, { body: { text: 'Hello', skills: [name] } })).status,
      ).toBe(400)
    expect((await server.call('GET', path)).json.data.items).toEqual([])
    expect(upstream.requests).toHaveLength(before)
  })
})
