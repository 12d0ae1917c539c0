// A rolling restart: instances end and start again one after the other while people send messages through all of them.
import { afterAll, describe, expect, test } from 'vitest'
import { turn } from '../support/provider/upstream-turns.ts'
import { useInstanceProcesses } from '../support/server/instance-processes.ts'
import { createSteadyClient } from '../support/server/steady-client.ts'
import { hasRedis } from '../support/store/redis.ts'

const { post, close } = createSteadyClient()
afterAll(close)

describe.skipIf(!hasRedis)('a rolling restart of two instances', () => {
  const instances = useInstanceProcesses(2, { config: { shutdown_grace: 30 } })

  test('refuses no message: what an instance accepts while it ends is answered by the other, in the same response', async () => {
    const { processes, conversation, restart, upstream } = instances
    for (let round = 0; round < 2; round += 1) {
      const ending = round
      upstream.reset()
      // The answer keeps the instance from ending until messages have arrived there.
      let release = () => {}
      const gate = new Promise<void>((resolve) => {
        release = resolve
      })
      const ids = await Promise.all(Array.from({ length: 6 }, () => conversation(1 - ending)))
      const url = (index: number) =>
        `${instances.urlOf(ending)}/api/conversations/${ids[index]}/messages`
      upstream.enqueue(turn.text('Slow.', { until: gate }))
      const slow = post(url(0), { text: 'Go', stream: false, on_disconnect: 'continue' })
      await upstream.nextRequest()
      process.kill(processes[ending]?.pid ?? 0, 'SIGTERM')
      await expect
        .poll(async () => fetch(`${instances.urlOf(ending)}/readyz`).then(({ status }) => status))
        .toBe(503)
      const answers = ['One.', 'Two.', 'Three.', 'Four.', 'Five.']
      for (const [index, text] of answers.entries()) {
        upstream.enqueue(turn.text(text))
        const { status, body } = await post(url(index + 1), { text: 'Go', stream: false })
        expect({ status, body }).toMatchObject({ status: 200, body: expect.stringContaining(text) })
      }
      release()
      expect((await slow).status).toBe(200)
      expect(await processes[ending]?.exited).toMatchObject({ code: 0 })
      await restart(ending)
    }
  })
})
