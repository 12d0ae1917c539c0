// The change log: who receives which changes, what a reader gets after a reconnect, and what is dropped.
import { expect, test } from 'vitest'
import { createChangeLog } from '../../../server/changes/change-log.ts'
import type { Change } from '../../../server/protocol/change.ts'
import type { UserId } from '../../../server/protocol/ids.ts'

const user = (name: string) => name as UserId // ids are opaque here
const renamed = (id: string): Change => ({ type: 'conversation', id, change: 'updated' })

test('a reader that reconnects gets the missed changes of its user, once and in order', () => {
  const log = createChangeLog()
  const before = log.lastId()
  log.publish(user('ann'), renamed('1'))
  log.publish(user('bob'), renamed('2'))
  log.publish(user('ann'), renamed('3'))
  const missed = log.since(user('ann'), before)
  expect(missed?.map(({ change }) => change.id)).toEqual(['1', '3'])
  expect(log.since(user('ann'), missed?.at(-1)?.id ?? '')).toEqual([])
  expect(log.since(user('bob'), before)?.map(({ change }) => change.id)).toEqual(['2'])
})

test('an id that is too old, in the future, from another process or malformed is unknown', () => {
  const log = createChangeLog()
  const before = log.lastId()
  for (let at = 0; at <= 500; at += 1) log.publish(user('ann'), renamed(String(at)))
  expect(log.since(user('ann'), before)).toBeNull()
  for (const id of ['', '7', 'x-1', `${before}-1`, before.replace(/-0$/, '-999999')])
    expect(log.since(user('ann'), id), id).toBeNull()
  expect(log.since(user('ann'), log.lastId())).toEqual([])
})

test('a reader whose changes were dropped is notified, and no change is missed silently', () => {
  const log = createChangeLog()
  const before = log.lastId()
  log.publish(user('first'), renamed('1'))
  for (let at = 0; at < 1_000; at += 1) log.publish(user(`user ${at}`), renamed('1'))
  expect(log.since(user('first'), before)).toBeNull()
  log.publish(user('first'), renamed('2'))
  expect(log.since(user('first'), before)).toBeNull()
})

test('listeners receive the changes of their own user until they unsubscribe', () => {
  const log = createChangeLog()
  let notified = 0
  const leave = log.subscribe(user('ann'), () => {
    notified += 1
  })
  log.publish(user('ann'), renamed('1'))
  log.publish(user('bob'), renamed('1'))
  leave()
  log.publish(user('ann'), renamed('2'))
  expect(notified).toBe(1)
})
