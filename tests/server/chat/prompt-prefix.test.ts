// Each request of a conversation begins with the bytes of the previous one, so that provider caches apply.
import { expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer } from '../../support/server/server.ts'

const upstream = await useUpstream()
const TURNS = 12
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describeOnEachServer('the prompt of a long conversation', (start) => {
  test('each request begins with the bytes of the previous one, even when memory and files change', async () => {
    const server = await start({
      models: [{ id: 'scripted', api_url: upstream.url, vision: true }],
      titles: 'off',
    })
    const call = async (method: string, path: string, body: unknown) =>
      (await server.call(method, path, { body })).json.data
    const project = await call('POST', '/api/projects', { name: 'Notes' })
    const { id } = await call('POST', '/api/conversations', { project_id: project.id })
    const before = upstream.requests.length
    const image = { name: 'a.png', mime: 'image/png', data: PICTURE }
    for (let at = 0; at < TURNS; at += 1) {
      await call('PUT', '/api/memory', { content: `I like tea.\nFact ${at % 5} about me.` })
      await call('PUT', `/api/projects/${project.id}/files/note-${at % 4}.md`, { content: 'x' })
      upstream.enqueue(
        turn.toolCalls([{ name: 'calculator', arguments: { expression: `${at} * 3` } }], {
          text: `Step ${at}.`,
        }),
        turn.toolCalls([{ name: 'file_list', arguments: { path: '' } }]),
        turn.thinking('hm', `Answer ${at}.`),
      )
      const attachments = at === 3 ? { attachments: [image] } : {}
      const events = await openEvents(`${server.url}/api/conversations/${id}/messages`, {
        body: { text: `Question ${at} about fact ${at % 5}`, ...attachments },
      })
      expect((await events.all()).at(-1)?.event).toBe('done')
    }
    const sent = upstream.requests.slice(before).map(({ body }) => body)
    expect(sent).toHaveLength(TURNS * 3)
    for (const [at, body] of sent.entries()) {
      const previous = sent[at - 1]
      if (previous === undefined) continue
      expect(JSON.stringify(body.tools)).toBe(JSON.stringify(previous.tools))
      // Without the bracket that closes the array.
      const beginning = JSON.stringify(previous.messages).slice(0, -1)
      expect(JSON.stringify(body.messages).slice(0, beginning.length), `request ${at}`).toBe(
        beginning,
      )
    }
    // Changes made in the meantime still reached the model.
    const last = JSON.stringify(sent.at(-1)?.messages)
    for (const known of ['Fact 4 about me.', 'note-3.md']) expect(last).toContain(known)
    const names = (Array.isArray(sent[0]?.tools) ? sent[0].tools : []).map(
      (tool) => tool.function.name,
    )
    expect(names).toEqual(names.toSorted())
  })
})
