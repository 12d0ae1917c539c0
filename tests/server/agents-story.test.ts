// Agents end to end on one server that is killed twice: sub-agents, background tasks, memory, a PDF, MCP, prompt mode.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startUpstream, type Upstream, type UpstreamRequest } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { callServer } from '../support/server/call-server.ts'
import { openEvents, type ReceivedEvent } from '../support/server/events.ts'
import { databaseKeys } from '../support/server/server.ts'
import {
  type ServerPlace,
  type ServerProcess,
  serverPlace,
} from '../support/server/server-process.ts'
import { useDatabases } from '../support/store/databases.ts'
import { DIALECTS } from '../support/store/dialects.ts'

const root = resolve(import.meta.dirname, '../..')
const filesystemServer = join(
  root,
  'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
)
/** Polls with a timeout that is long enough for a slow machine. */
const lastText = ({ messages }: UpstreamRequest): string =>
  String(messages.findLast(({ role }) => role === 'user')?.content)
const results = ({ messages }: UpstreamRequest): string[] =>
  messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content))
const resultOf = (events: readonly ReceivedEvent[]) =>
  events.find(({ event, data }) => event === 'process_step' && data.type === 'tool_result')?.data

for (const dialect of DIALECTS)
  describe(`a day with agents (${dialect})`, () => {
    const databases = useDatabases()
    let upstream: Upstream
    let place: ServerPlace
    let server: ServerProcess
    let folder: string
    let shared: string

    beforeAll(async () => {
      upstream = await startUpstream()
      folder = mkdtempSync(join(tmpdir(), 'nanoclaw-story-'))
      shared = join(folder, 'shared')
      mkdirSync(shared)
      place = await serverPlace(folder, {
        ...databaseKeys(await databases.settings(dialect)),
        models: [
          { id: 'scripted', api_url: upstream.url, api_key: 'none' },
          { id: 'plain', api_url: upstream.url, api_key: 'none', tool_mode: 'prompt' },
        ],
        mcp_servers: { files: { command: process.execPath, args: [filesystemServer, shared] } },
        titles: 'off',
        log_level: 'warn',
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
    const restart = async (): Promise<void> => {
      await server.kill('SIGKILL')
      server = await place.start()
    }
    const conversation = async (settings: object = {}): Promise<string> =>
      (await call('POST', '/api/conversations', settings)).data.id
    const say = (id: string, text: string) =>
      openEvents(`${server.url}/api/conversations/${id}/messages`, {
        body: { text, on_disconnect: 'continue' },
      })
    const texts = async (id: string): Promise<string[]> =>
      (await call('GET', `/api/conversations/${id}/messages`)).data.items.map(
        ({ text }: { text: string }) => text,
      )

    test('one of three sub-agents fails, and the answer uses the results of the others', async () => {
      upstream.program((request) => {
        const task = lastText(request)
        if (task === 'look at nothing') return turn.error(400, 'no such model here')
        if (task.startsWith('look at')) return turn.text(`I saw it: ${task}`)
        if (results(request).length > 0) return turn.text('The sun and the moon are there.')
        const tasks = ['sun', 'moon', 'nothing'].map((name) => ({
          name,
          instruction: `look at ${name}`,
        }))
        return turn.toolCalls([{ name: 'multi_agent', arguments: { tasks } }])
      })
      const id = await conversation()
      const events = await (await say(id, 'Look around')).all()
      const step = resultOf(events)
      expect(JSON.parse(step?.content).data).toMatchObject({
        total: 3,
        results: [
          { task_name: 'sun', success: true, response: 'I saw it: look at sun' },
          { task_name: 'moon', success: true, response: 'I saw it: look at moon' },
          { task_name: 'nothing', success: false, error: expect.any(String) },
        ],
      })
      expect(step?.artifact.display).toBe('3 sub-agents, 1 failed')
      expect(await texts(id)).toEqual(['Look around', 'The sun and the moon are there.'])
    })

    test('a background task is announced although the server was killed while it ran', async () => {
      let isBack = false
      let asked = 0
      upstream.program((request) => {
        if (lastText(request) === 'count the stars') {
          asked += 1
          return isBack ? turn.text('There are many.') : turn.beforeHeaders('stall')
        }
        return results(request).length > 0
          ? turn.text('It is on its way.')
          : turn.toolCalls([{ name: 'spawn', arguments: { task: 'count the stars' } }])
      })
      const id = await conversation()
      await (await say(id, 'Count in the background')).all()
      await eventually(() => expect(asked).toBe(1))
      isBack = true
      await restart()
      await eventually(async () =>
        expect(await texts(id)).toEqual([
          'Count in the background',
          'It is on its way.',
          'There are many.',
        ]),
      )
      await restart()
      expect(await texts(id)).toHaveLength(3)
      expect(asked).toBe(2)
    })

    test('a fact remembered in one conversation is known in another', async () => {
      let prompt = ''
      upstream.program((request) => {
        if (lastText(request) === 'Who am I?') {
          prompt = String(request.messages[0]?.content)
          return turn.text('You are Kim, and you like tea.')
        }
        return results(request).length > 0
          ? turn.text('Noted.')
          : turn.toolCalls([{ name: 'save_memory', arguments: { fact: 'Kim likes tea' } }])
      })
      await (await say(await conversation(), 'I am Kim and I like tea')).all()
      await (await say(await conversation(), 'Who am I?')).all()
      expect(prompt).toContain('Kim likes tea')
      const { data } = await call('GET', '/api/memory')
      expect(data.content).toMatch(/## Agent Memories\n\n- \d{4}-\d{2}-\d{2}: Kim likes tea/)
    })

    test('a Chinese PDF is indexed although the server was killed after the upload, and the answer cites it', async () => {
      const { data: project } = await call('POST', '/api/projects', { name: '手册' })
      const documents = `/api/projects/${project.id}/documents`
      const pdf = readFileSync(join(root, 'tests/fixtures/documents/handbook-zh.pdf'))
      const form = new FormData()
      form.append('files[]', new Blob([pdf], { type: 'application/pdf' }), '员工手册.pdf')
      form.append('files[]', new Blob([new Uint8Array([0, 1, 2, 3])]), 'broken.pdf')
      await fetch(server.url + documents, { method: 'POST', body: form })
      await restart()
      const read = async () => (await call('GET', documents)).data.items
      await eventually(async () =>
        expect((await read()).map(({ status }: { status: string }) => status).sort()).toEqual([
          'failed',
          'ready',
        ]),
      )
      expect((await read()).find(({ name }: { name: string }) => name === 'broken.pdf').error).toBe(
        'its name ends in .pdf, but its content has a different format',
      )

      upstream.program((request) =>
        results(request).length > 0
          ? turn.text('见员工手册。')
          : turn.toolCalls([{ name: 'search_knowledge', arguments: { query: '年假有几天？' } }]),
      )
      const id = await conversation({ project_id: project.id })
      const step = resultOf(await (await say(id, '年假有几天？')).all())
      const [best] = JSON.parse(step?.content).data.results
      expect(best).toMatchObject({ document: '员工手册.pdf', page: expect.any(Number) })
      expect(best.heading).toEqual(expect.any(String))
      expect(best.text).toContain('年假')
      const [citation] = step?.artifact.citations ?? []
      expect(citation).toMatchObject({ document_id: best.document_id, page: best.page })
      const passage = await call(
        'GET',
        `${documents}/${citation.document_id}/passages?position=${citation.position}&limit=1`,
      )
      expect(passage.data.items[0].text).toBe(best.text)
    })

    test('a tool of a filesystem MCP server waits for approval, then writes', async () => {
      const path = join(shared, 'note.txt')
      upstream.program((request) =>
        results(request).length > 0
          ? turn.text('It is written.')
          : turn.toolCalls([
              { name: 'mcp__files__write_file', arguments: { path, content: '你好' } },
            ]),
      )
      await eventually(async () =>
        expect((await call('GET', '/api/mcp')).data.servers).toMatchObject([
          { name: 'files', state: 'connected' },
        ]),
      )
      const id = await conversation()
      const stream = await say(id, 'Write a note')
      const question = await stream.next(({ event }) => event === 'approval_required')
      expect(question.data).toMatchObject({ name: 'mcp__files__write_file', risk_level: 'high' })
      expect(() => readFileSync(path)).toThrow()
      const { run_id, id_ref } = question.data
      await call('POST', `/api/runs/${run_id}/approvals`, { id_ref, decision: 'approve' })
      expect((await stream.all()).at(-1)?.event).toBe('done')
      expect(readFileSync(path, 'utf8')).toBe('你好')
    })

    test('a model without function calling calls two tools and then answers', async () => {
      const written = (name: string, given: object): string =>
        `\`\`\`json\n${JSON.stringify({ tool_call: { name, arguments: given } }, null, 2)}\n\`\`\``
      upstream.enqueueFor(
        { model: 'plain' },
        turn.text(
          `Let me see.\n\n${written('calculator', { expression: '6*7' })}\n\n${written('text_process', { text: 'a b', operation: 'words' })}`,
          { chunkSize: 3 },
        ),
        turn.text('It is 42, of two words.'),
      )
      const id = await conversation({ model: 'plain' })
      const events = await (await say(id, 'How much?')).all()
      expect(events.at(-1)?.event).toBe('done')
      const { data } = await call('GET', `/api/conversations/${id}/messages`)
      const steps = data.items[1].process_steps
      expect(steps.map(({ type, name }: { type: string; name?: string }) => name ?? type)).toEqual([
        'text',
        'calculator',
        'text_process',
        'calculator',
        'text_process',
        'text',
      ])
      expect(data.items[1].text).toBe('It is 42, of two words.')
      expect(JSON.stringify(upstream.requests.at(-1)?.messages.at(-1))).toContain('42')
    })
  })
