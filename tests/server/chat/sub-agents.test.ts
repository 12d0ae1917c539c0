// Sub-agents: parallel runs, their limits and tools, approval requests, failures and usage.
import { beforeAll, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import type { UpstreamRequest } from '../../support/provider/upstream.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'
import { createTeam, toolMessages, toolsOf } from './agent-team.ts'

const upstream = await useUpstream()
const { parentAsksFor, subAgents } = createTeam(upstream)

describeOnEachServer('sub-agents', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
      titles: 'first_message',
      sub_agent: { max_iterations: 3, max_concurrency: 3, max_tokens: 777, timeout: 60 },
    })
    await server.server.toolsReady
  })

  const newConversation = async (settings: object = {}): Promise<string> =>
    (await server.call('POST', '/api/conversations', { body: settings })).json.data.id
  const send = (id: string, text = 'Go') =>
    openEvents(`${server.url}/api/conversations/${id}/messages`, {
      body: { text, stream_mode: 'delta' },
    })
  const resultOf = (
    events: readonly { event: string; data: { type?: string; content?: string } }[],
  ) =>
    JSON.parse(
      events.find(({ event, data }) => event === 'process_step' && data.type === 'tool_result')
        ?.data.content ?? '{}',
    )

  test('run in parallel, one that fails does not affect the others, and their tokens count for the run', async () => {
    const arrived = new Set<string>()
    let everybodyIsThere = (): void => {}
    const together = new Promise<void>((resolve) => {
      everybodyIsThere = resolve
    })
    parentAsksFor([
      { name: 'sun', instruction: 'look at the sun' },
      { name: 'moon', instruction: 'look at the moon' },
      { name: 'void', instruction: 'look at nothing' },
    ])
    subAgents((_request, task) => {
      arrived.add(task)
      if (arrived.size === 3) everybodyIsThere()
      // The answers wait until all three requests have arrived, so the test passes only if they run in parallel.
      if (task.includes('nothing')) return turn.error(400, 'no such model here')
      return turn.text(`I saw it: ${task}`, { until: together })
    })
    const id = await newConversation()
    const stream = await send(id)
    const events = await stream.all()
    expect(resultOf(events)).toMatchObject({
      success: true,
      data: {
        total: 3,
        results: [
          { task_name: 'sun', success: true, response: 'I saw it: look at the sun' },
          { task_name: 'moon', success: true, response: 'I saw it: look at the moon' },
          { task_name: 'void', success: false, error: expect.any(String) },
        ],
      },
    })
    const progress = events.filter(({ event }) => event === 'tool_progress')
    expect(progress.at(-1)?.data).toMatchObject({
      id_ref: 'call_team',
      progress: {
        agents: [{ name: 'sun', state: 'done' }, { state: 'done' }, { state: 'failed' }],
      },
    })
    const step = events.find(({ data }) => data.type === 'tool_result')?.data
    expect(step.artifact).toMatchObject({ display: '3 sub-agents, 1 failed' })
    // Four answers with 10 prompt tokens each: two of the parent, two of its sub-agents.
    expect(events.at(-1)).toMatchObject({ event: 'done', data: { usage: { prompt_tokens: 40 } } })
    const runs = (await server.call('GET', '/api/runs')).json.data.items
    const run = runs.find((one: { conversation_id: string }) => one.conversation_id === id)
    const { entries } = (await server.call('GET', `/api/runs/${run.id}/timeline`)).json.data
    expect(entries.find(({ id_ref }: { id_ref?: string }) => id_ref === 'call_team')).toMatchObject(
      { sub_agents: { model_calls: 2, tool_calls: 0, prompt_tokens: 20, cost: {} } },
    )
  })

  test('have their own messages and limits, cannot start sub-agents, and get no tools in their last iteration', async () => {
    const rounds: UpstreamRequest[] = []
    parentAsksFor([{ name: 'loop', instruction: 'never stop' }])
    subAgents((request) => {
      rounds.push(request)
      return toolsOf(request).length === 0
        ? turn.text('That is what I have.')
        : turn.toolCalls([{ name: 'calculator', arguments: { expression: `${rounds.length}+1` } }])
    })
    const events = await (await send(await newConversation(), 'a secret of the parent')).all()
    expect(resultOf(events).data.results[0]).toMatchObject({
      success: true,
      response: 'That is what I have.',
    })
    expect(rounds).toHaveLength(3)
    expect(rounds.map((request) => toolsOf(request).length > 0)).toEqual([true, true, false])
    expect(toolsOf(rounds[0] as UpstreamRequest)).not.toContain('multi_agent')
    expect(toolsOf(rounds[0] as UpstreamRequest)).not.toContain('spawn')
    expect(JSON.stringify(rounds[0]?.messages)).not.toContain('a secret of the parent')
    expect(rounds[0]?.body.max_tokens ?? rounds[0]?.body.max_completion_tokens).toBe(777)
    expect(rounds[0]?.messages.at(-1)?.content).toBe('never stop')
  })

  test('cannot use a tool that they were not given', async () => {
    parentAsksFor([
      { name: 'narrow', instruction: 'use the forbidden one', tools: ['calculator', 'spawn'] },
      { name: 'unknown', instruction: 'never begins', tools: ['teleport'] },
    ])
    let seen = ''
    subAgents((request) => {
      if (toolMessages(request).length > 0) {
        seen = String(toolMessages(request)[0]?.content)
        return turn.text('It was refused.')
      }
      expect(toolsOf(request)).toEqual(['calculator'])
      return turn.toolCalls([{ name: 'save_memory', arguments: { fact: 'x' } }])
    })
    const { data } = resultOf(await (await send(await newConversation())).all())
    expect(JSON.parse(seen)).toMatchObject({ success: false })
    expect(seen).toContain('no tool named')
    expect(data.results).toMatchObject([
      { success: true },
      { success: false, error: expect.stringContaining('teleport') },
    ])
  })

  test('can read the rest of a long result even if their task names only another tool', async () => {
    parentAsksFor([{ name: 'reader', instruction: 'read it all', tools: ['text_process'] }])
    const offered: string[][] = []
    subAgents((request) => {
      offered.push(toolsOf(request))
      const [first, second] = toolMessages(request)
      if (second !== undefined) return turn.text(`It ends so: ${second.content}`)
      if (first === undefined)
        return turn.toolCalls([
          {
            name: 'text_process',
            arguments: { text: `${'ab '.repeat(25_000)}the end`, operation: 'reverse' },
          },
        ])
      const [, handle] = /handle=\\\\?\\?"([^"\\]+)/.exec(String(first.content)) ?? []
      return turn.toolCalls([{ name: 'result_read', arguments: { handle, offset: 74_000 } }])
    })
    const { data } = resultOf(await (await send(await newConversation())).all())
    expect(data.results).toMatchObject([
      { success: true, response: expect.stringContaining('ba ba') },
    ])
    expect(offered).toEqual([['text_process'], ['text_process', 'result_read'], []])
  })

  test('wait for approval in the run of their parent and continue once it is given', async () => {
    const target = await newConversation({ title: 'Target' })
    parentAsksFor([{ name: 'writer', instruction: 'send it' }])
    subAgents((request) =>
      toolMessages(request).length === 0
        ? turn.toolCalls([
            { id: 'c', name: 'message', arguments: { content: 'hello', to: target } },
          ])
        : turn.text('Sent.'),
    )
    const id = await newConversation()
    const stream = await send(id)
    const approvalRequest = await stream.next(({ event }) => event === 'approval_required')
    expect(approvalRequest.data).toMatchObject({
      name: 'message',
      risk_level: 'medium',
      preview: { sub_agent: 'writer' },
    })
    const approved = await server.call(
      'POST',
      `/api/runs/${approvalRequest.data.run_id}/approvals`,
      {
        body: { id_ref: approvalRequest.data.id_ref, decision: 'approve' },
      },
    )
    expect(approved.status).toBe(200)
    expect(resultOf(await stream.all()).data.results[0]).toMatchObject({ success: true })
    const { json } = await server.call('GET', `/api/conversations/${target}/messages`)
    expect(json.data.items).toMatchObject([
      { role: 'assistant', text: expect.stringContaining('hello') },
    ])
  })

  test('fail with the reason when they take too long, and more than five tasks are refused', async () => {
    const strict = await start({
      models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
      titles: 'first_message',
      sub_agent: { timeout: 4 },
    })
    const { json } = await strict.call('POST', '/api/conversations', { body: {} })
    parentAsksFor([
      { name: 'slow', instruction: 'sleep' },
      { name: 'quick', instruction: 'run' },
    ])
    subAgents((_request, task) =>
      task === 'sleep' ? turn.beforeHeaders('stall') : turn.text('ran'),
    )
    const slowly = await openEvents(`${strict.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Go' },
    })
    const { data } = resultOf(await slowly.all())
    expect(data.results).toMatchObject([
      { success: false, error: 'The sub-agent did not finish within 4 seconds.' },
      { success: true, response: 'ran' },
    ])

    upstream.reset()
    parentAsksFor(Array.from({ length: 6 }, (_, i) => ({ name: `t${i}`, instruction: 'x' })))
    const refused = resultOf(await (await send(await newConversation())).all())
    expect(refused).toMatchObject({ success: false, error: expect.stringContaining('tasks') })
  })

  test('stop when the run is stopped, and their connections are closed', async () => {
    parentAsksFor([{ name: 'stuck', instruction: 'wait' }])
    let asked: UpstreamRequest | undefined
    subAgents((request) => {
      asked = request
      return turn.beforeHeaders('stall')
    })
    const stream = await send(await newConversation())
    const run = await stream.next(({ event }) => event === 'run')
    await eventually(() => expect(asked).toBeDefined())
    await server.call('POST', `/api/runs/${run.data.run_id}/stop`)
    expect(await asked?.closed).toBe('client_left')
    expect((await stream.all()).at(-1)).toMatchObject({ data: { finish_reason: 'stopped' } })
  })
})
