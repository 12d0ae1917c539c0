// A server process that tests kill and restart while agents work, with the helpers of those tests.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startUpstream, type Upstream, type UpstreamRequest } from '../support/provider/upstream.ts'
import { type Turn, turn } from '../support/provider/upstream-turns.ts'
import { callServer } from '../support/server/call-server.ts'
import { type EventReader, openEvents } from '../support/server/events.ts'
import { databaseKeys } from '../support/server/server.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../support/server/server-process.ts'
import { useDatabases } from '../support/store/databases.ts'

/** The usage that each scripted model call reports. */
export const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }

export const lastText = ({ messages }: UpstreamRequest): string =>
  String(messages.findLast(({ role }) => role === 'user')?.content)
export const results = ({ messages }: UpstreamRequest): string[] =>
  messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content))
const isSubAgent = ({ messages }: UpstreamRequest): boolean =>
  String(messages[0]?.content).startsWith('You are a sub-agent')

/** One server process on `dialect` and its scripted provider, for the tests of a `describe`. */
export function useAgentServer(dialect: 'sqlite' | 'postgres') {
  const databases = useDatabases()
  let upstream: Upstream
  let place: ServerPlace
  let server: ServerProcess
  let folder: string

  beforeAll(async () => {
    upstream = await startUpstream()
    folder = mkdtempSync(join(tmpdir(), 'nanoclaw-agents-'))
    place = await serverPlace(folder, {
      ...databaseKeys(await databases.settings(dialect)),
      models: [{ id: 'scripted', api_url: upstream.url, api_key: 'none' }],
      titles: 'off',
      log_level: 'warn',
      tools: { exec: { enabled: true } },
      network: { allow_private: ['127.0.0.1'] },
    })
    server = await place.start()
  })
  beforeEach(() => upstream.reset())
  afterAll(async () => {
    await place.close()
    await upstream.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const call = (method: string, path: string, body?: unknown) =>
    callServer(server.url, method, path, body)
  const messages = async (id: string) =>
    (await call('GET', `/api/conversations/${id}/messages`)).data.items

  return {
    call,
    messages,
    reset: (): void => upstream.reset(),
    program: (program: Parameters<Upstream['program']>[0]): void => upstream.program(program),
    workspaces: (): string => join(folder, 'workspaces'),

    /** Kills the server with SIGKILL and restarts it. */
    async restart(): Promise<void> {
      await server.kill('SIGKILL')
      server = await place.start()
    },

    /** Creates a conversation with `settings` and starts its first run, which continues without a listener. */
    async begin(
      settings: object,
      text = 'Go',
    ): Promise<{ id: string; stream: EventReader; runPath: string }> {
      const { data } = await call('POST', '/api/conversations', settings)
      const stream = await openEvents(`${server.url}/api/conversations/${data.id}/messages`, {
        body: { text, on_disconnect: 'continue' },
      })
      const run = await stream.next(({ event }) => event === 'run')
      return { id: data.id, stream, runPath: `/api/runs/${run.data.run_id}` }
    },

    isCompleted: (runPath: string) =>
      eventually(async () => expect((await call('GET', runPath)).data.status).toBe('completed')),

    /** Tokens that the user has used today. */
    tokensUsed: async (): Promise<number> =>
      (await call('GET', '/api/stats/tokens?period=daily')).data.total_tokens,

    /** Scripts the parent agent: it delegates one task per name, then gives its answer. */
    parentDelegates: (names: string[]): void =>
      upstream.program((request) => {
        if (isSubAgent(request)) return undefined
        if (results(request).length > 0) return turn.text('All done.', { usage })
        const tasks = names.map((name) => ({ name, instruction: name }))
        const calls = [{ id: 'team', name: 'multi_agent', arguments: { tasks } }]
        return turn.toolCalls(calls, { usage })
      }),
    subAgents: (answer: (request: UpstreamRequest) => Turn): void =>
      upstream.program((request) => (isSubAgent(request) ? answer(request) : undefined)),
    /** The result of the first tool call of the answer. */
    async resultOf(id: string) {
      const [, answer] = await messages(id)
      return JSON.parse(answer.tool_calls[0].result)
    },
  }
}
