// What tools answer is read for people: terminal colours, progress bars, lists of results with safe links.
import { describe, expect, test } from 'vitest'
import { classOf, readTerminal } from '../../web/src/features/chat/steps/ansi.ts'
import { readFileText, readResults } from '../../web/src/features/chat/steps/result-items.ts'

const plain = (text: string): string =>
  readTerminal(text)
    .map((spans) => spans.map((span) => span.text).join(''))
    .join('\n')

describe('terminal output', () => {
  test('colour codes become looks, and a look goes on over line ends until it is reset', () => {
    const [first, second] = readTerminal('ok \u001b[1;31mFAIL\n2\u001b[0m done')
    expect(first).toEqual([
      { text: 'ok ', style: {} },
      { text: 'FAIL', style: { bold: true, colour: 1 } },
    ])
    expect(second).toEqual([
      { text: '2', style: { bold: true, colour: 1 } },
      { text: ' done', style: {} },
    ])
  })

  test('bright colours, the table of 256 and true colours come to the nearest hue', () => {
    const hues = ['92', '38;5;196', '38;5;46', '38;2;20;40;250', '38;5;250'].map(
      (code) => readTerminal(`\u001b[${code}mx`)[0]?.[0]?.style.colour,
    )
    expect(hues).toEqual([2, 1, 2, 4, 7])
    expect(classOf({ colour: 1, background: 3, underline: true })).toBe(
      'ansi-1 ansi-on-3 underline',
    )
  })

  test('cursor movements, titles, links and stray control characters leave nothing behind', () => {
    expect(plain('\u001b[2K\u001b]0;title\u0007a\u001b[?25lb\u001b(B\u0000c\u001b')).toBe('abc')
    expect(plain('\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\')).toBe('link')
  })

  test('a line that was written over shows what stood there last', () => {
    expect(plain('10 %\r50 %\r100 %\r\ndone\r\n')).toBe('100 %\ndone\n')
    expect(plain('abx\bc')).toBe('abc')
  })

  test('text made to be slow is read at once', { timeout: 60_000 }, () => {
    for (const text of ['\u001b[', '\u001b]', '\u001bP', '\r', '\u001b[1;', '\b'])
      expect(plain(text.repeat(50_000)).length).toBeLessThan(400_000)
  })
})

describe('results of tools', () => {
  test('hits of a web search are linked with their site and extract', () => {
    expect(
      readResults('web_search', {
        results: [{ title: 'Tea', url: 'https://www.example.org/tea', snippet: 'About tea.' }],
      }),
    ).toEqual([
      {
        title: 'Tea',
        href: 'https://www.example.org/tea',
        place: 'example.org',
        text: 'About tea.',
      },
    ])
  })

  test('an address that is no web address is never linked', () => {
    for (const url of ['javascript:alert(1)', 'data:text/html,x', '//x', 'http://', 7])
      expect(readResults('web_search', { results: [{ title: 'x', url }] })).toBeNull()
  })

  test('matches, listings and passages are read', () => {
    expect(
      readResults('file_grep', { matches: [{ path: 'a.ts', line: 3, content: 'let a' }] }),
    ).toEqual([{ title: 'a.ts:3', file: { path: 'a.ts', line: 3 }, text: 'let a' }])
    expect(readResults('file_glob', { paths: ['a.ts'] })).toEqual([
      { title: 'a.ts', file: { path: 'a.ts' } },
    ])
    expect(
      readResults('file_list', {
        entries: [
          { path: 'src', type: 'directory' },
          { path: 'a.ts', type: 'file', size: 5 },
        ],
      }),
    ).toEqual([
      { title: 'src', folder: true },
      { title: 'a.ts', file: { path: 'a.ts' }, size: 5 },
    ])
    expect(
      readResults('search_knowledge', {
        results: [{ document: 'tea.pdf', heading: 'Oolong', page: 4, text: 'Roasted.' }],
      }),
    ).toEqual([{ title: 'tea.pdf', place: 'Oolong', page: 4, text: 'Roasted.' }])
    expect(readResults('web_search', { results: [] })).toEqual([])
  })

  test('what has another shape, and what a foreign server answers, is left as it is', () => {
    expect(readResults('calculator', { result: 4 })).toBeNull()
    expect(readResults('web_search', { results: [{ strange: true }] })).toBeNull()
    expect(readResults('web_search', { results: 'none' })).toBeNull()
    expect(readResults('mcp__x__search', { paths: ['a'] })).toBeNull()
    expect(readResults('file_glob', null)).toBeNull()
  })

  test('a file that was read is text, not JSON', () => {
    expect(readFileText('file_read', { path: 'a.ts', content: 'let a\n', start_line: 1 })).toEqual({
      path: 'a.ts',
      text: 'let a\n',
      line: 1,
    })
    expect(readFileText('calculator', { path: 'a', content: 'b' })).toBeNull()
  })
})
