// Conversations and a user change one project concurrently, in random order: no change is lost or refused.
import { beforeAll, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { rounds, SEED } from '../../support/random.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const CONVERSATIONS = 4
const APPENDS = 8
/** The number of changes that the test makes before the concurrent ones. */
const CHANGES_BEFORE = 2

const upstream = await useUpstream()

describeOnEachServer('several writers of one project', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      tool_max_workers: 4,
    })
  })

  test(`concurrent appends, writes and renames each take effect once and are undone together (SEED=${SEED})`, async () => {
    for (const { random, what } of rounds(process.env.FAULTS === 'full' ? 20 : 2)) {
      const created = await server.call('POST', '/api/projects', { body: { name: what } })
      const base = `/api/projects/${created.json.data.id}`
      const put = async (path: string, content: string): Promise<void> => {
        const { status } = await server.call('PUT', `${base}/files/${path}`, { body: { content } })
        expect(status, what).toBe(200)
      }
      const read = async (path: string): Promise<string | undefined> =>
        (await server.call('GET', `${base}/files/${path}`)).json.data?.content
      await put('log.txt', '')
      await put('moving/file.txt', 'moved')

      upstream.program((request) => {
        if (request.messages.at(-1)?.role === 'tool') return turn.text('Done.')
        const writer = String(request.messages.findLast(({ role }) => role === 'user')?.content)
        const name = /writer-\d/.exec(writer)?.[0] ?? 'unknown'
        const appends = Array.from({ length: APPENDS }, (_, n) => ({
          id: `${name}_append_${n}`,
          name: 'file_write',
          arguments: { path: 'log.txt', content: `${name} ${n}\n`, mode: 'append' },
        }))
        const own = {
          id: `${name}_own`,
          name: 'file_write',
          arguments: { path: `${name}/own.txt`, content: `${name} was here` },
        }
        return turn.toolCalls(random.shuffle([...appends, own]))
      })

      const converse = async (n: number): Promise<void> => {
        const { json } = await server.call('POST', '/api/conversations', {
          body: { project_id: created.json.data.id, approval: 'auto' },
        })
        const stream = await openEvents(
          `${server.url}/api/conversations/${json.data.id}/messages`,
          {
            body: { text: `I am writer-${n}` },
          },
        )
        const events = await stream.all()
        expect(events.at(-1)?.event, what).toBe('done')
        for (const { data } of events.filter(({ data }) => data.type === 'tool_result'))
          expect(JSON.parse(data.content), what).toMatchObject({ success: true })
      }
      /** Renames a folder, renames it back, and renames it again. */
      const arrange = async (): Promise<void> => {
        for (const [from, to] of [
          ['moving', 'moved'],
          ['moved', 'moving'],
          ['moving', 'moved'],
        ]) {
          const { status, json } = await server.call('PATCH', `${base}/files/${from}`, {
            body: { new_path: to },
          })
          expect(status, `${what} ${JSON.stringify(json)}`).toBe(200)
        }
      }
      const actors = [
        ...Array.from({ length: CONVERSATIONS }, (_, n) => () => converse(n)),
        arrange,
      ]
      await Promise.all(random.shuffle(actors).map((actor) => actor()))

      const expected = Array.from({ length: CONVERSATIONS * APPENDS }, (_, at) => {
        return `writer-${Math.floor(at / APPENDS)} ${at % APPENDS}`
      })
      const expectAll = async (): Promise<void> => {
        const lines = ((await read('log.txt')) ?? '').trimEnd().split('\n')
        expect(lines.toSorted(), what).toEqual(expected.toSorted())
        for (let n = 0; n < CONVERSATIONS; n += 1)
          expect(await read(`writer-${n}/own.txt`), what).toBe(`writer-${n} was here`)
        expect(await read('moved/file.txt'), what).toBe('moved')
        expect(await read('moving/file.txt'), what).toBeUndefined()
      }
      await expectAll()

      // Restores the state before the first concurrent change, then undoes that restore.
      const { items } = (await server.call('GET', `${base}/checkpoints?limit=100`)).json.data
      const before = items.at(-CHANGES_BEFORE - 1)
      const restored = await server.call('POST', `${base}/checkpoints/${before.id}/restore`)
      expect(await read('log.txt'), what).toBe('')
      expect(await read('moving/file.txt'), what).toBe('moved')
      await server.call('POST', `${base}/checkpoints/${restored.json.data.checkpoint.id}/restore`)
      await expectAll()
    }
  })
})
