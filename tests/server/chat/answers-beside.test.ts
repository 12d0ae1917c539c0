// Two answers to one question at the same time, for comparing models.
import { beforeAll, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const upstream = await useUpstream()

/** A promise that ends an answer of the scripted model, and what resolves it. */
function createGate() {
  let open = (): void => {}
  const until = new Promise<void>((resolve) => {
    open = resolve
  })
  return { until, open }
}

describeOnEachServer('two answers to one question', (start) => {
  let server: TestServer
  beforeAll(async () => {
    const api = { api_url: upstream.url, api_key: 'key-of-the-tests' }
    server = await start({
      models: [
        { id: 'scripted', ...api },
        { id: 'other', ...api },
      ],
      titles: 'first_message',
    })
  })

  const newConversation = async (): Promise<string> =>
    (await server.call('POST', '/api/conversations', { body: {} })).json.data.id
  const conversation = async (id: string) =>
    (await server.call('GET', `/api/conversations/${id}`)).json.data
  const send = (id: string, body: object) =>
    openEvents(`${server.url}/api/conversations/${id}/messages`, { body })
  const regenerate = (id: string, message: string, body: object) =>
    openEvents(`${server.url}/api/conversations/${id}/regenerate/${message}`, { body })

  /** A conversation whose first answer is being written until the gate opens. */
  async function answering(text: string) {
    const id = await newConversation()
    const gate = createGate()
    upstream.enqueueFor({ model: 'scripted' }, turn.text('The first.', { until: gate.until }))
    const stream = await send(id, { text, model: 'scripted' })
    const { data } = await stream.next(({ event }) => event === 'run')
    return { id, gate, stream, run: data.run_id, answer: data.message_id }
  }

  test('are written at the same time, and the one beside does not take the place of the first', async () => {
    const { id, gate, stream, run, answer } = await answering('Which colour?')
    const second = createGate()
    upstream.enqueueFor({ model: 'other' }, turn.text('The second.', { until: second.until }))
    const beside = await regenerate(id, answer, { model: 'other', beside: true })
    const { data } = await beside.next(({ event }) => event === 'run')
    const both = { active_run_id: run, beside_run_id: data.run_id, leaf_id: answer }
    expect(await conversation(id)).toMatchObject(both)
    const listed = (await server.call('GET', '/api/conversations')).json.data.items
    expect(listed.filter((item: { id: string }) => item.id === id)).toMatchObject([both])

    gate.open()
    expect((await stream.all()).at(-1)?.event).toBe('done')
    const left = { active_run_id: data.run_id, beside_run_id: null, leaf_id: answer }
    await expect.poll(() => conversation(id)).toMatchObject(left)
    const refused = await server.call('POST', `/api/conversations/${id}/messages`, {
      body: { text: 'And then?' },
    })
    expect(refused.status).toBe(409)
    expect(refused.json.details).toEqual({ run_id: data.run_id })

    second.open()
    expect((await beside.all()).at(-1)?.event).toBe('done')
    await expect.poll(() => conversation(id)).toMatchObject({ active_run_id: null })
    const { items } = (await server.call('GET', `/api/conversations/${id}/messages`)).json.data
    expect(items.at(-1)).toMatchObject({
      text: 'The first.',
      siblings: [answer, data.message_id],
    })
    const stored = await server.call('GET', `/api/conversations/${id}/messages/${data.message_id}`)
    expect(stored.json.data).toMatchObject({ text: 'The second.', model: 'other' })
  })

  test('are at most two, to the same question, and only if the request says so', async () => {
    upstream.enqueue(turn.text('Hello.'))
    const id = await newConversation()
    const earlier = (await (await send(id, { text: 'Hi' })).all())[0]?.data.message_id
    const gate = createGate()
    upstream.enqueueFor({ model: 'scripted' }, turn.text('The first.', { until: gate.until }))
    const stream = await send(id, { text: 'Which colour?', model: 'scripted' })
    const { data } = await stream.next(({ event }) => event === 'run')
    const status = async (message: string, body: object) => {
      const path = `/api/conversations/${id}/regenerate/${message}`
      const { status: code, json } = await server.call('POST', path, { body })
      return [code, Object(json.details).run_id]
    }
    expect(await status(data.message_id, { model: 'other' })).toEqual([409, data.run_id])
    expect(await status(earlier, { beside: true })).toEqual([409, data.run_id])
    const second = createGate()
    upstream.enqueueFor({ model: 'other' }, turn.text('The second.', { until: second.until }))
    const body = { model: 'other', beside: true, client_id: 'beside-1' }
    const beside = await regenerate(id, data.message_id, body)
    const other = await beside.next(({ event }) => event === 'run')
    const joined = await regenerate(id, data.message_id, body)
    expect((await joined.next(({ event }) => event === 'run')).data).toEqual(other.data)
    expect((await status(data.message_id, { beside: true }))[0]).toBe(409)
    gate.open()
    second.open()
    for (const each of [stream, beside, joined])
      expect((await each.all()).at(-1)?.event).toBe('done')
  })

  test('stop and continue each on its own', async () => {
    const { id, stream, run, answer } = await answering('Which colour?')
    const second = createGate()
    upstream.enqueueFor({ model: 'other' }, turn.text('The second.', { until: second.until }))
    const beside = await regenerate(id, answer, { model: 'other', beside: true })
    const { data } = await beside.next(({ event }) => event === 'run')
    await server.call('POST', `/api/runs/${run}/stop`)
    expect((await stream.all()).at(-1)?.data).toMatchObject({ finish_reason: 'stopped' })
    expect(await conversation(id)).toMatchObject({ active_run_id: data.run_id })

    const resumed = createGate()
    upstream.enqueueFor({ model: 'scripted' }, turn.text('Continued.', { until: resumed.until }))
    expect((await server.call('POST', `/api/runs/${run}/resume`)).status).toBe(200)
    expect(await conversation(id)).toMatchObject({
      active_run_id: run,
      beside_run_id: data.run_id,
    })
    await server.call('POST', `/api/runs/${data.run_id}/stop`)
    expect((await beside.all()).at(-1)?.data).toMatchObject({ finish_reason: 'stopped' })
    resumed.open()
    await expect.poll(() => conversation(id)).toMatchObject({ active_run_id: null })
    expect((await server.call('GET', `/api/runs/${run}`)).json.data.status).toBe('completed')

    // While something else is answered, neither continues.
    const third = createGate()
    upstream.enqueueFor({ model: 'scripted' }, turn.text('Third.', { until: third.until }))
    const next = await send(id, { text: 'And then?', model: 'scripted' })
    const active = await next.next(({ event }) => event === 'run')
    const refused = await server.call('POST', `/api/runs/${data.run_id}/resume`)
    expect([refused.status, Object(refused.json.details).run_id]).toEqual([409, active.data.run_id])
    third.open()
    expect((await next.all()).at(-1)?.event).toBe('done')
  })

  test('begin and continue whichever of two ended before', async () => {
    const { id, gate, stream, run, answer } = await answering('Which colour?')
    const other = createGate()
    /** Requests an answer beside, which ends with the gate, and returns its run. */
    const another = async (until = other.until): Promise<string> => {
      upstream.enqueueFor({ model: 'other' }, turn.text('Another one.', { until }))
      const beside = await regenerate(id, answer, { model: 'other', beside: true })
      return (await beside.next(({ event }) => event === 'run')).data.run_id
    }
    const active = async () => {
      const { active_run_id: one, beside_run_id: two, leaf_id: leaf } = await conversation(id)
      expect(leaf).toBe(answer)
      return [one, two].filter((each) => each !== null).toSorted()
    }
    const stop = (each: string) => server.call('POST', `/api/runs/${each}/stop`)
    const second = await another()
    await stop(run)
    gate.open()
    await stream.all()
    const third = await another()
    expect(await active()).toEqual([second, third].toSorted())

    await stop(second)
    await expect.poll(active).toEqual([third])
    const fourth = await another()
    expect(await active()).toEqual([third, fourth].toSorted())
    await stop(third)
    await stop(fourth)
    await expect.poll(active).toEqual([])

    // Each of these two was alone when it began.
    const alone = await another()
    await stop(alone)
    await expect.poll(active).toEqual([])
    for (const each of [run, alone]) {
      const { model } = (await server.call('GET', `/api/runs/${each}`)).json.data
      upstream.enqueueFor({ model }, turn.text('Continued.', { until: other.until }))
      expect((await server.call('POST', `/api/runs/${each}/resume`)).status).toBe(200)
    }
    expect(await active()).toEqual([run, alone].toSorted())
    const refused = await server.call('POST', `/api/runs/${third}/resume`)
    expect(refused.status).toBe(409)
    other.open()
    await expect.poll(active).toEqual([])
  })

  test('report on their background tasks each in its own branch', async () => {
    const { id, gate, stream, answer } = await answering('Which colour?')
    const task = createGate()
    upstream.enqueueFor(
      { model: 'other' },
      turn.toolCalls([{ name: 'spawn', arguments: { task: 'count the colours' } }]),
    )
    upstream.program(({ model, messages }) =>
      model !== 'other' || messages.at(-1)?.role === 'user'
        ? JSON.stringify(messages.at(-1)?.content).includes('count the colours')
          ? turn.text('There are many.', { until: task.until })
          : undefined
        : turn.text('It is on its way.'),
    )
    const beside = await regenerate(id, answer, { model: 'other', beside: true })
    const all = await beside.all()
    const second = all.find(({ event }) => event === 'run')?.data.message_id
    gate.open()
    await stream.all()
    task.open()
    const count = async () => (await conversation(id)).message_count
    await expect.poll(count).toBe(4)
    expect(await conversation(id)).toMatchObject({ leaf_id: answer })
    await server.call('PATCH', `/api/conversations/${id}`, { body: { leaf_id: second } })
    const { items } = (await server.call('GET', `/api/conversations/${id}/messages`)).json.data
    expect(items.map(({ text }: { text: string }) => text)).toEqual([
      'Which colour?',
      'It is on its way.',
      'There are many.',
    ])
    upstream.reset()
  })

  test('are listed as waiting if either waits for a person', async () => {
    const created = await server.call('POST', '/api/projects', { body: { name: 'Colours' } })
    const { id, gate, stream, answer } = await answering('Which colour?')
    const body = { model: 'other', beside: true, project_id: created.json.data.id }
    const call = { name: 'file_write', arguments: { path: 'a.txt', content: 'blue' } }
    upstream.enqueueFor({ model: 'other' }, turn.toolCalls([call]), turn.text('Written.'))
    const beside = await regenerate(id, answer, body)
    const { data } = await beside.next(({ event }) => event === 'approval_required')
    const waiting = { active_run_status: 'awaiting_approval' }
    await expect.poll(() => conversation(id)).toMatchObject(waiting)
    const listed = (await server.call('GET', '/api/conversations')).json.data.items
    expect(listed.find((item: { id: string }) => item.id === id)).toMatchObject(waiting)
    const { beside_run_id: run } = await conversation(id)
    await server.call('POST', `/api/runs/${run}/approvals`, {
      body: { id_ref: data.id_ref, decision: 'reject' },
    })
    await expect.poll(() => conversation(id)).toMatchObject({ active_run_status: 'running' })
    gate.open()
    await Promise.all([stream.all(), beside.all()])
  })

  test('of requests that come at once, one question is answered, by at most two runs', async () => {
    const { id, gate, stream, answer } = await answering('Which colour?')
    for (let round = 0; round < 3; round += 1)
      upstream.enqueueFor({ model: 'other' }, turn.text('Some.', { until: gate.until }))
    const requests = await Promise.all([
      regenerate(id, answer, { model: 'other', beside: true }),
      send(id, { text: 'Another one', model: 'other' }),
      regenerate(id, answer, { model: 'other', beside: true }),
      send(id, { text: 'Yet another one', model: 'other' }),
    ])
    expect(requests.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409])
    const [started] = requests.filter(({ status }) => status === 200)
    gate.open()
    expect((await stream.all()).at(-1)?.event).toBe('done')
    expect((await started?.all())?.at(-1)?.event).toBe('done')
  })

  test('a deletion of the conversation stops both', async () => {
    const { id, gate, stream, answer } = await answering('Which colour?')
    upstream.enqueueFor({ model: 'other' }, turn.text('The second.', { until: gate.until }))
    const beside = await regenerate(id, answer, { model: 'other', beside: true })
    await beside.next(({ event }) => event === 'run')
    expect((await server.call('DELETE', `/api/conversations/${id}`)).status).toBe(200)
    for (const each of [stream, beside])
      expect((await each.all()).at(-1)?.data).toMatchObject({ finish_reason: 'stopped' })
    gate.open()
  })
})
