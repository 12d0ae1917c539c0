// The command of the inspector that sends a recorded request again.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { CallId } from '../../server/protocol/ids.ts'
import type { RecordedExchange } from '../../server/protocol/runs/run-record.ts'
import { contains, curlOf, partsOf } from '../../web/src/features/chat/inspector/recorded-call.ts'

const message = JSON.stringify({
  role: 'user',
  content: 'It\'s "$HOME" `id` \\ $(id)\nand $API_KEY',
})
const exchange: RecordedExchange = {
  model: 'm',
  sent_at: '2026-11-23T20:00:00.000Z',
  method: 'POST',
  url: 'https://provider.test/v1/chat?token=$API_KEY&a=$b',
  headers: { authorization: 'Bearer $API_KEY', 'x-quoted': 'a "b" `c`' },
  body: [
    { name: 'model', json: '"m"' },
    { name: 'messages', parts: ['one', 'gone'] },
  ],
  response: {
    status: 200,
    request_id: null,
    headers_ms: 1,
    end_ms: 2,
    error: null,
    thinking: '',
    text: 'An answer.',
    calls: [],
    finish: 'stop',
    usage: null,
    cut: false,
  },
}
const parts = { one: { json: message, characters: message.length } }

test('the copied command gives curl exactly the recorded request, and only the key comes from the shell', () => {
  const command = curlOf(exchange, parts).replace(/^curl /, "printf '%s\\0' ")
  const given = execFileSync('/bin/sh', ['-c', command], { env: { API_KEY: 'k-1' } }).toString()
  expect(given.split('\0')).toEqual([
    '-N',
    'https://provider.test/v1/chat?token=k-1&a=$b',
    '-H',
    'authorization: Bearer k-1',
    '-H',
    'x-quoted: a "b" `c`',
    '--data-raw',
    `{"model":"m","messages":[${message},"[no longer stored]"]}`,
    '',
  ])
})

test('parts are named by their speaker, and a search finds words in any of them', () => {
  expect(partsOf(exchange, parts).map(({ role, json }) => [role, json === null])).toEqual([
    ['model', false],
    ['user', false],
    ['messages', true],
  ])
  const call = { number: 1, exchanges: [exchange], change: null }
  const entry = {
    kind: 'tool',
    started_at: exchange.sent_at,
    duration_ms: 1,
    id_ref: CallId.parse('call_1'),
    name: 'clock',
    success: true,
    skipped: false,
    cached: false,
  } as const
  const found = (words: string): boolean => contains({ entry, call }, words, parts)
  expect(['an ANSWER', 'and $api_key', 'Clock', 'nowhere'].map(found)).toEqual([
    true,
    true,
    true,
    false,
  ])
})
