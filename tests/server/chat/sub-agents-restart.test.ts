// Sub-agents of a run that is interrupted by a restart or a stop and then continues.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { openEvents } from '../../support/server/events.ts'
import { useServers } from '../../support/server/server.ts'
import { createTeam, toolMessages } from './agent-team.ts'

const upstream = await useUpstream()
const { parentAsksFor, subAgents } = createTeam(upstream)

describe('sub-agents of an interrupted run', () => {
  const { start } = useServers()

  test('continue after a restart: the same approval request waits, and nothing is requested twice', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sub-agents-test-'))
    const place = {
      folder,
      config: {
        models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
        titles: 'first_message',
        db_type: 'sqlite',
        db_sqlite_file: join(folder, 'claw.db'),
      },
    }
    parentAsksFor([
      { name: 'writer', instruction: 'send it' },
      { name: 'reader', instruction: 'read it' },
    ])
    const asked: string[] = []
    subAgents((request, task) => {
      asked.push(task)
      if (task === 'read it') return turn.text('I read it.')
      return toolMessages(request).length === 0
        ? turn.toolCalls([{ name: 'message', arguments: { content: 'hello' } }])
        : turn.text(`I was told: ${toolMessages(request)[0]?.content}`)
    })
    const first = await start(place)
    const { json } = await first.call('POST', '/api/conversations', { body: {} })
    const stream = await openEvents(`${first.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Go', on_disconnect: 'continue' },
    })
    const question = await stream.next(({ event }) => event === 'approval_required')
    await stream.next(
      ({ event, data }) => event === 'tool_progress' && data.progress.agents[1].state === 'done',
    )
    await first.close()

    const second = await start(place)
    const { run_id, id_ref } = question.data
    const listening = await openEvents(`${second.url}/api/runs/${run_id}/events`, {})
    const again = await listening.next(({ event }) => event === 'approval_required')
    expect(again.data).toEqual(question.data)
    await second.call('POST', `/api/runs/${run_id}/approvals`, {
      body: { id_ref, decision: 'reject', reason: 'not now' },
    })
    await listening.all()
    const messages = await second.call('GET', `/api/conversations/${json.data.id}/messages`)
    const [, answer] = messages.json.data.items
    expect(answer).toMatchObject({ text: 'All done.' })
    expect(JSON.parse(answer.tool_calls[0].result).data.results).toMatchObject([
      { success: true, response: expect.stringContaining('not now') },
      { success: true, response: 'I read it.' },
    ])
    expect(asked.sort()).toEqual(['read it', 'send it', 'send it'])
    await second.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('have no pending approval request after the run was stopped and resumed', async () => {
    const server = await start({
      config: {
        models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
        titles: 'first_message',
      },
    })
    parentAsksFor([{ name: 'writer', instruction: 'send it' }])
    subAgents(() => turn.toolCalls([{ name: 'message', arguments: { content: 'hello' } }]))
    const { json } = await server.call('POST', '/api/conversations', { body: {} })
    const stream = await openEvents(`${server.url}/api/conversations/${json.data.id}/messages`, {
      body: { text: 'Go' },
    })
    const question = await stream.next(({ event }) => event === 'approval_required')
    const run = `/api/runs/${question.data.run_id}`
    await server.call('POST', `${run}/stop`)
    await server.call('POST', `${run}/resume`)
    await eventually(async () =>
      expect((await server.call('GET', run)).json.data).toMatchObject({
        status: 'completed',
        pending_approvals: [],
      }),
    )
  })
})
