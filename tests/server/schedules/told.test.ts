// What people are told of a schedule through a channel: in the language of its task, with the reason in words.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SqliteClient } from '../../../server/lib/sqlite-driver.ts'
import { eventually } from '../../support/eventually.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { startReceiver } from '../messaging/receivers.ts'
import { useScheduleServer } from './schedule-server.ts'

const upstream = await useUpstream()
const on = useScheduleServer(upstream, 'sqlite')

test('an end that is none as required is told in the language of the task, and that the schedule is off', async () => {
  const receiver = await startReceiver()
  await on.open({ schedules: { max_failures: 1 } })
  await on.call('POST', '/api/channels', {
    type: 'webhook',
    name: 'hook',
    settings: { url: receiver.url },
  })
  const { id } = await on.create({
    name: 'Täglicher Bericht',
    text: 'Schreibe mir bitte, was es heute Neues gibt, und ob die Sicherung fertig ist.',
    when: { every: '1d' },
    checks: [
      { answer: 'contains', value: 'fertig' },
      { tool: 'file_write', is: 'succeeded' },
    ],
    notify: ['channel:hook'],
  })
  await on.call('POST', `/api/schedules/${id}/run`)
  await eventually(() => expect(receiver.received).toHaveLength(1))
  const { body } = receiver.received[0] ?? { body: '' }
  const { content } = JSON.parse(body) as { content: string } // a webhook of a channel sends an object
  expect(content.split('\n')).toEqual([
    'Täglicher Bericht: Nicht wie verlangt',
    'Der Zeitplan ist jetzt ausgeschaltet.',
    '✗ fertig: nicht gefunden',
    '✗ file_write: erfolgreiche Aufrufe: 0 von 0',
  ])
})

test('why a run failed is told in the language of the task, and named for readers of any other', async () => {
  const receiver = await startReceiver()
  await on.open()
  await on.call('POST', '/api/channels', {
    type: 'webhook',
    name: 'hook',
    settings: { url: receiver.url },
  })
  const failing = await on.create({
    name: '日报',
    text: '请写一份今天的日报。',
    when: { every: '1d' },
    notify: ['channel:hook'],
  })
  on.answerWith(() => turn.error(401, 'No such key.'))
  await on.call('POST', `/api/schedules/${failing.id}/run`)
  await eventually(() => expect(receiver.received).toHaveLength(1))
  const told = receiver.received.map(({ body }) => JSON.parse(body).content as string) // as above
  expect(told[0]).toMatch(/^日报：失败\n[^a-z]*scripted[^a-z]*提供商的说明：No such key\.$/)
  const [occurrence] = await on.occurrences(failing.id)
  expect(occurrence).toMatchObject({
    state: 'failed',
    failure: {
      reason: 'model_unauthorized',
      params: { model: 'scripted', detail: 'No such key.' },
    },
  })
})

test('why what is watched could not be read is told in the language of the task, and named for readers of any other', async () => {
  const receiver = await startReceiver()
  const site = createServer((_request, response) => response.writeHead(503).end())
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void site.close())
  await on.open()
  await on.call('POST', '/api/channels', {
    type: 'webhook',
    name: 'hook',
    settings: { url: receiver.url },
  })
  const { port } = site.address() as AddressInfo // it listens on a port
  const { id } = await on.create({
    name: 'Preise',
    text: 'Sage mir bitte, was sich auf der Seite geändert hat.',
    when: { every: '5m' },
    watch: { page: `http://127.0.0.1:${port}/` },
    notify: ['channel:hook'],
  })
  for (const [failures, time] of ['07:34:52', '07:39:52', '07:44:52'].entries()) {
    await on.clock.passTo(`2026-03-27T${time}Z`)
    await eventually(async () => expect((await on.get(id)).watch_failures).toBe(failures + 1))
  }
  await eventually(() => expect(receiver.received).toHaveLength(1))
  const { content } = JSON.parse(receiver.received[0]?.body ?? '') as { content: string } // as above
  expect(content.split('\n')).toEqual([
    'Preise: Fehlgeschlagen',
    'Was beobachtet wird, ließ sich nicht lesen.',
    'Die Seite hat mit Status 503 geantwortet.',
  ])
  expect(await on.occurrences(id)).toMatchObject([
    {
      state: 'failed',
      detail: 'The page responded with HTTP status 503.',
      failure: { reason: 'page_refused', params: { status: 503 } },
    },
  ])
})

