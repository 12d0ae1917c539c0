// Messengers where two instances share the store: what is handed over to both is one message, with one run and one answer.
import { describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { startBridge } from '../../support/server/bridge.ts'
import { useClusters } from '../../support/server/cluster.ts'
import { hasRedis } from '../../support/store/redis.ts'

const upstream = await useUpstream()
const clusters = useClusters()
const ANN = { id: 'ann', name: 'Ann' }

describe.skipIf(!hasRedis)('two instances', () => {
  test('take what is handed over to both once, and send each answer once', async () => {
    upstream.program(() => turn.text('It is 42.'))
    const bridge = await startBridge()
    const { instances } = await clusters.start(2, {
      models: [{ id: 'scripted', api_url: upstream.url }],
      titles: 'off',
      network: { allow_private: ['127.0.0.1'] },
    })
    const [one, other] = instances
    if (one === undefined || other === undefined) throw new Error('two were started')
    const channel = (
      await one.call('POST', '/api/channels', {
        body: { type: 'bridge', name: 'phone', settings: { url: bridge.url }, receive: {} },
      })
    ).json.data
    const body = { chat_id: 'c1', sender: ANN }
    await bridge.give(channel, { ...body, id: 'hello', text: 'hello' }, other)
    const code = /[A-HJ-NP-Z2-9]{8}/.exec(bridge.texts('c1')[0] ?? '')?.[0]
    await other.call('POST', '/api/channels/pair', { body: { code } })
    for (let round = 1; round <= 3; round += 1) {
      const message = { ...body, id: `q${round}`, text: `Question ${round}` }
      const given = await Promise.all(
        [one, other, one, other].map((server) => bridge.give(channel, message, server)),
      )
      expect(given.filter(({ data }) => data.accepted)).toHaveLength(1)
      await eventually(() =>
        expect(bridge.sent.filter(({ type }) => type === 'end')).toHaveLength(round),
      )
    }
    expect(bridge.texts('c1').slice(1)).toEqual(['It is 42.', 'It is 42.', 'It is 42.'])
    const { items } = (await one.call('GET', '/api/conversations')).json.data
    expect(items).toHaveLength(1)
    expect(items[0].message_count).toBe(6)
  })
})
