// Bytes to data lines: every line end, every field, bounded memory; and the pool of connections under it.
import { afterAll, describe, expect, test } from 'vitest'
import { createOpenAiCompatible } from '../../../../server/llm/openai/client.ts'
import { createEventStreamReader } from '../../../../server/llm/openai/event-stream.ts'
import { createProviderHttp } from '../../../../server/llm/openai/provider-http.ts'
import { hear } from '../../../support/llm.ts'
import { startUpstream } from '../../../support/upstream.ts'
import { turn } from '../../../support/upstream-turns.ts'

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
    ': hi\n\ndata: one\r\n\r\ndata:two\rid: 4\revent: x\ndata:  three\n\ndata\ndata:\ndatax: no\n data: no\ndata: 世界🙂\n\ndata: last'
  test('are found with any line ending and wherever the bytes are split', () => {
    for (let size = 1; size <= text.length; size += 1)
      expect(payloads(text, size)).toEqual({
        found: ['one', 'two', ' three', '世界🙂', 'last'],
        dropped: 0,
      })
  })

  test('longer than the cap are dropped, and what follows is read', () => {
    const long = `data: a\ndata: ${'x'.repeat(500)}\ndata: b\n${'y'.repeat(500)}\ndata: c\n`
    for (const size of [1, 7, 64])
      expect(payloads(long, size, 100)).toEqual({ found: ['a', 'b', 'c'], dropped: 2 })
  })

  test('of many megabytes are read from small pieces', () => {
    const line = Buffer.from(`data: ${'x'.repeat(4 * 1024 * 1024)}\n`)
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
      await hear(client)
    }
    // The end of a body may come just after its last line; a connection is free from then on.
    expect(new Set(upstream.requests.map(({ clientPort }) => clientPort)).size).toBeLessThan(5)
    expect(upstream.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true)
    const told = upstream.requests.flatMap(({ headers }) => Object.keys(headers))
    expect(told.filter((name) => name.startsWith('x-stainless'))).toEqual([])
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
    // At the cap of an answer, so that no provider can fill the memory.
    const heard = await hear(client)
    expect(heard.text.length).toBeLessThan(12_000_000)
    expect(heard.end).toMatchObject({ type: 'finished', reason: 'length' })
    expect(await (await upstream.nextRequest()).closed).toBe('client_left')
    await upstream.close()
  })
})
