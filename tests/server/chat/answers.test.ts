// Finished answers: how long the model thought, editing their text, and rating them.
import { beforeAll, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const upstream = await useUpstream()

describeOnEachServer('an answer', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
      titles: 'off',
    })
  })
  const call = async (method: string, path: string, body?: unknown) =>
    await server.call(method, path, body === undefined ? {} : { body })
  const messages = async (id: string) =>
    (await call('GET', `/api/conversations/${id}/messages`)).json.data.items
  /** A conversation with one question; the answer thinks, calculates and says that it is 42. */
  async function asked(): Promise<{ id: string; answer: { id: string } }> {
    upstream.enqueue(
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '6*7' } }], {
        thinking: 'I should calculate.',
        text: 'One moment.',
      }),
      turn.text('It is 42.'),
    )
    const { id } = (await call('POST', '/api/conversations', {})).json.data
    await call('POST', `/api/conversations/${id}/messages`, { text: '6*7?', stream: false })
    return { id, answer: (await messages(id))[1] }
  }

  test('with changed text is a sibling that keeps thinking and tool calls, is shown, and is sent to the model', async () => {
    const { id, answer } = await asked()
    const path = `/api/conversations/${id}/messages/${answer.id}`
    const { status, json } = await call('POST', `${path}/revisions`, { text: 'It is **43**.' })
    expect(status).toBe(200)
    expect(json.data).toMatchObject({
      text: 'It is **43**.',
      status: 'completed',
      edited_from: answer.id,
      siblings: [answer.id, json.data.id],
    })
    const [, revised] = await messages(id)
    expect(revised.id).toBe(json.data.id)
    const kinds = revised.process_steps.map(({ type }: { type: string }) => type)
    expect(kinds).toEqual(['thinking', 'text', 'tool_call', 'tool_result', 'text'])
    expect(revised.process_steps[0].duration_ms).toBeGreaterThanOrEqual(0)
    expect(revised.process_steps[4].content).toBe('It is **43**.')
    upstream.enqueue(turn.text('Then add one.'))
    await call('POST', `/api/conversations/${id}/messages`, { text: 'And now?', stream: false })
    expect(upstream.requests.at(-1)?.messages.map(({ content }) => content)).toContain(
      'It is **43**.',
    )
    expect(JSON.stringify(upstream.requests.at(-1)?.messages)).not.toContain('It is 42.')
    await call('PATCH', `/api/conversations/${id}`, { leaf_id: answer.id })
    expect((await messages(id))[1].text).toBe('It is 42.')
  })

  test('cannot be changed while it is being written, to an empty or too long text, or if it is a user message', async () => {
    const { id, answer } = await asked()
    const [question] = await messages(id)
    const revise = async (mid: string, text: string) =>
      (await call('POST', `/api/conversations/${id}/messages/${mid}/revisions`, { text })).status
    expect(await revise(answer.id, ' \n ')).toBe(400)
    expect(await revise(answer.id, 'x'.repeat(200_001))).toBe(400)
    expect(await revise(question.id, 'Mine')).toBe(400)
    expect(await revise('01990000-0000-7000-8000-000000000000', 'x')).toBe(404)
    const held = turn.text('It goes on.')
    upstream.enqueue({ ...held, actions: [{ until: new Promise<void>(() => undefined) }] })
    const running = server.call('POST', `/api/conversations/${id}/messages`, {
      body: { text: 'More', stream: false },
    })
    await expect.poll(async () => (await messages(id)).length).toBe(4)
    const open = (await messages(id))[3]
    expect(await revise(open.id, 'x')).toBe(409)
    await call('POST', `/api/runs/${open.run_id}/stop`)
    await running
  })

  test('keeps a rating with a note, which can be removed and is exported and imported', async () => {
    const { id, answer } = await asked()
    const path = `/api/conversations/${id}/messages/${answer.id}/feedback`
    const rate = (feedback: unknown) => call('PUT', path, { feedback })
    expect((await rate({ rating: 'up', note: null })).status).toBe(200)
    expect((await messages(id))[1].feedback).toEqual({ rating: 'up' })
    await rate({ rating: 'down', note: ' Too short 短い ' })
    expect((await messages(id))[1].feedback).toEqual({ rating: 'down', note: 'Too short 短い' })
    const revised = (
      await call('POST', `/api/conversations/${id}/messages/${answer.id}/revisions`, { text: '43' })
    ).json.data
    const exported = await fetch(`${server.url}/api/conversations/${id}/export?format=json`)
    const imported = await call('POST', '/api/conversations/import', await exported.json())
    const copy = await messages(imported.json.data.id)
    expect(copy[1]).toMatchObject({ text: '43', edited_from: copy[1].siblings[0] })
    await call('PATCH', `/api/conversations/${imported.json.data.id}`, {
      leaf_id: copy[1].siblings[0],
    })
    const [, first] = await messages(imported.json.data.id)
    expect(first.feedback).toEqual({ rating: 'down', note: 'Too short 短い' })
    expect(first.process_steps[0].duration_ms).toBeGreaterThanOrEqual(0)
    expect(revised.feedback).toBeUndefined()
    await rate(null)
    await call('PATCH', `/api/conversations/${id}`, { leaf_id: answer.id })
    expect((await messages(id))[1].feedback).toBeUndefined()
    for (const wrong of [{ rating: 'meh' }, { rating: 'up', note: 'x'.repeat(2_001) }, 'up'])
      expect((await rate(wrong)).status).toBe(400)
    const [question] = await messages(id)
    const onQuestion = `/api/conversations/${id}/messages/${question.id}/feedback`
    expect((await call('PUT', onQuestion, { feedback: { rating: 'up' } })).status).toBe(404)
  })

  test('stays readable when another branch is shown, and the list of branches marks the shown one', async () => {
    const { id, answer } = await asked()
    const path = `/api/conversations/${id}`
    upstream.enqueue(turn.text('Forty-two.'), turn.text('Yes.'), turn.text('It is 36.'))
    const regenerated = await call('POST', `${path}/regenerate/${answer.id}`, { stream: false })
    const second = regenerated.json.data.message
    await call('POST', `${path}/messages`, { text: 'Sure?', stream: false })
    const [question] = await messages(id)
    const edit = { text: '6*6?', stream: false }
    await call('PATCH', `${path}/messages/${question.id}`, edit)
    const { json } = await call('GET', `${path}/messages/${second.id}`)
    expect(json.data).toEqual({ ...second, siblings: [answer.id, second.id] })
    const [edited] = await messages(id)
    const listed = async () => (await call('GET', `${path}/branches`)).json.data
    const branches = await listed()
    expect(branches.truncated).toBe(false)
    const expected = [
      { message_id: question.id, parent_id: null, role: 'user', text: '6*7?', messages: 1 },
      { message_id: answer.id, parent_id: question.id, model: 'scripted', messages: 1 },
      { message_id: second.id, parent_id: question.id, text: 'Forty-two.', messages: 3 },
      { message_id: edited.id, parent_id: null, text: '6*6?', messages: 2 },
    ]
    expect(branches.items).toMatchObject(expected)
    const shown = ({ items }: { items: { shown: boolean }[] }) => items.map((item) => item.shown)
    expect(shown(branches)).toEqual([false, false, false, true])
    await call('PATCH', path, { leaf_id: second.id })
    expect(shown(await listed())).toEqual([true, false, true, false])
    expect((await messages(id)).at(-1).text).toBe('Yes.')
    await call('PATCH', path, { leaf_id: answer.id })
    await call('PATCH', path, { leaf_id: question.id })
    expect((await messages(id)).at(-1).id, 'the shown branch holds the question').toBe(answer.id)
  })
})
