// What the metrics say about webhooks and backups.
import { expect, test } from 'vitest'
import { createStore } from '../../../../../server/db/store.ts'
import { newId } from '../../../../../server/lib/ids.ts'
import { COMMAND_LINE } from '../../../../../server/protocol/admin/audit.ts'
import { describeOnEachDatabase } from '../../../../support/store/databases.ts'
import { addUser } from '../../../../support/store/rows.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))

describeOnEachDatabase('what metrics count', (open) => {
  test('a webhook fails from a refused event until it takes a later one, and not while it is off', async () => {
    const database = await open()
    const { webhooks } = createStore(database)
    const userId = await addUser(database)
    const id = newId<string>()
    const created = { id, userId, url: 'https://example.org/', events: ['run.ended' as const] }
    const secrets = { sealedSecret: 'sealed', sealedEarlierSecret: null, earlierUntil: null }
    await webhooks.insert(
      { ...created, ...secrets, isActive: true, createdAt: at(0) },
      1,
      async () => undefined,
    )
    /** An event that was sent once. */
    const sent = async (minute: number, isTaken: boolean) => {
      const delivery = newId<string>()
      const event = { id: delivery, userId, webhookId: id, event: 'run.ended', content: '{}' }
      await database.write((tx) =>
        webhooks.enqueue(
          tx,
          userId,
          () => true,
          () => ({
            ...event,
            occurrence: delivery,
            status: 'pending',
            attempts: 1,
            nextAttemptAt: at(minute),
            lastError: null,
            lastFailure: null,
            createdAt: at(minute),
          }),
          10,
        ),
      )
      await webhooks.settle(delivery, {
        status: isTaken ? 'delivered' : 'failed',
        nextAttemptAt: null,
        lastError: isTaken ? null : 'refused',
        lastFailure: null,
      })
    }
    expect(await webhooks.countFailing()).toBe(0)
    await sent(1, true)
    expect(await webhooks.countFailing()).toBe(0)
    await sent(2, false)
    await sent(3, false)
    expect(await webhooks.countFailing()).toBe(1)
    await webhooks.update(userId, id, { isActive: false })
    expect(await webhooks.countFailing()).toBe(0)
    await webhooks.update(userId, id, { isActive: true })
    await sent(4, true)
    expect(await webhooks.countFailing()).toBe(0)
  })

  test('the last backup is the newest complete one', async () => {
    const database = await open()
    const { audit } = createStore(database)
    const backup = (minute: number, complete: boolean) =>
      database.write((tx) =>
        audit.record(tx, COMMAND_LINE, {
          action: 'backup_created',
          at: at(minute),
          details: { folder: '/backups/one', complete },
        }),
      )
    expect(await audit.lastBackup()).toBeNull()
    await backup(1, false)
    expect(await audit.lastBackup()).toBeNull()
    await backup(2, true)
    await backup(3, false)
    expect(await audit.lastBackup()).toEqual(at(2))
  })
})
