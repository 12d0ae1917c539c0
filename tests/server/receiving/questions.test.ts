// Questions of tools in a chat: a form with one field is answered by the next message in the person's words, others by a link.
import { inputRequired, inputResponse } from '@modelcontextprotocol/server'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { startModernMcpServer } from '../../fixtures/mcp-modern-server.ts'
import { eventually } from '../../support/eventually.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { startBridge, type TestBridge } from '../../support/server/bridge.ts'
import { type TestServer, useServers } from '../../support/server/server.ts'
import { DIALECTS } from '../../support/store/dialects.ts'

const FORMS = {
  seats: { type: 'integer' as const, title: 'Seats', minimum: 1, maximum: 8 },
  area: { type: 'string' as const, title: 'Area', enum: ['inside', 'garden'] },
  agreed: { type: 'boolean' as const, title: 'Agreed' },
  note: { type: 'string' as const, title: 'Note', maxLength: 20 },
}
type About = keyof typeof FORMS
const ABOUT: readonly [About, ...About[]] = ['seats', 'area', 'agreed', 'note']

/** A server whose tool asks for one field, or for all of them, and keeps what it was answered. */
async function startAsking() {
  const answers: unknown[] = []
  const server = await startModernMcpServer((mcp) => {
    mcp.registerTool(
      'ask',
      { description: 'Asks', inputSchema: z.object({ about: z.enum([...ABOUT, 'all']) }) },
      async ({ about }, context) => {
        const answer = inputResponse(context.mcpReq.inputResponses, 'one')
        if (answer.kind === 'missing')
          return inputRequired({
            inputRequests: {
              one: inputRequired.elicit({
                message: `About ${about}?`,
                requestedSchema: {
                  type: 'object',
                  properties: about === 'all' ? FORMS : { [about]: FORMS[about] },
                  required: about === 'all' ? [] : [about],
                },
              }),
            },
          })
        answers.push(
          answer.kind === 'elicit' && answer.action === 'accept' ? answer.content : answer,
        )
        return { content: [{ type: 'text', text: 'Noted.' }] }
      },
    )
  })
  onTestFinished(() => server.close())
  return { ...server, answers }
}

const upstream = await useUpstream()
const { start } = useServers()
/** What the model does. */
const program: { current: Parameters<typeof upstream.program>[0] } = {
  current: () => turn.text('Thank you.'),
}
const ANN = { id: 'ann', name: 'Ann' }

