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

test('a change for many reaches those with an open page, and the others read everything again when they return', () => {
  const log = createChangeLog({ maxStored: 1 })
  const [ann, bob, eve] = ['ann', 'bob', 'eve'].map(user) as [UserId, UserId, UserId]
  const leaveAnn = log.subscribe(ann, () => {})
  log.subscribe(bob, () => {})()
  for (const one of [bob, eve]) log.publish(one, renamed('1'))
  const before = log.lastId()
  log.publishToAll([ann, bob], renamed('2'))
  expect(log.since(ann, before)?.map(({ change }) => change.id)).toEqual(['2'])
  expect(log.since(bob, before)).toBeNull()
  expect(log.since(eve, before)).toEqual([])
  log.publishToAll([bob], renamed('3'))
  expect(log.since(bob, before)).toBeNull()
  const afterwards = log.lastId()
  leaveAnn()
  log.publishToAll([ann, bob], renamed('4'))
  for (const one of [ann, bob]) {
    log.subscribe(one, () => {})
    expect(log.since(one, afterwards)).toBeNull()
    expect(log.since(one, log.lastId())).toEqual([])
  }
})

test('an open page that has received everything goes on without reading everything again, however many changes others have', () => {
  const log = createChangeLog()
  log.subscribe(user('ann'), () => {})
  log.publish(user('ann'), renamed('1'))
  const seen = log.lastId()
  for (let at = 0; at < 1_500; at += 1) log.publish(user(`user ${at}`), renamed('1'))
  log.publish(user('ann'), renamed('2'))
  expect(log.since(user('ann'), seen)?.map(({ change }) => change.id)).toEqual(['2'])
})
