// Programs that leave in the middle of an answer that they do not read: nobody waits for it any longer, so that the run ends.
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const upstream = await useUpstream()
/** More than the system buffers between the server and a program that reads nothing. */
const LONG = 'x'.repeat(9_000_000)

/** An answer that has no end, and what resolves once all but the end was sent. */
function endlessAnswer() {
  let reached = (): void => {}
  const sent = new Promise<void>((resolve) => {
    reached = resolve
  })
  const { actions, ...rest } = turn.text(LONG, { chunkSize: 100_000 })
  const end = {
    get until() {
      reached()
      return new Promise<never>(() => {})
    },
  }
  // The last actions are the finish reason, the usage, [DONE] and the end.
  return { answer: { ...rest, actions: [...actions.slice(0, -4), end] }, sent }
}

describeOnEachServer('a program that leaves', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start({ models: [{ id: 'scripted', api_url: upstream.url }], titles: 'off' })
  })

  test('while the server waits for it to read stops its run', async () => {
    const { answer, sent } = endlessAnswer()
    upstream.enqueue(answer)
    const body = JSON.stringify({
      model: 'nanoclaw/scripted',
      messages: [{ role: 'user', content: 'Write without end.' }],
      stream: true,
    })
    const sending = request(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    })
    sending.end(body)
    const [response]: IncomingMessage[] = await once(sending, 'response')
    await sent
    response?.destroy()
    const id = String(response?.headers['x-nanoclaw-run-id'])
    await expect
      .poll(async () => (await server.call('GET', `/api/runs/${id}`)).json.data.status, {
        timeout: 20_000,
      })
      .toBe('stopped')
  })
})
