// The sources of an answer: which there are, how they are numbered, and which of them a text cites.
import { describe, expect, test } from 'vitest'
import { CallId } from '../../server/protocol/ids.ts'
import { splitCitations } from '../../server/protocol/markdown/citation-marks.ts'
import type { Step } from '../../server/protocol/runs/step.ts'
import { sourcesOf } from '../../server/protocol/sources/answer-sources.ts'
import { citedIn } from '../../server/protocol/sources/cited.ts'
import { sourceAt } from '../../server/protocol/sources/source.ts'

let index = 0
const result = (name: string, data: unknown, artifact?: object): Step => {
  index += 1
  return {
    id: `step-${index}`,
    index,
    type: 'tool_result',
    id_ref: CallId.parse(`call-${index}`),
    name,
    content: JSON.stringify({ success: true, data }),
    skipped: false,
    ...(artifact === undefined ? {} : { artifact: { display: '', ...artifact } }),
  }
}
const hit = (url: string, title = url) => ({ title, url, snippet: `About ${title}.` })

describe('the sources of an answer', () => {
  test('are search hits, fetched pages and passages, each once, numbered in the order they were found', () => {
    const sources = sourcesOf([
      result('web_search', {
        results: [hit('https://www.a.org/x', 'A'), hit('https://b.org', 'B')],
      }),
      result('fetch_page', { url: 'https://b.org/#part', title: 'B as a page', text: 'Text.' }),
      result('crawl_batch', {
        results: [
          { url: 'https://c.org/', title: 'C', success: true },
          { url: 'https://down.org/', success: false, error: 'no answer' },
        ],
      }),
      result(
        'search_knowledge',
        { results: [] },
        {
          citations: [{ document: 'tea.pdf', document_id: 'd1', page: 4, position: 2 }],
        },
      ),
      result('web_search', { results: [hit('https://a.org/x/')] }),
    ])
    expect(
      sources.map((source) => [
        source.number,
        source.kind === 'web' ? source.title : source.document,
      ]),
    ).toEqual([
      [1, 'A'],
      [2, 'B'],
      [3, 'C'],
      [4, 'tea.pdf'],
    ])
    expect(sourceAt(sources, 'https://a.org/x#y')?.number).toBe(1)
    expect(sourceAt(sources, 'https://a.org/other')).toBeUndefined()
  })

  test('of a page that is too long for one result are taken from its artifact', () => {
    const slice = { handle: 'h', content: '{"url":"https://long.org/","te', offset: 0 }
    expect(
      sourcesOf([result('fetch_page', slice, { display: 'Long', url: 'https://long.org/' })]),
    ).toMatchObject([{ number: 1, title: 'Long', url: 'https://long.org/' }])
  })

  test('only have web addresses, and results of other shapes give no source', () => {
    expect(
      sourcesOf([
        result('web_search', { results: [hit('javascript:alert(1)'), hit('data:text/html,x')] }),
        result('web_search', { results: 'none' }),
        result('fetch_page', { url: 'file:///etc/passwd', title: 'x' }),
        result('mcp__x__web_search', { results: [hit('https://a.org')] }),
      ]),
    ).toEqual([])
  })
})

describe('citations in a text', () => {
  test('are bracketed numbers that have a source, and every other number stays text', () => {
    expect(splitCitations('Tea[1] is old [2, 3]. See [9], [x] and a[0].', 3)).toEqual([
      'Tea',
      [1],
      ' is old ',
      [2, 3],
      '. See [9], [x] and a[0].',
    ])
    expect(splitCitations('茶【1】', 1)).toEqual(['茶', [1]])
    expect(splitCitations('[1]', 0)).toEqual(['[1]'])
  })

  test('mark a source as cited by number and by link', () => {
    const sources = sourcesOf([
      result('web_search', { results: ['a', 'b', 'c'].map((name) => hit(`https://${name}.org/`)) }),
    ])
    expect([...citedIn('One [1]. Two [2](https://c.org/). [9](https://z.org)', sources)]).toEqual([
      1, 3,
    ])
    // Text that never closes a link takes no time, and cites nothing.
    expect(citedIn('[](https://c.org/'.repeat(4_000), sources).size).toBe(0)
  })
})
