// Two instances that are killed at random while due times come and people write: one run and one answer for each, whoever is left.
import { afterAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startLastingBotApi, TELEGRAM_TOKEN } from '../support/messengers/telegram-api.ts'
import type { UpstreamRequest } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { randomFrom, SEED } from '../support/random.ts'
import { startBridge } from '../support/server/bridge.ts'
import { callServer } from '../support/server/call-server.ts'
import { useInstanceProcesses } from '../support/server/instance-processes.ts'
import { hasRedis } from '../support/store/redis.ts'

const isFull = process.env.FAULTS === 'full'
/** One person writes once a round, and may start sixty runs an hour. */
const KILLS = Number(process.env.KILLS ?? (isFull ? 50 : 2))
const DUE_EACH = 4
/** From the making of the schedules of a round to the last of their due times. */
const DUE_WITHIN_MS = 2_500
/** The least number of model calls and messages of a round. */
const EVENTS = 10
const LIMIT_MS = 3_600_000
const ANN = 77

/** The word by which a task, its run and its answer are known. */
const wordOf = (text: unknown): string => /\bword-[a-z]+-\d+\b/.exec(String(text))?.[0] ?? ''
const lastText = ({ messages }: UpstreamRequest): string =>
  JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content)
const answerTo = (word: string): string => `This answers ${word}.`

const telegram = hasRedis ? await startLastingBotApi() : null
afterAll(async () => await telegram?.close())

describe.skipIf(telegram === null)('two instances', () => {
  const instances = useInstanceProcesses(2, {
    config: {
      telegram: { api_url: telegram?.url },
      network: { allow_private: ['127.0.0.1'] },
      schedules: { max_per_user: KILLS * DUE_EACH },
    },
  })
  const { processes } = instances

  test(
    `${KILLS} kills of either while due times and messages come lose none of them, and make none run twice (SEED=${SEED})`,
    async () => {
      if (telegram === null) throw new Error('there is no Telegram')
      const random = randomFrom(SEED)
      instances.upstream.program((request) =>
        turn.text(answerTo(wordOf(lastText(request))), { delayMs: 20 }),
      )
      const bridge = await startBridge()
      const call = async (method: string, path: string, body?: unknown) => {
        const { status, data } = await callServer(
          instances.urlOf(random.below(2)),
          method,
          path,
          body,
        )
        expect([path, status]).toEqual([path, 200])
        return data
      }
      await call('POST', '/api/channels', {
        type: 'telegram',
        name: 'phone',
        settings: { bot_token: TELEGRAM_TOKEN, chat_id: ANN },
        receive: {},
      })
      const channel = await call('POST', '/api/channels', {
        type: 'bridge',
        name: 'bridge',
        settings: { url: bridge.url },
        receive: {},
      })
      /** Hands over a message as a program does: to one instance or the other, until it was taken, and then once more. */
      async function handOver(id: string, text: string): Promise<void> {
        const path = `/api/channels/${channel.id}/incoming`
        const body = { id, chat_id: id, sender: { id: 'ann', name: 'Ann' }, text }
        const token = { authorization: `Bearer ${channel.token}` }
        for (let taken = 0, index = random.below(2); taken < 2; index = 1 - index) {
          const answer = await callServer(instances.urlOf(index), 'POST', path, body, token).catch(
            () => null,
          )
          if (answer?.status === 202) taken += 1
          else await new Promise((resolve) => setTimeout(resolve, 100))
        }
      }
      await handOver('hello', 'hello')
      const senders = `/api/channels/${channel.id}/senders`
      const [sender] = (await call('GET', senders)).items
      await call('PUT', `${senders}/${sender.id}`, { state: 'allowed' })

      const events = (): number =>
        instances.upstream.requests.length +
        telegram.calls.filter(({ method }) => method !== 'getUpdates').length +
        bridge.sent.length
      const words: string[] = []
      const schedules: { id: string; word: string }[] = []
      for (let round = 0; round < KILLS; round += 1) {
        for (let at = 0; at < DUE_EACH; at += 1) {
          const word = `word-due-${round * DUE_EACH + at}`
          const due = Date.now() + random.below(DUE_WITHIN_MS)
          const { id } = await call('POST', '/api/schedules', {
            name: word,
            text: `Say ${word}`,
            when: { at: new Date(due).toISOString() },
          })
          schedules.push({ id, word })
        }
        const begun = events()
        words.push(`word-telegram-${round}`, `word-bridge-${round}`)
        telegram.updates.push({
          update_id: round + 1,
          message: {
            message_id: round + 1,
            from: { id: ANN, is_bot: false, first_name: 'Ann' },
            chat: { id: ANN, type: 'private' },
            is_topic_message: true,
            message_thread_id: round + 1,
            text: `Say word-telegram-${round}`,
          },
        })
        const handedOver = handOver(`word-bridge-${round}`, `Say word-bridge-${round}`)
        const wanted = random.below(EVENTS)
        await eventually(() => expect(events() - begun).toBeGreaterThanOrEqual(wanted))
        const victim = random.below(2)
        await processes[victim]?.kill('SIGKILL')
        await handedOver
        await instances.restart(victim)
      }

      for (const { id, word } of schedules) {
        const items = await eventually(async () => {
          const found = (await call('GET', `/api/schedules/${id}/occurrences`)).items
          expect(found.map(({ state }: { state: string }) => [word, state])).toEqual([
            [word, 'done'],
          ])
          return found
        })
        expect(items).toHaveLength(1)
      }
      const atTelegram = () =>
        telegram
          .of('sendMessage')
          .map(({ body }) => wordOf(body.text))
          .filter((word) => word !== '')
      const atBridge = () =>
        bridge.sent.filter(({ type }) => type === 'message').map(({ text }) => wordOf(text))
      await eventually(() => {
        const arrived = new Set([...atTelegram(), ...atBridge()])
        expect(words.filter((word) => !arrived.has(word))).toEqual([])
      })
      const repeated = atTelegram().length - new Set(atTelegram()).size
      expect(repeated, 'parts that came twice').toBeLessThanOrEqual(KILLS)

      // One question and one answer each: a second run would be another message, or another conversation.
      const found: string[] = []
      for (let cursor = ''; ; ) {
        const page = await call('GET', `/api/conversations?limit=100${cursor}`)
        for (const { id } of page.items) {
          const { items } = await call('GET', `/api/conversations/${id}/messages`)
          const word = wordOf(items[0].text)
          expect(items.map(({ role, text }: Record<string, string>) => [role, text])).toEqual([
            ['user', `Say ${word}`],
            ['assistant', answerTo(word)],
          ])
          found.push(word)
        }
        if (!page.has_more) break
        cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
      }
      expect(found.toSorted()).toEqual([...words, ...schedules.map(({ word }) => word)].toSorted())
    },
    LIMIT_MS,
  )
})
