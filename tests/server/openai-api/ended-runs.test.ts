// Runs that ended a while ago: programs get them again from the store, however long their texts are.
import { eq } from 'drizzle-orm'
import { beforeAll, describe, expect, test } from 'vitest'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { databaseKeys, type TestServer, useServers } from '../../support/server/server.ts'
import { useDatabases } from '../../support/store/databases.ts'
import { DIALECTS } from '../../support/store/dialects.ts'

const upstream = await useUpstream()
const { start } = useServers()
const databases = useDatabases()
const model = 'nanoclaw/scripted'

/** More runs than the server keeps in memory once they have ended. */
const NEWEST_RUNS = 51
/** 200 KB with characters of one to four bytes. */
const LONG = Array.from({ length: 13_000 }, (_, at) => `${at} é 中 🦀 `).join('')
const THOUGHT = LONG.slice(0, 90_000)
/** Long as arguments and as a result of its tool. */
const SHOUTED = 'é'.repeat(45_000)
const RESULT = JSON.stringify({ success: true, result: LONG })

/** The payloads of a stream, without its times. */
async function payloadsOf(response: Response): Promise<unknown[]> {
  expect(response.status).toBe(200)
  return (await response.text())
    .split('\n\n')
    .flatMap((frame) => frame.match(/^data: (.*)$/m)?.[1] ?? [])
    .map((data) => (data === '[DONE]' ? data : JSON.parse(data)))
}

/** What a client that joins the pieces of a completion has in the end. */
function joined(payloads: readonly unknown[]) {
  const deltas = payloads.map((payload) => Object(payload).choices?.[0]?.delta ?? {})
  const all = (name: string) => deltas.map((delta) => delta[name] ?? '').join('')
  return { content: all('content'), reasoning_content: all('reasoning_content') }
}

describe.each(DIALECTS)(
  'a program gets an answer with long texts again after its run has left the memory (%s)',
  (dialect) => {
    let server: TestServer
    const completion = { model, messages: [{ role: 'user', content: 'Shout it.' }] }
    const response = { model, input: 'Shout it.' }
    const headers = (key: string) => ({
      'content-type': 'application/json',
      'idempotency-key': `key of ${key}`,
    })
    const post = (path: string, key: string, body: object) =>
      fetch(server.url + path, {
        method: 'POST',
        headers: headers(key),
        body: JSON.stringify(body),
      })
    const whole = async (path: string, key: string, body: object) => {
      const answer = await post(path, key, body)
      expect([key, answer.status]).toEqual([key, 200])
      return Object(await answer.json())
    }
    const ways = {
      completion: () => whole('/v1/chat/completions', 'completion', completion),
      'streamed completion': async () =>
        payloadsOf(
          await post('/v1/chat/completions', 'streamed completion', {
            ...completion,
            stream: true,
          }),
        ),
      response: () => whole('/v1/responses', 'response', response),
      'streamed response': async () =>
        payloadsOf(await post('/v1/responses', 'streamed response', { ...response, stream: true })),
    }
    const first: Record<string, unknown> = {}

    beforeAll(async () => {
      const settings = await databases.migrated(dialect)
      const config = {
        ...databaseKeys(settings),
        models: [{ id: 'scripted', api_url: upstream.url, thinking: true }],
        titles: 'off',
      }
      server = await start({ config })
      for (const [key, ask] of Object.entries(ways)) {
        upstream.enqueue(
          turn.toolCalls([
            { name: 'text_process', arguments: { text: SHOUTED, operation: 'upper' } },
          ]),
          turn.thinking(THOUGHT, LONG, { chunkSize: 30_000 }),
        )
        first[key] = await ask()
      }
      const database = await databases.connect(settings)
      const { steps } = database.tables
      await database.write((tx) =>
        tx
          .update(steps)
          .set({ content: RESULT, artifact: { display: 'Shouted', notes: [LONG] } })
          .where(eq(steps.type, 'tool_result')),
      )
      // The logs of the newest ended runs are in memory.
      for (let sent = 0; sent < NEWEST_RUNS; sent += 1) {
        upstream.enqueue(turn.text('Later.'))
        await whole('/v1/chat/completions', `later ${sent}`, completion)
      }
    })

    test('as a completion, whole and as a stream', async () => {
      const whole = await ways.completion()
      expect(whole.choices[0].message).toMatchObject({ content: LONG, reasoning_content: THOUGHT })
      expect(whole).toEqual(first.completion)
      const streamed = await ways['streamed completion']()
      expect(joined(streamed)).toEqual({ content: LONG, reasoning_content: THOUGHT })
      expect(streamed).toEqual(first['streamed completion'])
    })

    test('as a response, whole, as a stream and by its id', async () => {
      const whole = await ways.response()
      expect(whole.output).toMatchObject([
        { type: 'mcp_call', output: expect.stringContaining(LONG.slice(0, 1_000)) },
        { type: 'reasoning', summary: [{ text: THOUGHT }] },
        { type: 'message', content: [{ text: LONG }] },
      ])
      const fetched = await fetch(`${server.url}/v1/responses/${whole.id}`)
      expect(await fetched.json()).toEqual(whole)

      const streamed = await ways['streamed response']()
      const last = Object(streamed.at(-1))
      expect(last.type).toBe('response.completed')
      expect(last.response.output).toMatchObject(
        whole.output.map(({ type }: { type: string }) => ({ type })),
      )
      expect(last.response.output[0].output).toBe(whole.output[0].output)
      const deltas = streamed.map((payload) => Object(payload))
      const texts = deltas.flatMap((one) =>
        one.type === 'response.output_text.delta' ? one.delta : [],
      )
      expect(texts.join('')).toBe(LONG)
      const path = `/v1/responses/${last.response.id}?stream=true`
      expect(await payloadsOf(await fetch(server.url + path))).toEqual(streamed)
      const rest = await payloadsOf(await fetch(`${server.url}${path}&starting_after=4`))
      expect(rest).toEqual(streamed.slice(5))
    })
  },
)
