// The options of a new run: what differs when nobody looks at it.
import { expect, test } from 'vitest'
import { runOptions } from '../../../../server/chat/send.ts'
import type { RunOrigin } from '../../../../server/protocol/runs/origin.ts'

const settings = { approvalDefault: () => 'ask' as const, unattendedDeadline: 86_400 }
const conversation = { approval: null, approvalDeadline: null }
const optionsOf = (body: Parameters<typeof runOptions>[0], own: object = {}) =>
  runOptions(body, { ...conversation, ...own }, settings)

test.each<RunOrigin>([
  { type: 'schedule', id: '1', name: 'Morning' },
  { type: 'hook', id: '1', name: 'Deployed' },
  { type: 'channel', id: '2', sender: { id: '3', external_id: '42', name: 'Ann' } },
])(
  'a run that comes from a $type goes on without listeners, and its requests expire after the time that the server sets',
  (origin) => {
    expect(optionsOf({ origin, on_disconnect: 'stop' })).toMatchObject({
      origin,
      onDisconnect: 'continue',
      approvalDeadline: 86_400,
    })
    expect(optionsOf({ origin }, { approvalDeadline: 60 }).approvalDeadline).toBe(60)
    expect(optionsOf({ origin, approval_deadline: 70 }).approvalDeadline).toBe(70)
    expect(optionsOf({ origin, approval_deadline: null })).not.toHaveProperty('approvalDeadline')
  },
)

test('a run of a person or a program stops without listeners unless the request says otherwise, and its requests do not expire', () => {
  for (const origin of [undefined, { type: 'page' }, { type: 'api' }, { type: 'app' }] as const) {
    const options = optionsOf(origin === undefined ? {} : { origin })
    expect(options).toMatchObject({ origin: origin ?? { type: 'page' }, onDisconnect: 'grace' })
    expect(options).not.toHaveProperty('approvalDeadline')
  }
})
