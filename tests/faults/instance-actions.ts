// Actions on several instances that the long fault tests share, whatever the fault.
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { RunId } from '../../server/protocol/ids.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import type { ReceivedEvent } from '../support/server/events.ts'
import { type InstanceProcesses, textsOf } from '../support/server/instance-processes.ts'

/** How long Redis is away. */
const AWAY_MS = 30_000
/** A request that waits for Redis may take 2 s; the rest is for a busy machine. */
const REQUEST_MS = 10_000

interface Begun {
  id: string
  runId: RunId
}

export const isEnd = ({ event }: ReceivedEvent): boolean => event === 'done' || event === 'error'

/** What the tests of all faults do with their instances. */
export function actionsOn(instances: InstanceProcesses) {
  const { call, conversation, send } = instances
  return {
    async begin(through: number): Promise<Begun> {
      const id = await conversation(through)
      const stream = await send(through, id)
      const { data } = await stream.next(({ event }) => event === 'run')
      // The model has been called, so the next answer of the provider is for the instance that takes over.
      await stream.next(({ event }) => event === 'step_delta')
      stream.leave()
      return { id, runId: data.run_id }
    },
    /** The message exists once, the run has ended once, and the tokens of its answer are those of the run. */
    async assertWhole({ id, runId }: Begun): Promise<void> {
      const { items } = await call(0, 'GET', `/api/conversations/${id}/messages`)
      expect(items.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant'])
      const run = await instances.store.runs.find(runId)
      expect(run).toMatchObject({ status: 'completed' })
      expect(items[1].token_count).toBe(run?.completionTokens)
    },
    /** Sends one message and waits for the whole answer. */
    async ask(through: number, id: string, text: string): Promise<void> {
      const response = await fetch(`${instances.urlOf(through)}/api/conversations/${id}/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text, stream: false }),
        signal: AbortSignal.timeout(REQUEST_MS),
      })
      expect(response.status).toBe(200)
    },
  }
}

/** A long answer goes on while Redis is away for half a minute, new ones begin and end through every instance, and none waits. */
export async function withoutRedis(
  instances: InstanceProcesses,
  takeAway: () => unknown,
  bringBack: () => unknown,
): Promise<void> {
  const { begin, ask, assertWhole } = actionsOn(instances)
  const text = 'Said while Redis is away. '.repeat(500)
  instances.upstream.enqueue(turn.text(text, { delayMs: 20 }))
  const long = await begin(0)
  const followed = instances.followToEnd(long.runId, 1)
  await takeAway()
  const until = performance.now() + AWAY_MS
  for (let at = 0; performance.now() < until; at += 1) {
    instances.upstream.enqueue(turn.text(`Short answer ${at}.`))
    const through = at % instances.processes.length
    await ask(through, await instances.conversation(through), 'Go')
    await pause(1_000)
  }
  await bringBack()
  expect(textsOf(await followed)).toEqual([text])
  await assertWhole(long)
}
