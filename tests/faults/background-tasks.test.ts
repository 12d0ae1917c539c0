// kill -9 during background tasks and deliveries: each completes, is announced and is counted exactly once.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { DIALECTS } from '../support/store/dialects.ts'
import { lastText, results, usage, useAgentServer } from './agent-server.ts'

for (const dialect of DIALECTS)
  describe(`a server killed during background tasks (${dialect})`, () => {
    const { begin, call, messages, program, restart, tokensUsed } = useAgentServer(dialect)

    test('a background task completes once, is announced once and has its tokens counted once, however often the server is killed', async () => {
      const before = await tokensUsed()
      const asked: number[] = []
      let isBack = false
      program((request) => {
        if (lastText(request) === 'count the stars') {
          asked.push(results(request).length)
          if (results(request).length === 0)
            return turn.toolCalls([{ name: 'calculator', arguments: { expression: '6*7' } }], {
              usage,
            })
          return isBack
            ? turn.text('There are 42.', { usage })
            : turn.cut(turn.text('There are so many of them', { usage }), 3, 'stall')
        }
        return results(request).length > 0
          ? turn.text('It is on its way.', { usage })
          : turn.toolCalls([{ name: 'spawn', arguments: { task: 'count the stars' } }], { usage })
      })
      const { id, stream } = await begin({})
      await stream.next(({ event }) => event === 'done')
      await eventually(() => expect(asked).toEqual([0, 1]))
      await restart()
      await eventually(() => expect(asked).toEqual([0, 1, 1]))
      isBack = true
      await restart()
      const isAnnounced = async (): Promise<void> =>
        expect(await messages(id)).toMatchObject([
          { text: 'Go' },
          { text: 'It is on its way.' },
          { text: 'There are 42.', status: 'completed' },
        ])
      await eventually(isAnnounced)
      await restart()
      await isAnnounced()
      const { data } = await call('GET', `/api/conversations/${id}/background`)
      expect(data.items).toMatchObject([{ status: 'completed', result: 'There are 42.' }])
      expect(asked).toEqual([0, 1, 1, 1])
      // Two iterations of the run, two of the background task.
      expect((await tokensUsed()) - before).toBe(4 * usage.total_tokens)
    })

    test('after a restart a background task still awaits approval and is announced after it, and a message whose delivery failed is delivered', async () => {
      const statuses: (500 | 200)[] = [500]
      const received: { id: string; text: string }[] = []
      const receiver = createServer((request, response) => {
        const chunks: Buffer[] = []
        request.on('data', (chunk: Buffer) => chunks.push(chunk))
        request.on('end', () => {
          received.push(JSON.parse(Buffer.concat(chunks).toString('utf8')))
          response.writeHead(statuses.shift() ?? 200).end('{}')
        })
      })
      await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
      const { port } = receiver.address() as AddressInfo // the server listens on TCP
      const url = `http://127.0.0.1:${port}/hook`
      await call('POST', '/api/channels', { type: 'webhook', name: 'ops', settings: { url } })
      program((request) => {
        const text = lastText(request)
        if (results(request).length > 0)
          return turn.text(text === 'say hello' ? 'It is said.' : 'It is on its way.')
        if (text === 'say hello')
          return turn.toolCalls([{ name: 'message', arguments: { content: 'hello there' } }])
        const sent = { content: 'the tests are done', to: 'channel:ops' }
        return text === 'Send'
          ? turn.toolCalls([{ name: 'message', arguments: sent }])
          : turn.toolCalls([{ name: 'spawn', arguments: { task: 'say hello' } }])
      })
      const waiting = await begin({})
      await waiting.stream.all()
      const tasks = async () =>
        (await call('GET', `/api/conversations/${waiting.id}/background`)).data
      const question = async () => (await tasks()).items[0].pending_approvals[0]
      await eventually(async () => expect(await question()).toMatchObject({ name: 'message' }))
      const asked = await question()
      const sending = await begin({ approval: 'auto' }, 'Send')
      const events = await sending.stream.all()
      expect(events.at(-1)?.event).toBe('done')
      expect(JSON.stringify(events)).toContain('retried automatically')
      await restart()
      await eventually(async () => expect(await question()).toEqual(asked))
      await call('POST', `/api/runs/${(await tasks()).items[0].id}/approvals`, {
        id_ref: asked.id_ref,
        decision: 'approve',
      })
      await eventually(async () =>
        expect((await messages(waiting.id)).map(({ text }: { text: string }) => text)).toEqual([
          'Go',
          'It is on its way.',
          'hello there',
          'It is said.',
        ]),
      )
      await eventually(async () =>
        expect((await call('GET', '/api/channels')).data.items).toMatchObject([
          { name: 'ops', last_delivery: { status: 'delivered', attempts: 2 } },
        ]),
      )
      expect(received).toMatchObject([{ text: 'the tests are done' }, { id: received[0]?.id }])
      receiver.closeAllConnections()
      await new Promise((done) => receiver.close(done))
    })
  })
