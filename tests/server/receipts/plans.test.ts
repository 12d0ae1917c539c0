// Plans: a checklist that the model writes and the person changes while the answer is written.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer, useServers } from '../../support/server/server.ts'

const upstream = await useUpstream()

const items = (...states: string[]) =>
  states.map((state, index) => ({ id: String(index + 1), text: `Step ${index + 1}`, state }))

describeOnEachServer('the plan of an answer', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
      titles: 'off',
    })
    await server.server.toolsReady
  })

  const send = async (approval = 'ask') => {
    const { json } = await server.call('POST', '/api/conversations', { body: { approval } })
    const path = `/api/conversations/${json.data.id}/messages`
    const stream = await openEvents(server.url + path, {
      body: { text: 'Go', stream_mode: 'delta' },
    })
    const { data } = await stream.next(({ event }) => event === 'run')
    return { stream, run: data.run_id as string, answer: `${path}/${data.message_id}` }
  }
  /** The run has asked the model again: whatever a person changes from now on, that request does not contain. */
  const secondRequest = async () => {
    await upstream.nextRequest()
    await upstream.nextRequest()
  }
  const plan = (states: string[], more: object = {}) =>
    turn.toolCalls([{ name: 'plan', arguments: { items: items(...states), ...more } }])

  test('is emitted, stored with the answer, sent to new listeners, and what is left of it is in the receipt', async () => {
    upstream.enqueue(plan(['doing', 'open']), plan(['done', 'doing']), turn.text('Half done.'))
    const { stream, run, answer } = await send()
    const events = await stream.all()
    const plans = events.filter(({ event }) => event === 'plan').map(({ data }) => data)
    expect(plans).toEqual([
      { run_id: run, items: items('doing', 'open'), edited_by: null },
      { run_id: run, items: items('done', 'doing'), edited_by: null },
    ])
    const message = (await server.call('GET', answer)).json.data
    expect(message.plan).toEqual({ items: items('done', 'doing'), edited_by: null })
    expect((await server.call('GET', `${answer}/receipt`)).json.data.unfinished).toEqual([
      { id: '2', text: 'Step 2', state: 'doing' },
    ])
    const later = await (await openEvents(`${server.url}/api/runs/${run}/events`)).all()
    expect(later.filter(({ event }) => event === 'plan').map(({ data }) => data)).toEqual([
      plans[1],
    ])
    const edit = { items: items('done') }
    expect((await server.call('PUT', `/api/runs/${run}/plan`, { body: edit })).status).toBe(409)
  })

  test('as a person has changed it reaches the model before its next iteration', async () => {
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    upstream.enqueue(
      plan(['doing', 'open']),
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '1+1' } }], {
        until: released,
      }),
      turn.text('Done.'),
    )
    const { stream, run, answer } = await send()
    await stream.next(({ event }) => event === 'plan')
    await secondRequest()
    const body = { items: [{ id: '9', text: 'Only this', state: 'open' }] }
    const changed = await server.call('PUT', `/api/runs/${run}/plan`, { body })
    expect(changed.json.data).toMatchObject({ ...body, edited_by: { name: 'default' } })
    release()
    await stream.all()
    const last = upstream.requests.at(-1)?.messages.at(-1)
    expect(last).toMatchObject({ role: 'tool' })
    expect(String(last?.content)).toContain('The user has changed the plan')
    expect(String(last?.content)).toContain('Only this')
    expect((await server.call('GET', answer)).json.data.plan).toEqual(changed.json.data)
    const [, , id] = answer.split('/').slice(1)
    const exported = await fetch(`${server.url}/api/conversations/${id}/export?format=json`)
    expect(JSON.parse(await exported.text()).messages[1].plan).toEqual({ ...body, edited_by: null })
  })

  test('that a person has changed is not overwritten by a model that has not seen the change', async () => {
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    upstream.enqueue(
      plan(['doing']),
      turn.toolCalls([{ name: 'plan', arguments: { items: items('done') } }], { until: released }),
      turn.text('Done.'),
    )
    const { stream, run, answer } = await send()
    await stream.next(({ event }) => event === 'plan')
    await secondRequest()
    const body = { items: [{ id: '9', text: 'Only this', state: 'open' }] }
    await server.call('PUT', `/api/runs/${run}/plan`, { body })
    release()
    const events = await stream.all()
    const results = events.filter(({ data }) => data.type === 'tool_result')
    expect(JSON.parse(results.at(-1)?.data.content)).toMatchObject({
      success: false,
      data: { items: body.items },
    })
    expect((await server.call('GET', answer)).json.data.plan.items).toEqual(body.items)
  })

  test('that needs approval waits in every mode but auto, is listed as a plan, and may be changed in the approval', async () => {
    for (const mode of ['ask', 'auto_medium']) {
      upstream.enqueue(plan(['open'], { needs_approval: true }), turn.text('Begun.'))
      const { stream, run, answer } = await send(mode)
      const { data: asked } = await stream.next(({ event }) => event === 'approval_required')
      expect(asked).toMatchObject({ name: 'plan' })
      const { items: waiting } = (await server.call('GET', '/api/approvals')).json.data
      expect(waiting[0]).toMatchObject({ id: asked.approval_id, type: 'plan', name: 'plan' })
      const other = [{ id: 'a', text: 'Another way', state: 'open' }]
      const decision = {
        id_ref: asked.id_ref,
        decision: 'approve',
        arguments: { items: other, needs_approval: true },
      }
      await server.call('POST', `/api/runs/${run}/approvals`, { body: decision })
      const events = await stream.all()
      expect((await server.call('GET', answer)).json.data.plan).toEqual({
        items: other,
        edited_by: { id: expect.any(String), name: 'default' },
      })
      const { data: shown } = events.find(({ event }) => event === 'plan') ?? { data: null }
      expect(shown).toMatchObject({ items: other, edited_by: { name: 'default' } })
      // The model learns of the change.
      const result = events.find(({ data }) => data.type === 'tool_result')
      expect(JSON.parse(result?.data.content).data.items).toEqual(other)
    }
    // What a person approves as it is stays the model's.
    upstream.enqueue(plan(['open'], { needs_approval: true }), turn.text('Begun.'))
    const { stream, run, answer } = await send('ask')
    const { data: asked } = await stream.next(({ event }) => event === 'approval_required')
    await server.call('POST', `/api/runs/${run}/approvals`, {
      body: { id_ref: asked.id_ref, decision: 'approve' },
    })
    await stream.all()
    expect((await server.call('GET', answer)).json.data.plan.edited_by).toBeNull()

    upstream.enqueue(plan(['open'], { needs_approval: true }), turn.text('Begun.'))
    const events = await (await send('auto')).stream.all()
    expect(events.some(({ event }) => event === 'approval_required')).toBe(false)
  })

  test('needs ids of its own, and a run without one takes none', async () => {
    upstream.enqueue(
      turn.toolCalls([
        {
          name: 'plan',
          arguments: { items: [items('open')[0], items('done')[0]] },
        },
      ]),
      turn.toolCalls([{ name: 'calculator', arguments: { expression: '1 + 1' } }]),
      turn.text('Done.'),
    )
    const { stream, run } = await send()
    await stream.next(({ data }) => data.type === 'tool_result')
    const result = stream.events.find(({ data }) => data.type === 'tool_result')
    expect(JSON.parse(result?.data.content)).toMatchObject({ success: false })
    const body = { items: items('open') }
    const refused = await server.call('PUT', `/api/runs/${run}/plan`, { body })
    expect(refused.status).toBe(409)
    await stream.all()
  })
})

