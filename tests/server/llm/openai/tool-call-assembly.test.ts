// Assembling tool calls from the deltas of OpenAI-compatible streams.
import { describe, expect, test } from 'vitest'
import { CallId } from '../../../../server/protocol/ids.ts'
import { readArguments } from '../../../../server/tools/definition.ts'
import { llmRequest, outcome, readResponse } from '../../../support/provider/llm.ts'
import { chunk, turn } from '../../../support/provider/upstream-turns.ts'
import { look } from '../provider-clients.ts'
import { stop, toolCallChunk, useClient } from './use-client.ts'

const { upstream, clientFor } = useClient()

const callsOf = async (...chunks: unknown[]) => {
  upstream.enqueue(turn.chunks([...chunks, stop]))
  const response = await readResponse(clientFor())
  expect(outcome(response)).toBe('finished:tool_calls')
  return response.calls.map((call) => [call.name, call.arguments])
}

describe('tool calls', () => {
  test('are put together from deltas as OpenAI sends them', async () => {
    const calls = await callsOf(
      toolCallChunk({
        index: 0,
        id: 'a',
        type: 'function',
        function: { name: 'clock', arguments: '' },
      }),
      toolCallChunk({ index: 0, function: { arguments: '{"zone":' } }),
      toolCallChunk({ index: 0, function: { arguments: '"UTC"}' } }),
      toolCallChunk({
        index: 1,
        id: 'b',
        type: 'function',
        function: { name: 'sum', arguments: '{}' },
      }),
    )
    expect(calls).toEqual([
      ['clock', '{"zone":"UTC"}'],
      ['sum', '{}'],
    ])
  })

  test.each([
    [
      'the id comes again with each piece',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: '{"a"' } },
        { index: 0, id: 'a', function: { name: 'f', arguments: ':1}' } },
      ],
    ],
    [
      'the id is empty after the first piece',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: '{"a"' } },
        { index: 0, id: '', function: { name: null, arguments: ':1}' } },
      ],
    ],
    [
      'there is no id at all',
      [
        { index: 0, function: { name: 'f', arguments: '{"a"' } },
        { index: 0, function: { arguments: ':1}' } },
      ],
    ],
    [
      'another id comes with each piece',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: '{"a"' } },
        { index: 0, id: 'b', function: { arguments: ':1}' } },
      ],
    ],
    [
      'there is no index',
      [{ id: 'a', function: { name: 'f', arguments: '{"a"' } }, { function: { arguments: ':1}' } }],
    ],
    [
      'the index is negative',
      [
        { index: -1, id: 'a', function: { name: 'f', arguments: '{"a"' } },
        { index: -1, function: { arguments: ':1}' } },
      ],
    ],
    [
      'the index is text',
      [
        { index: '0', id: 'a', function: { name: 'f', arguments: '{"a"' } },
        { index: '0', function: { arguments: ':1}' } },
      ],
    ],
    [
      'the arguments are an object',
      [{ index: 0, id: 'a', function: { name: 'f', arguments: { a: 1 } } }],
    ],
  ])('are complete when %s', async (_case, pieces) => {
    expect(await callsOf(...pieces.map((piece) => toolCallChunk(piece)))).toEqual([
      ['f', '{"a":1}'],
    ])
  })

  test('may have a name that comes in pieces', async () => {
    expect(
      await callsOf(
        toolCallChunk({ index: 0, id: 'a', function: { name: 'get_' } }),
        toolCallChunk({ index: 0, function: { name: 'weather' } }),
        toolCallChunk({ index: 0, function: { arguments: '{}' } }),
      ),
    ).toEqual([['get_weather', '{}']])
  })

  test('without arguments get an empty object', async () => {
    expect(
      await callsOf(toolCallChunk({ index: 0, id: 'a', function: { name: 'f', arguments: '' } })),
    ).toEqual([['f', '{}']])
    expect(
      await callsOf(toolCallChunk({ index: 0, id: 'a', function: { name: 'f', arguments: null } })),
    ).toEqual([['f', '{}']])
    expect(await callsOf(toolCallChunk({ index: 0, id: 'a', function: { name: 'f' } }))).toEqual([
      ['f', '{}'],
    ])
  })

  test.each([
    // agno-agi/agno#8880: the head of the second call has the index of the first.
    [
      'the second call begins under the index of the first',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: '' } },
        { index: 0, function: { arguments: '{"n":1}' } },
        { index: 0, id: 'b', function: { name: 'f', arguments: '' } },
        { index: 1, function: { arguments: '{"n":2}' } },
      ],
    ],
    [
      'both calls begin under one index, before their arguments',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: '' } },
        { index: 0, id: 'b', function: { name: 'f', arguments: '' } },
        { index: 0, function: { arguments: '{"n"' } },
        { index: 1, function: { arguments: '{"n"' } },
        { index: 0, function: { arguments: ':1}' } },
        { index: 1, function: { arguments: ':2}' } },
      ],
    ],
    // openai/openai-agents-js#712: Bedrock sends an empty object before the real one.
    [
      'an empty object comes before the real one',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: '{}' } },
        { index: 0, id: 'a', function: { name: 'f', arguments: '{"n":1}' } },
        { index: 1, id: 'b', function: { name: 'f', arguments: '{}' } },
        { index: 1, function: { arguments: '{"n":2}' } },
      ],
    ],
    [
      'there is neither an index nor a second id, and an empty object comes first',
      [
        { id: 'a', function: { name: 'f', arguments: '{}' } },
        { id: 'a', function: { arguments: '{"n":1}' } },
        { index: null, id: 'b', function: { name: 'f', arguments: '{"n":2}' } },
      ],
    ],
  ])('have their own arguments when %s', async (_case, pieces) => {
    expect(await callsOf(...pieces.map((piece) => toolCallChunk(piece)))).toEqual([
      ['f', '{"n":1}'],
      ['f', '{"n":2}'],
    ])
  })

  test('whose arguments may belong to another call are refused', async () => {
    const calls = await callsOf(
      toolCallChunk({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }),
      toolCallChunk({ index: 0, id: 'b', function: { name: 'f', arguments: '' } }),
      toolCallChunk({ index: 0, function: { arguments: '{"n":1}' } }),
      toolCallChunk({ index: 7, function: { arguments: '{"n":2}' } }),
    )
    for (const [, text] of calls) expect(readArguments(text ?? '').ok).toBe(false)
  })

  test('without arguments are refused when pieces of arguments under their index name no call', async () => {
    const heads = [
      toolCallChunk({ index: 0, id: 'a', function: { name: 'delete_all', arguments: '' } }),
      toolCallChunk({ index: 0, id: 'b', function: { name: 'g', arguments: '' } }),
    ]
    const [first, second] = await callsOf(
      ...heads,
      toolCallChunk({ index: 0, function: { arguments: '{"a"' } }),
      toolCallChunk({ index: 0, function: { arguments: ':1}' } }),
    )
    expect(first?.[0]).toBe('delete_all')
    expect(readArguments(first?.[1] ?? '').ok).toBe(false)
    expect(second).toEqual(['g', '{"a":1}'])
    // Whose they are is clear.
    const named = toolCallChunk({ index: 0, id: 'b', function: { arguments: '{"a":1}' } })
    expect(await callsOf(...heads, named)).toEqual([
      ['delete_all', '{}'],
      ['g', '{"a":1}'],
    ])
  })

  test('have the names of offered tools and arguments that are one object, where only that can be meant', async () => {
    upstream.enqueue(
      turn.chunks([
        toolCallChunk({
          index: 0,
          id: 'a',
          function: { name: 'functions.look:0', arguments: 'null' },
        }),
        toolCallChunk({
          index: 1,
          id: 'b',
          function: { name: ' look ', arguments: '"{\\"n\\":1}"' },
        }),
        toolCallChunk({ index: 2, id: 'c', function: { name: 'look', arguments: '{"n":1,}' } }),
        toolCallChunk({
          index: 3,
          id: 'd',
          function: { name: 'look', arguments: '{"n":"a "b" c"}' },
        }),
        stop,
      ]),
    )
    const { calls } = await readResponse(clientFor(), llmRequest({ tools: [look] }))
    expect(calls.map((call) => [call.name, call.arguments])).toEqual([
      ['look', '{}'],
      ['look', '{"n":1}'],
      ['look', '{"n":1}'],
      ['look', '{"n":"a "b" c"}'],
    ])
  })

  test('in one chunk are distinguished by index, by position, and under the same index', async () => {
    const f = { id: 'a', function: { name: 'f', arguments: '{"n":1}' } }
    const g = { id: 'b', function: { name: 'f', arguments: '{"n":2}' } }
    const both = [
      ['f', '{"n":1}'],
      ['f', '{"n":2}'],
    ]
    expect(await callsOf(toolCallChunk({ index: 0, ...f }, { index: 1, ...g }))).toEqual(both)
    expect(await callsOf(toolCallChunk(f, g))).toEqual(both)
    expect(
      await callsOf(toolCallChunk({ function: f.function }, { function: g.function })),
    ).toEqual(both)
    expect(await callsOf(toolCallChunk({ index: 0, ...f }, { index: 0, ...g }))).toEqual(both)
    expect(
      await callsOf(toolCallChunk({ index: 0, ...f }), toolCallChunk({ index: 0, ...g })),
    ).toEqual(both)
    expect(
      await callsOf(toolCallChunk({ index: 3, ...f }), toolCallChunk({ index: 9, ...g })),
    ).toEqual(both)
    expect(
      await callsOf(
        toolCallChunk({ index: 0, function: f.function }),
        toolCallChunk({ index: 0, function: g.function }),
      ),
    ).toEqual(both)
  })

  test('have ids that are never empty or too long', async () => {
    upstream.enqueue(
      turn.chunks([
        toolCallChunk(
          { id: 'call_0', function: { name: 'f' } },
          { id: '', function: { name: 'g' } },
          { id: 'x'.repeat(201), function: { name: 'h' } },
        ),
        stop,
      ]),
    )
    const { calls } = await readResponse(clientFor(), llmRequest())
    const ids = calls.map((call) => call.id)
    expect(ids[0]).toBe('call_0')
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect(CallId.safeParse(id).success).toBe(true)
  })

  test('are also read from the deprecated function_call field', async () => {
    expect(
      await callsOf(
        chunk({ function_call: { name: 'f', arguments: '{"a"' } }),
        chunk({ function_call: { arguments: ':1}' } }),
      ),
    ).toEqual([['f', '{"a":1}']])
  })
})
