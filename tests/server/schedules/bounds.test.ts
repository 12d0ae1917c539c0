// What bounds schedules, from outside: quotas, busy conversations, and what is watched while it or the server changes.
import { mkdtempSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { DIALECTS } from '../../support/store/dialects.ts'
import { startReceiver } from '../messaging/receivers.ts'
import { useScheduleServer } from './schedule-server.ts'

const upstream = await useUpstream()

/** A site whose pages a test answers itself. */
async function startSite(answer: (path: string, response: ServerResponse) => void) {
  const site = createServer((request, response) => answer(request.url ?? '', response))
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    site.closeAllConnections()
    await new Promise((resolve) => site.close(resolve))
  })
  const { port } = site.address() as AddressInfo // never null or a path: it listens on TCP
  return (path: string): string => `http://127.0.0.1:${port}${path}`
}
const say = (response: ServerResponse, text: string): void => {
  response.setHeader('content-type', 'text/plain; charset=utf-8').end(text)
}

describe.each(DIALECTS)('bounds of schedules on %s', (dialect) => {
  const schedules = useScheduleServer(upstream, dialect)
  const { open, call, create, get, occurrences, states } = schedules

  test('one beyond a lowered quota is switched off when it is due, which is listed, and webhooks learn of times without a run', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-schedules-'))
    const receiver = await startReceiver()
    const before = await open({}, folder)
    await call('POST', '/api/webhooks', { url: receiver.url, events: ['schedule.ended'] })
    const kept = await create({ when: { every: '5m' }, catch_up: 'none' })
    await schedules.clock.passTo('2026-03-27T07:29:51Z')
    const beyond = await create({ when: { every: '5m' } })
    await before.close()
    await schedules.clock.set('2026-03-27T07:42:00Z')
    await open({ schedules: { max_per_user: 1 } }, folder)
    await schedules.clock.passTo('2026-03-27T07:42:02Z')
    await eventually(async () =>
      expect(await get(beyond.id)).toMatchObject({
        enabled: false,
        disabled_reason: 'quota',
        next_at: null,
      }),
    )
    expect(await states(beyond.id)).toEqual([
      ['07:39:51', 'skipped'],
      ['07:34:51', 'missed'],
    ])
    await eventually(async () =>
      expect(await states(kept.id)).toEqual([
        ['07:39:50', 'missed'],
        ['07:34:50', 'missed'],
      ]),
    )
    expect((await get(kept.id)).enabled).toBe(true)
    const told = () =>
      receiver.received.map(({ body }) => {
        const { data } = JSON.parse(body)
        return `${data.schedule_id} ${data.state} ${data.run_id}`
      })
    await eventually(() =>
      expect(told().toSorted()).toEqual(
        [
          `${kept.id} missed null`,
          `${kept.id} missed null`,
          `${beyond.id} missed null`,
          `${beyond.id} skipped null`,
        ].toSorted(),
      ),
    )
  })

  test('failures of which the last one is a used-up quota of the account switch a schedule off with this reason', async () => {
    await open({ limits: { user_tokens_per_day: 1 }, schedules: { max_failures: 2 } })
    const { id } = await create({ when: { every: '1d' } })
    // The first run uses the limit up.
    for (const runs of [1, 2, 3]) {
      await call('POST', `/api/schedules/${id}/run`)
      await eventually(async () => {
        const items = await occurrences(id)
        expect(items).toHaveLength(runs)
        expect(items[0].ended_at).not.toBeNull()
      })
    }
    expect(await get(id)).toMatchObject({ enabled: false, disabled_reason: 'quota' })
  })

  test('an answer that was complete in one model call beyond the limits of its schedule is stopped by them, whichever the limit, and is kept', async () => {
    const models = [
      { id: 'scripted', api_url: upstream.url, price: { input: 1, output: 1, currency: 'USD' } },
    ]
    const server = await open({ models, schedules: { max_failures: 2 } })
    const limited = async (limits: Record<string, unknown>) => {
      const { id } = await create({ when: { every: '1d' }, limits })
      await call('POST', `/api/schedules/${id}/run`)
      await eventually(async () => expect((await occurrences(id))[0]?.ended_at).toBeTruthy())
      const [occurrence] = await occurrences(id)
      const { items } = await call(
        'GET',
        `/api/conversations/${occurrence.conversation_id}/messages`,
      )
      return { id, occurrence, answer: items.at(-1) }
    }
    for (const [limits, reason] of [
      [{ tokens: 1 }, 'run_tokens_used_up'],
      [{ cost: 0.000_000_1 }, 'run_cost_used_up'],
    ] as const) {
      const { id, occurrence, answer } = await limited(limits)
      expect(occurrence).toMatchObject({ state: 'stopped', reason: 'budget', failure: { reason } })
      expect(answer).toMatchObject({ finish_reason: 'budget', text: 'It is done.' })
      // There is nothing to resume: it would only end so again.
      expect(answer.limit).toMatchObject({ reason, complete: true })
      const resumed = await server.call('POST', `/api/runs/${answer.run_id}/resume`)
      expect(resumed.status).toBe(409)
      expect((await get(id)).failures).toBe(1)
      await call('POST', `/api/schedules/${id}/run`)
      await eventually(async () =>
        expect(await get(id)).toMatchObject({ enabled: false, disabled_reason: 'failures' }),
      )
    }
    const within = await limited({ tokens: 1_000_000, cost: 1_000 })
    expect(within.occurrence).toMatchObject({ state: 'done', reason: null })
    expect(within.answer).toMatchObject({ finish_reason: 'stop' })
  })

  test('the conversation of a schedule begins with the defaults of its project, as one that a person begins there', async () => {
    await open()
    const project = await call('POST', '/api/projects', { name: 'Notes' })
    const defaults = {
      approval: 'auto',
      temperature: 0.3,
      max_tokens: 500,
      thinking_enabled: true,
    }
    await call('PUT', `/api/projects/${project.id}`, { defaults })
    const { id } = await create({ when: { every: '1d' }, project_id: project.id })
    await call('POST', `/api/schedules/${id}/run`)
    await eventually(async () => expect((await occurrences(id))[0]?.state).toBe('done'))
    const [{ conversation_id: conversation }] = await occurrences(id)
    expect(await call('GET', `/api/conversations/${conversation}`)).toMatchObject(defaults)
    expect(upstream.requests.at(-1)?.body).toMatchObject({ temperature: 0.3 })
  })

  test('an occurrence waits while a person is answered in its conversation, and is skipped after ten minutes', async () => {
    await open()
    const { id } = await create({ when: { every: '1h' } })
    const pass = async (ms: number) =>
      await schedules.clock.passTo(new Date(schedules.clock.now().getTime() + ms).toISOString())
    const runNow = async () => {
      // Each at a time of its own, so that the newest is the first of the list.
      await pass(1_000)
      await call('POST', `/api/schedules/${id}/run`)
    }
    await runNow()
    await eventually(async () => expect((await occurrences(id))[0].state).toBe('done'))
    const [{ conversation_id: conversation }] = await occurrences(id)
    const answering = async () => {
      let release = (): void => {}
      const until = new Promise<void>((resolve) => {
        release = resolve
      })
      schedules.answerWith(({ messages }) =>
        JSON.stringify(messages.at(-1)).includes('Wait for me')
          ? turn.text('Slow.', { until })
          : turn.text('It is done.'),
      )
      const asked = upstream.requests.length
      const sent = call('POST', `/api/conversations/${conversation}/messages`, {
        text: 'Wait for me',
        stream: false,
      })
      await eventually(() => expect(upstream.requests.length).toBeGreaterThan(asked))
      return async () => {
        release()
        await sent
      }
    }
    const first = await answering()
    await runNow()
    await eventually(async () => expect((await occurrences(id))[0].state).toBe('waiting'))
    await first()
    await eventually(async () => {
      await pass(3_000)
      expect((await occurrences(id))[0].state).toBe('done')
    })
    const second = await answering()
    await runNow()
    await eventually(async () => expect((await occurrences(id))[0].state).toBe('waiting'))
    await pass(601_000)
    await eventually(async () => {
      await pass(3_000)
      expect((await occurrences(id))[0]).toMatchObject({
        state: 'skipped',
        reason: 'conversation_busy',
        run_id: null,
      })
    })
    await second()
  })

  test('watched files start a run when their content changes, not when the same is written again, and the model sees the lines', async () => {
    await open()
    const project = await call('POST', '/api/projects', { name: 'Notes' })
    const write = (content: string) =>
      call('PUT', `/api/projects/${project.id}/files/notes/a.md`, { content })
    await write('Price: 10\n')
    const { id } = await create({
      when: { every: '5m' },
      project_id: project.id,
      watch: { files: 'notes/*.md' },
    })
    const looked = async (time: string) => {
      const { watched_at: before } = await get(id)
      await schedules.clock.passTo(`2026-03-27T${time}Z`)
      await eventually(async () => expect((await get(id)).watched_at).not.toBe(before))
    }
    await looked('07:34:52')
    await write('Price: 10\n')
    await looked('07:39:52')
    expect(await occurrences(id)).toEqual([])
    await write('Price: 12\n')
    await looked('07:44:52')
    await eventually(async () => expect(await states(id)).toEqual([['07:44:50', 'done']]))
    const seen = JSON.stringify(upstream.requests.at(-1))
    expect(seen).toContain('-Price: 10')
    expect(seen).toContain('+Price: 12')
  })

  test('what a look saw does not count when something else is watched meanwhile, or when the server stops', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-schedules-'))
    const held: ServerResponse[] = []
    const url = await startSite((path, response) => {
      if (path === '/new') say(response, 'The new page')
      else held.push(response)
    })
    const server = await open({}, folder)
    const { id } = await create({ when: { every: '5m' }, watch: { page: url('/old') } })
    await schedules.clock.passTo('2026-03-27T07:34:52Z')
    await eventually(() => expect(held).toHaveLength(1))
    await call('PATCH', `/api/schedules/${id}`, { watch: { page: url('/new') } })
    const [first] = held
    if (first !== undefined) say(first, 'The old page')
    await eventually(async () => {
      await schedules.clock.passTo(new Date(schedules.clock.now().getTime() + 2_000).toISOString())
      expect((await get(id)).watched_at).toBeTruthy()
    })
    const { watched_at: looked } = await get(id)
    await schedules.clock.passTo('2026-03-27T07:39:52Z')
    await eventually(async () => expect((await get(id)).watched_at).not.toBe(looked))
    expect(await occurrences(id), 'the old page is not what the new one is compared with').toEqual(
      [],
    )

    await call('PATCH', `/api/schedules/${id}`, { watch: { page: url('/old') } })
    await schedules.clock.passTo('2026-03-27T07:44:52Z')
    await eventually(() => expect(held).toHaveLength(2))
    await server.close()
    await open({}, folder)
    expect(await get(id)).toMatchObject({ watch_failures: 0, enabled: true })
    expect(await occurrences(id)).toEqual([])
  })
})
