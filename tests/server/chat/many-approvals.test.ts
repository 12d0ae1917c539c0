// Many approval requests of one batch can be distinguished, and are decided one by one or all at once.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents, type ReceivedEvent } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const REQUESTS = 20

const upstream = await useUpstream()

describeOnEachServer('twenty approval requests of one batch', (start) => {
  let server: TestServer
  let project: string
  beforeAll(async () => {
    server = await start({ models: [{ id: 'scripted', api_url: upstream.url }], titles: 'off' })
  })
  beforeEach(async () => {
    const created = await server.call('POST', '/api/projects', {
      body: { name: `p ${Math.random()}` },
    })
    project = created.json.data.id
  })

  /** Sends a message and waits until all approval requests have arrived. */
  async function ask() {
    const numbers = Array.from({ length: REQUESTS }, (_, number) => number)
    const path = (number: number) => `file-${number}.txt`
    upstream.enqueue(
      turn.toolCalls(
        numbers.map((number) => ({
          // The calls differ only in the file.
          id: `call_${number}`,
          name: 'file_write',
          arguments: { path: path(number), content: 'the same text\n' },
        })),
      ),
      turn.text('Done.'),
    )
    const { json } = await server.call('POST', '/api/conversations', {
      body: { project_id: project },
    })
    const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Go', stream_mode: 'delta' },
    })
    const run = await stream.next(({ event }) => event === 'run')
    const isRequest = ({ event }: ReceivedEvent): boolean => event === 'approval_required'
    // `next` looks at every event again when more arrive.
    const seen = new Set<unknown>()
    await stream.next((event) => isRequest(event) && seen.add(event.data.id_ref).size === REQUESTS)
    // Requests arrive in the order in which their previews are ready; sort them by call.
    const requests = numbers.map((number) => {
      const found = stream.events.filter(
        (event) => isRequest(event) && JSON.parse(event.data.arguments).path === path(number),
      )
      expect(found).toHaveLength(1)
      return found[0] as ReceivedEvent
    })
    return { runId: String(run.data.run_id), stream, requests }
  }
  const decide = (runId: string, body: object) =>
    server.call('POST', `/api/runs/${runId}/approvals`, { body })
  const filesThere = async (): Promise<string[]> =>
    (await server.call('GET', `/api/projects/${project}/files`)).json.data.files.map(
      ({ name }: { name: string }) => name,
    )
  const resultsOf = (events: readonly ReceivedEvent[]) =>
    events.filter(({ data }) => data.type === 'tool_result').map(({ data }) => data)

  test('each name their call, and nothing is written when all are rejected at once', async () => {
    const { runId, stream, requests } = await ask()
    expect(new Set(requests.map(({ data }) => data.id_ref)).size).toBe(REQUESTS)
    // On a busy machine a request may be emitted before its preview is ready; then it has only the arguments.
    for (const [number, { data }] of requests.entries())
      if (data.preview !== undefined)
        expect(data.preview).toMatchObject({
          path: `file-${number}.txt`,
          display: `Create file-${number}.txt (+1 −0)`,
        })
    const { json } = await server.call('GET', `/api/runs/${runId}`)
    expect(json.data.pending_approvals.map(({ id_ref }: { id_ref: string }) => id_ref)).toEqual(
      requests.map(({ data }) => data.id_ref),
    )

    const responses = await Promise.all(
      requests.map(({ data }) =>
        decide(runId, { id_ref: data.id_ref, decision: 'reject', reason: 'Not now.' }),
      ),
    )
    expect(responses.map(({ status }) => status)).toEqual(Array(REQUESTS).fill(200))
    const events = await stream.all()
    expect(events.at(-1)?.event).toBe('done')
    expect(resultsOf(events)).toHaveLength(REQUESTS)
    for (const { content } of resultsOf(events)) {
      expect(JSON.parse(content)).toMatchObject({ success: false })
      expect(content).toContain('Not now.')
    }
    expect(await filesThere()).toEqual([])
    upstream.expectDone()
  })

  test('run exactly the approved calls, and each can be decided only once', async () => {
    const { runId, stream, requests } = await ask()
    const isApproved = (number: number): boolean => number % 3 === 0
    // Decides in reverse order; a second, opposite decision of each call is refused.
    for (const [number, { data }] of [...requests.entries()].reverse()) {
      const decision = isApproved(number) ? 'approve' : 'reject'
      expect((await decide(runId, { id_ref: data.id_ref, decision })).status).toBe(200)
      const opposite = isApproved(number) ? 'reject' : 'approve'
      const again = await decide(runId, { id_ref: data.id_ref, decision: opposite })
      expect(again).toMatchObject({ status: 409, json: { error: 'already_decided' } })
    }
    const events = await stream.all()
    expect(events.at(-1)?.event).toBe('done')
    expect(resultsOf(events).map(({ content }) => JSON.parse(content).success)).toEqual(
      requests.map((_, number) => isApproved(number)),
    )
    const approved = requests.flatMap((_, number) =>
      isApproved(number) ? [`file-${number}.txt`] : [],
    )
    expect((await filesThere()).sort()).toEqual(approved.sort())
    upstream.expectDone()
  })
})