test.skipIf(process.platform !== 'linux')(
  'what the command of a check found is told in the language of the task, also why it has no exit code',
  async () => {
    const receiver = await startReceiver()
    await on.open({ tools: { exec: { enabled: true, processes: 20 } } })
    await on.call('POST', '/api/channels', {
      type: 'webhook',
      name: 'hook',
      settings: { url: receiver.url },
    })
    const project = await on.call('POST', '/api/projects', { name: 'Sicherung' })
    const many = 'for i in 1 2 3 4 5 6 7 8 9 10; do (sleep 30 | sleep 30 | sleep 30) & done; wait'
    const { id } = await on.create({
      name: 'Täglicher Bericht',
      text: 'Prüfe bitte, ob die Sicherung vollständig ist.',
      when: { every: '1d' },
      project_id: project.id,
      checks: [
        { command: 'true', exits: 0 },
        { command: 'exit 3', exits: 0 },
        { command: many, exits: 0 },
      ],
      notify: ['channel:hook'],
    })
    await on.call('POST', `/api/schedules/${id}/run`)
    await eventually(() => expect(receiver.received).toHaveLength(1))
    const { content } = JSON.parse(receiver.received[0]?.body ?? '') as { content: string } // as above
    expect(content.split('\n')).toEqual([
      'Täglicher Bericht: Nicht wie verlangt',
      '✗ exit 3: Exit-Code 3',
      `✗ ${many}: Der Befehl hatte mehr als 20 Prozesse gleichzeitig.`,
    ])
    const [{ checks }] = await on.occurrences(id)
    expect(checks).toMatchObject([
      { passed: true },
      { passed: false, detail: 'exit code 3' },
      { passed: false, failure: { reason: 'command_too_many_processes', params: { limit: 20 } } },
    ])
  },
)

test('what was missed while the server was down is told with the reason', async () => {
  const receiver = await startReceiver()
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-told-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const server = await on.open({}, folder)
  await on.call('POST', '/api/channels', {
    type: 'webhook',
    name: 'hook',
    settings: { url: receiver.url },
  })
  await on.create({ when: { every: '1d' }, catch_up: 'none', notify: ['channel:hook'] })
  await server.close()
  await on.clock.set('2026-03-28T09:00:00Z')
  await on.open({}, folder)
  await eventually(() => expect(receiver.received).toHaveLength(1))
  const { content } = JSON.parse(receiver.received[0]?.body ?? '') as { content: string } // as above
  expect(content).toBe('Morning: Missed\nTimes that were missed are not made up for.')
})

test('a run that was given up because the server ended again and again is told with that reason, and listed with it', async () => {
  const receiver = await startReceiver()
  const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-told-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'schedules.db')
  const server = await on.open({ db_sqlite_file: file }, folder)
  await on.call('POST', '/api/channels', {
    type: 'webhook',
    name: 'hook',
    settings: { url: receiver.url },
  })
  const { id } = await on.create({ when: { every: '1d' }, notify: ['channel:hook'] })
  const never = new Promise<void>(() => undefined)
  on.answerWith(() => turn.text('Still at work.', { until: never }))
  const asked = upstream.nextRequest()
  await on.call('POST', `/api/schedules/${id}/run`)
  await asked
  await server.close()
  // As after seven processes that died.
  const database = new SqliteClient(file)
  database.exec('update runs set failed_attempts = 7')
  database.close()
  await on.open({ db_sqlite_file: file }, folder)
  await eventually(() => expect(receiver.received).toHaveLength(1))
  const { content } = JSON.parse(receiver.received[0]?.body ?? '') as { content: string } // as above
  expect(content).toBe(
    'Morning: Failed\nThe server ended unexpectedly several times while it was at work, so it was given up.',
  )
  expect(await on.occurrences(id)).toMatchObject([{ state: 'failed', reason: 'interrupted' }])
})
