// Promises of who is told that a run or a request has changed.
import { describe, expect, test } from 'vitest'
import { createAnnouncer } from '../../../server/changes/change-log.ts'
import { newId } from '../../../server/lib/ids.ts'
import type { Change } from '../../../server/protocol/change.ts'
import type { ConversationId, RunId, UserId } from '../../../server/protocol/ids.ts'

const ann = newId<UserId>()
const ben = newId<UserId>()
const conversation_id = newId<ConversationId>()
const run = (): Extract<Change, { type: 'run' }> => ({
  type: 'run',
  id: newId(),
  change: 'updated',
  conversation_id,
})

describe('an announcement', () => {
  test('goes to the pages of its user, whatever it is', () => {
    const published: unknown[] = []
    const { announce } = createAnnouncer((userId, change) => published.push([userId, change]), {
      approval: () => {},
    })
    const change = run()
    announce(ann, change)
    expect(published).toEqual([[ann, change]])
  })

  test('of a run reaches whoever follows the runs of its user, as long as they do', () => {
    const users = new Set([ann])
    const seen: unknown[] = []
    const { announce, followRuns } = createAnnouncer(() => {}, { approval: () => {} })
    followRuns({ users, changed: (userId, runId) => seen.push([userId, runId]) })
    const [first, other, later] = [run(), run(), run()]
    announce(ann, first)
    announce(ben, other)
    users.clear()
    announce(ann, later)
    expect(seen).toEqual([[ann, first.id]])
  })

  test('of a run reaches whoever follows this run, and of another run does not', () => {
    const [followed, other] = [run(), run()]
    const seen: unknown[] = []
    const { announce, followRuns } = createAnnouncer(() => {}, { approval: () => {} })
    followRuns({
      runs: new Set<string>([followed.id]),
      changed: (_userId, runId) => seen.push(runId),
    })
    announce(ann, other)
    announce(ben, followed)
    expect(seen).toEqual([followed.id])
  })

  test('of a request goes to those who may decide it, and of a run does not', () => {
    const told: unknown[] = []
    const { announce } = createAnnouncer(() => {}, {
      approval: (userId, { id }) => told.push([userId, id]),
    })
    const id = newId()
    announce(ann, run())
    announce(ann, {
      ...{ type: 'approval', id, change: 'created', conversation_id },
      run_id: newId<RunId>(),
    })
    expect(told).toEqual([[ann, id]])
  })
})
