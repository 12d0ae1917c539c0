// Splitting an event stream into data lines: line endings, fields, bounded memory; and the connection pool below it.
import { afterAll, describe, expect, test } from 'vitest'
import { createOpenAiCompatible } from '../../../../server/llm/openai.ts'
import { createProviderHttp } from '../../../../server/llm/streaming/provider-http.ts'
import { createEventStreamReader } from '../../../../server/llm/streaming/streamed-client/event-stream.ts'
import { readResponse } from '../../../support/provider/llm.ts'
import { startUpstream } from '../../../support/provider/upstream.ts'
import { turn } from '../../../support/provider/upstream-turns.ts'

const payloads = (text: string, size: number, cap?: number) => {
  const found: string[] = []
  const reader = createEventStreamReader(
    (piece, from, to) => found.push(piece.slice(from, to)),
    cap,
  )
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
  reader.end()
  return { found, dropped: reader.dropped }
}

describe('data lines', () => {
  const text =
    ': hi\n\ndata: one\r\n\r\ndata:two\rid: 4\revent: x\r\rdata:  three\n\ndata\ndata:\ndatax: no\n data: no\ndata: 世界🙂\n\ndata: last'
  test('are found with any line ending and wherever the bytes are split', () => {
    for (let size = 1; size <= text.length; size += 1)
      expect(payloads(text, size)).toEqual({
        found: ['one', 'two', ' three', '世界🙂', 'last'],
        dropped: 0,
      })
  })

  test('of one event are joined, and complete ones without a blank line between them are events of their own', () => {
    const event = 'data: {\ndata: "a": {},\nid: 5\ndata: "b": {}\ndata: }'
    const joined = '{\n"a": {},\n"b": {}\n}'
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      const all = `${event}\n\ndata: {"c":1}\ndata: [DONE]\n\n${event}`.replaceAll('\n', lineEnd)
      for (let size = 1; size <= all.length; size += 1)
        expect(payloads(all, size).found).toEqual([joined, '{"c":1}', '[DONE]', joined])
    }
    const endless = `data: {\n${'data: x\n'.repeat(100)}\ndata: 1\n\n`
    expect(payloads(endless, 64, 100).found.at(-1)).toBe('1')
    expect(payloads(endless, 64, 100).dropped).toBeGreaterThan(0)
  })

  test('longer than the cap are dropped, and the following lines are read', () => {
    const long = `data: 1\ndata: ${'x'.repeat(500)}\ndata: 2\n${'y'.repeat(500)}\ndata: 3\n`
    for (const size of [1, 7, 64])
      expect(payloads(long, size, 100)).toEqual({ found: ['1', '2', '3'], dropped: 2 })
  })

  test('of many megabytes are read from small pieces', () => {
    const line = Buffer.from(`data: ${'x'.repeat(4 * 1024 * 1024)}\n\n`)
    let found = 0
    const reader = createEventStreamReader(() => {
      found += 1
    })
    for (let at = 0; at < line.length; at += 256) reader.push(line.subarray(at, at + 256))
    expect(found).toBe(1)
  })
})

describe('connections', () => {
  const http = createProviderHttp()
  afterAll(() => http.close())

  test('are reused for the next request', async () => {
    const upstream = await startUpstream()
    const client = createOpenAiCompatible({
      settings: { id: 'm', api_url: upstream.url },
      http,
      idleTimeout: 10,
    })
    for (let round = 0; round < 5; round += 1) {
      upstream.enqueue(turn.text('a'))
      await readResponse(client)
    }
    // A body may end shortly after its last line; only then can its connection be reused.
    expect(new Set(upstream.requests.map(({ clientPort }) => clientPort)).size).toBeLessThan(5)
    expect(upstream.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true)
    const names = upstream.requests.flatMap(({ headers }) => Object.keys(headers))
    expect(names.filter((name) => name.startsWith('x-stainless'))).toEqual([])
    await upstream.close()
  })

  test('are closed when a provider never stops sending', async () => {
    const upstream = await startUpstream()
    const large = 'x'.repeat(64 * 1024)
    const pieces = 400
    upstream.enqueue(
      turn.chunks([
        ...Array.from({ length: pieces }, () => ({ choices: [{ delta: { content: large } }] })),
        { choices: [{ delta: {}, finish_reason: 'length' }] },
      ]),
    )
    const client = createOpenAiCompatible({
      settings: { id: 'm', api_url: upstream.url },
      http,
      idleTimeout: 10,
    })
    // The answer ends at the size cap, so that no provider can exhaust the memory.
    const response = await readResponse(client)
    expect(response.text.length).toBeLessThan(12_000_000)
    expect(response.end).toMatchObject({
      type: 'failed',
      error: { reason: 'model_answer_endless' },
    })
    expect(await (await upstream.nextRequest()).closed).toBe('client_left')
    await upstream.close()
  })
})
