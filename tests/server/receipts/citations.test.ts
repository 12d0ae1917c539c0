// Citations: a quote counts only if it stands in what the answer's tools have read.
import { resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { createTurns } from '../../../server/lib/turns.ts'
import { citedIds } from '../../../server/protocol/conversations/cited-ids.ts'
import {
  closestPassage,
  comparable,
  comparableQuote,
  findQuote,
} from '../../../server/tools/builtin/knowledge/cite/find-quote.ts'
import { withoutArguments } from '../../../server/tools/builtin/knowledge/cite/quotable-texts.ts'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { rounds, SEED } from '../../support/random.ts'
import { openEvents } from '../../support/server/events.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const upstream = await useUpstream()

const TEXT = 'Revenue rose by\n  12 %  in 2025, the ﬁrst rise since 2019.\nCosts fell.'

test('white space and compatibility forms are equal in quotes, and positions are those of the source', async () => {
  const own = await comparable(TEXT, createTurns())
  const place = findQuote(own, comparableQuote(' rose by 12 % in 2025, the first rise '))
  expect(TEXT.slice(place?.start, place?.end)).toBe('rose by\n  12 %  in 2025, the ﬁrst rise')
  expect(findQuote(own, comparableQuote('ROSE BY'))).toBeNull()
  expect(findQuote(own, comparableQuote('rose by 13 %'))).toBeNull()
})

test('references in code are no references', () => {
  expect(citedIds('As [c2] says [c1], [c2].\n```\n[c9]\n```\nand `[c8]`.')).toEqual(['c2', 'c1'])
})

test('what a tool from outside repeats of its arguments is no source, in whatever form it repeats it', async () => {
  const turn = createTurns()
  const found = async (text: string, args: unknown, quote: string) => {
    const call = { name: 'mcp__outside__add', arguments: JSON.stringify(args) }
    const whole = await comparable(text, turn)
    return findQuote(await withoutArguments(whole, call, quote, turn), quote) !== null
  }
  expect(await found('Added:  ﬁve\n per cent.', { item: 'five  per cent' }, 'Added:')).toBe(true)
  expect(await found('Added:  ﬁve\n per cent.', { item: 'five  per cent' }, 'five per')).toBe(false)
  expect(await found('Added: ten of ten.', { item: 'ten' }, 'ten of ten')).toBe(true)
  const many = Array.from({ length: 101 }, (_, number) => `Item ${number}`)
  expect(await found('Added: five per cent.', [...many, 'five per cent'], 'five per')).toBe(false)
})

test('a quote is looked for in short turns of the event loop', async () => {
  const turns = async (work: (turn: () => Promise<void>) => Promise<unknown>) => {
    let count = 0
    await work(async () => {
      count += 1
    })
    return count
  }
  const text = `e${'\u0301'.repeat(200_000)}`
  expect(await turns((turn) => comparable(text, turn))).toBeGreaterThan(5)
  const own = await comparable('Nothing of it is here.', createTurns())
  const quote = 'alpha beta gamma delta'
  expect(await turns((turn) => closestPassage(own, quote, turn))).toBe(10)
})

/** What the pattern of code spans says, which takes time that grows with the square of the text. */
function slowlyCitedIds(text: string): string[] {
  const prose = text
    .replace(/(^|\n) {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:\n {0,3}\2[`~]*[ \t]*(?=\n|$)|$)/g, '\n')
    .replace(/(?<!`)(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, '')
  return [...new Set([...prose.matchAll(/\[(c\d{1,6})\]/g)].map((found) => found[1] ?? ''))]
}

test(`references are those outside of code spans and fences (seed ${SEED})`, () => {
  const pieces = ['`', '``', '```', '~~~', '\n', '\n```\n', ' ', 'a', '[c1]', '[c2]', '[c3]']
  for (const { random, what } of rounds(2_000)) {
    const text = Array.from({ length: random.below(15) }, () => random.pick(pieces)).join('')
    expect(citedIds(text), `${what} ${JSON.stringify(text)}`).toEqual(slowlyCitedIds(text))
  }
})

test('references are found in a time that grows as the text does, however many backticks it has', () => {
  const texts = (length: number) => [
    `[c1] ${'`'.repeat(length)}${'a'.repeat(length)}`,
    `[c1] a\n${'`'.repeat(length)}${'~'.repeat(length)}`,
    `[c1] ${Array.from({ length: Math.sqrt(length) }, (_, run) => '`'.repeat(run)).join(' ')}`,
  ]
  for (const text of texts(64_000)) {
    const start = performance.now()
    expect(citedIds(text)).toEqual(['c1'])
    // Some milliseconds; with steps for each pair of characters it would be many seconds.
    expect(performance.now() - start).toBeLessThan(1_000)
  }
})

describeOnEachServer('a citation', (start) => {
  let server: TestServer
  beforeAll(async () => {
    server = await start({
      models: [{ id: 'scripted', api_url: upstream.url, api_key: 'key-of-the-tests' }],
      titles: 'off',
      tools: { exec: { enabled: true } },
      mcp_servers: {
        outside: {
          command: process.execPath,
          args: [resolve(import.meta.dirname, '../../../examples/mcp-server.mjs')],
        },
      },
    })
    await server.server.toolsReady
  })

  const begin = async () => {
    const name = `p${Math.random()}`
    const { json } = await server.call('POST', '/api/projects', { body: { name } })
    const project = json.data.id
    await server.call('PUT', `/api/projects/${project}/files/report.txt`, {
      body: { content: TEXT },
    })
    const body = { approval: 'auto', project_id: project }
    return (await server.call('POST', '/api/conversations', { body })).json.data.id as string
  }
  const ask = async (conversation: string) => {
    const path = `/api/conversations/${conversation}/messages`
    const events = await (await openEvents(server.url + path, { body: { text: 'Go' } })).all()
    const results = events
      .filter(({ data }) => data.type === 'tool_result' && data.name === 'cite')
      .map(({ data }) => JSON.parse(data.content))
    const id = events.find(({ event }) => event === 'run')?.data.message_id
    return {
      results,
      path: `${path}/${id}`,
      message: (await server.call('GET', `${path}/${id}`)).json.data,
    }
  }
  const read = (id = 'read_1') =>
    turn.toolCalls([{ id, name: 'file_read', arguments: { path: 'report.txt' } }])
  const cite = (source: string, quote: string) =>
    turn.toolCalls([{ name: 'cite', arguments: { source, quote } }])

  test('names the passage, opens it, keeps its id in later answers, and counts up in the conversation', async () => {
    const conversation = await begin()
    upstream.enqueue(
      read(),
      cite('read_1', 'rose by 12 % in 2025'),
      cite('./report.txt', 'Costs fell.'),
      cite('read_1', 'rose by 12 % in 2025'),
      turn.text('Revenue rose [c1], costs fell [c2], and more [c7]. In code: `[c8]`.'),
    )
    const { results, message, path } = await ask(conversation)
    expect(results).toMatchObject([
      { success: true, data: { id: 'c1', title: 'report.txt', position: 8 } },
      { success: true, data: { id: 'c2' } },
      { success: true, data: { id: 'c1' } },
    ])
    expect(message.citations).toMatchObject([
      { id: 'c1', source: 'read_1', quote: 'rose by\n  12 %  in 2025', start: 8, end: 31 },
      { id: 'c2', source: './report.txt', quote: 'Costs fell.' },
    ])
    expect(message.unknown_citations).toEqual(['c7'])
    const passage = (await server.call('GET', `${path}/citations/c1`)).json.data
    expect(passage.passage).toBe(TEXT)
    expect((await server.call('GET', `${path}/citations/c7`)).status).toBe(404)
    expect((await server.call('GET', `${path}/receipt`)).json.data.sources).toEqual({
      read: 1,
      cited: 2,
    })
    upstream.enqueue(turn.text('As said, costs fell [c2].'))
    const later = await ask(conversation)
    expect(later.message.citations).toMatchObject([{ id: 'c2', quote: 'Costs fell.' }])
    expect(later.message).not.toHaveProperty('unknown_citations')
    const exported = await server.call(
      'GET',
      `/api/conversations/${conversation}/export?format=json`,
    )
    expect(exported.json).toMatchObject({ messages: { 1: { citations: [{ id: 'c1' }, {}] } } })
  })

  test('is refused for a quote that is not there, with the closest passage, and for what no tool has read', async () => {
    upstream.enqueue(
      read(),
      cite('read_1', 'Revenue rose by 40 % in 2025'),
      cite('read_2', 'Costs fell.'),
      cite('other.txt', 'Costs fell.'),
      cite('document:none', 'Costs fell.'),
      turn.toolCalls([{ id: 'ran', name: 'exec', arguments: { command: 'echo Costs fell.' } }]),
      cite('ran', 'Costs fell.'),
      turn.text('I could not cite it.'),
    )
    const { results, message } = await ask(await begin())
    expect(results.map(({ success }) => success)).toEqual([false, false, false, false, false])
    expect(results[0].data.closest_passage).toContain('Revenue rose by')
    expect(message).not.toHaveProperty('citations')
  })

  test('is refused for what a result only repeats of the arguments', async () => {
    const claim = 'The moon is made of green cheese.'
    upstream.enqueue(
      turn.toolCalls([{ id: 'echoed', name: 'mcp__outside__add', arguments: { item: claim } }]),
      cite('echoed', 'Added:'),
      cite('echoed', `Added: ${claim}`),
      cite('echoed', claim),
      turn.text('No.'),
    )
    const { results } = await ask(await begin())
    expect(results.map(({ success }) => success)).toEqual([true, false, false])
  })

  test('of another conversation or of another result with the same id is not mixed up', async () => {
    const first = await begin()
    upstream.enqueue(read('same'), turn.text('Read.'))
    await ask(first)
    upstream.enqueue(cite('same', 'Costs fell.'), turn.text('No.'))
    const { results } = await ask(await begin())
    expect(results[0].success).toBe(false)
  })
})