describe('the plan of an answer after a restart', () => {
  const { start } = useServers()

  test('is not overwritten by a call that waited meanwhile, if a person has changed it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-plans-'))
    const place = {
      folder,
      config: {
        models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
        titles: 'off',
        db_type: 'sqlite',
        db_sqlite_file: join(folder, 'store.db'),
      },
    }
    const first = await start(place)
    await first.server.toolsReady
    const call = (states: string[], more: object) =>
      turn.toolCalls([{ name: 'plan', arguments: { items: items(...states), ...more } }])
    upstream.enqueue(call(['doing'], {}), call(['done'], { needs_approval: true }))
    const conversation = await first.call('POST', '/api/conversations', {
      body: { approval: 'ask' },
    })
    const path = `/api/conversations/${conversation.json.data.id}/messages`
    const stream = await openEvents(first.url + path, {
      body: { text: 'Go', on_disconnect: 'continue' },
    })
    const { data: run } = await stream.next(({ event }) => event === 'run')
    const { data: asked } = await stream.next(({ event }) => event === 'approval_required')
    const body = { items: [{ id: '9', text: 'Only this', state: 'open' }] }
    await first.call('PUT', `/api/runs/${run.run_id}/plan`, { body })
    await first.close()

    const second = await start(place)
    await second.server.toolsReady
    upstream.enqueue(turn.text('I see.'))
    const listening = await openEvents(`${second.url}/api/runs/${run.run_id}/events`)
    await listening.next(({ event }) => event === 'approval_required')
    await second.call('POST', `/api/runs/${run.run_id}/approvals`, {
      body: { id_ref: asked.id_ref, decision: 'approve' },
    })
    await listening.all()
    const message = (await second.call('GET', `${path}/${run.message_id}`)).json.data
    expect(message.plan).toMatchObject({ ...body, edited_by: { name: 'default' } })
    await second.close()
    rmSync(folder, { recursive: true, force: true })
  })
})