describe.each(DIALECTS)('questions of tools in a chat on %s', (dialect) => {
  let server: TestServer
  let bridge: TestBridge
  let asking: Awaited<ReturnType<typeof startAsking>>
  let channel: { id: string; token: string }
  let count = 0
  beforeEach(async () => {
    upstream.program((request) => program.current(request))
    bridge = await startBridge()
    asking = await startAsking()
    server = await start({
      dialect,
      config: {
        models: [{ id: 'scripted', api_url: upstream.url }],
        titles: 'off',
        network: { allow_private: ['127.0.0.1'] },
        public_url: 'http://chat.example.org',
        mcp_servers: { table: { url: asking.url } },
      },
    })
    await eventually(async () => {
      const { servers } = (await server.call('GET', '/api/mcp')).json.data
      expect(servers).toMatchObject([{ state: 'connected' }])
    })
    channel = (
      await server.call('POST', '/api/channels', {
        body: {
          type: 'bridge',
          name: 'phone',
          settings: { url: bridge.url },
          receive: { approval: 'auto' },
        },
      })
    ).json.data
    await say('hello')
    const code = /[A-HJ-NP-Z2-9]{8}/.exec(texts()[0] ?? '')?.[0]
    await server.call('POST', '/api/channels/pair', { body: { code } })
    bridge.sent.splice(0)
  })
  const texts = () => bridge.texts('c1')
  const say = (text: string, more: Record<string, unknown> = {}) => {
    count += 1
    return bridge.give(
      channel,
      { id: `m${count}`, chat_id: 'c1', sender: ANN, text, ...more },
      server,
    )
  }
  /** Has the model ask, and returns the question in the chat. */
  const ask = async (about: string) => {
    const before = texts().length
    program.current = ({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? turn.toolCalls([{ id: 'call_1', name: 'mcp__table__ask', arguments: { about } }])
        : turn.text('Thank you.')
    await say('Ask me.')
    await eventually(() => expect(texts().length).toBeGreaterThan(before))
    return texts().at(-1) ?? ''
  }
  const isOver = (ends: number) =>
    eventually(() => expect(bridge.sent.filter(({ type }) => type === 'end')).toHaveLength(ends))
  const conversations = async () => (await server.call('GET', '/api/conversations')).json.data.items

  test('the next message answers a question, in the words of the person, and starts no run of its own', async () => {
    expect(await ask('seats')).toContain('Seats: answer with your next message.')
    await say('many')
    await eventually(() => expect(texts().at(-1)).toContain('That does not fit.'))
    await say('9')
    await eventually(() => expect(texts().filter((one) => /not fit/.test(one))).toHaveLength(2))
    await say('4')
    await isOver(1)
    expect(asking.answers).toEqual([{ seats: 4 }])
    expect(texts().at(-1)).toBe('Thank you.')
    // The next run may call its tool by the same id.
    expect(await ask('area')).toContain('Area: answer with one of these: inside, garden.')
    await say('Garden')
    await isOver(2)
    expect(await ask('agreed')).toContain('Agreed: answer Yes or No.')
    await say('ja')
    await isOver(3)
    await ask('note')
    await say('by the window')
    await isOver(4)
    expect(asking.answers.slice(1)).toEqual([
      { area: 'garden' },
      { agreed: true },
      { note: 'by the window' },
    ])
    const [conversation, ...others] = await conversations()
    expect(others).toEqual([])
    expect(conversation.message_count).toBe(8)
    const asked = await server.call('GET', '/api/approvals?state=decided')
    expect(asked.json.data.items).toHaveLength(4)
    expect(asked.json.data.items[0]).toMatchObject({ decided_through: 'channel:phone' })
  })

  test('a message from before the question, of somebody else or forwarded answers nothing', async () => {
    let goOn = (): void => {}
    const until = new Promise<void>((resolve) => {
      goOn = resolve
    })
    program.current = ({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? turn.toolCalls(
            [{ id: 'call_1', name: 'mcp__table__ask', arguments: { about: 'note' } }],
            {
              until,
            },
          )
        : turn.text('Thank you.')
    await say('Ask me.')
    await eventually(async () => expect((await conversations())[0]?.active_run_id).toBeTruthy())
    await say('And buy milk.')
    goOn()
    await eventually(() => expect(texts()).toHaveLength(1))
    await say('forged', { sender: { id: 'eve', name: 'Eve' } })
    await say('forwarded', { forwarded: true })
    expect(asking.answers).toEqual([])
    program.current = () => turn.text('Later.')
    await say('mine')
    await isOver(1)
    expect(asking.answers).toEqual([{ note: 'mine' }])
    // What waited is the next run's.
    await eventually(() =>
      expect(JSON.stringify(upstream.requests.at(-1)?.messages)).toContain('And buy milk.'),
    )
  })

  test('/reject refuses a question, and one with several fields is answered by a link', async () => {
    await ask('note')
    await say('/reject')
    await isOver(1)
    expect(asking.answers).toMatchObject([{ action: 'decline' }])
    const shown = await ask('all')
    expect(shown).toContain('http://chat.example.org/waiting')
    expect(shown).not.toContain('answer with')
    await say('4')
    await say('/status')
    await eventually(() => expect(texts().at(-1)).toContain('Waiting for you'))
    expect(asking.answers).toHaveLength(1)
    await say('/stop')
    await isOver(2)
  })
})
