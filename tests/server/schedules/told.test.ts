// What people are told of a schedule through a channel: in the language of its task, with the reason in words.
import { mkdtempSync, rmSync } from 'node:fs'
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
