// Rendering tool results for people: terminal colors, progress bars, lists of results with safe links.
import { describe, expect, test } from 'vitest'
import { classOf, readTerminal } from '../../web/src/features/chat/steps/ansi.ts'
import { treeOf } from '../../web/src/features/chat/steps/results/folder-tree.ts'
import { readResult } from '../../web/src/features/chat/steps/results/result-kinds.ts'
import { prettyVisible } from '../../web/src/features/chat/steps/tool-content.ts'
import {
  sortRows,
  tableFromCsv,
  tableFromList,
  writeTable,
} from '../../web/src/ui/table/table-data.ts'

const plain = (text: string): string =>
  readTerminal(text)
    .map((spans) => spans.map((span) => span.text).join(''))
    .join('\n')

describe('terminal output', () => {
  test('colour codes become styles, which continue across line ends until they are reset', () => {
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

  test('bright, 256-table and true colours become the nearest hue', () => {
    const hues = ['92', '38;5;196', '38;5;46', '38;2;20;40;250', '38;5;250'].map(
      (code) => readTerminal(`\u001b[${code}mx`)[0]?.[0]?.style.colour,
    )
    expect(hues).toEqual([2, 1, 2, 4, 7])
    expect(classOf({ colour: 1, background: 3, underline: true })).toBe(
      'ansi-1 ansi-on-3 underline',
    )
  })

  test('cursor movements, titles, links and stray control characters are removed', () => {
    expect(plain('\u001b[2K\u001b]0;title\u0007a\u001b[?25lb\u001b(B\u0000c\u001b')).toBe('abc')
    expect(plain('\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\')).toBe('link')
  })

  test('an overwritten line shows its last content', () => {
    expect(plain('10 %\r50 %\r100 %\r\ndone\r\n')).toBe('100 %\ndone\n')
    expect(plain('abx\bc')).toBe('abc')
  })

  test('text designed to be slow is parsed at once', { timeout: 60_000 }, () => {
    for (const text of ['\u001b[', '\u001b]', '\u001bP', '\r', '\u001b[1;', '\b'])
      expect(plain(text.repeat(50_000)).length).toBeLessThan(400_000)
  })
})

describe('results of tools', () => {
  test('web search hits have their site and extract', () => {
    expect(
      readResult('web_search', '{}', {
        results: [{ title: ' Tea\n', url: 'https://www.example.org/tea', snippet: 'About tea.' }],
      }),
    ).toEqual({
      kind: 'hits',
      hits: [
        {
          title: 'Tea',
          url: 'https://www.example.org/tea',
          site: 'example.org',
          text: 'About tea.',
        },
      ],
    })
    expect(readResult('web_search', '{}', { results: [] })).toEqual({ kind: 'hits', hits: [] })
  })

  test('only web addresses become links', () => {
    for (const url of ['javascript:alert(1)', 'data:text/html,x', '//x', 'http://', ' https://x'])
      expect(readResult('web_search', '{}', { results: [{ title: 'x', url }] })).toEqual({
        kind: 'hits',
        hits: [{ title: 'x', site: '' }],
      })
    expect(
      readResult('fetch_page', '{}', {
        url: 'https://a.org',
        links: [{ text: 'x', href: 'javascript:alert(1)' }],
      }),
    ).toMatchObject({ pages: [{ links: [{ title: 'x', site: '' }] }] })
  })

  test('files, folders, matches and passages are recognized', () => {
    expect(
      readResult('file_grep', '{}', { matches: [{ path: 'a.ts', line: 3, content: 'let a' }] }),
    ).toMatchObject({ kind: 'matches', matches: [{ path: 'a.ts', line: 3, content: 'let a' }] })
    expect(readResult('file_glob', '{}', { paths: ['a.ts'] })).toMatchObject({ kind: 'tree' })
    expect(
      readResult('ls', '{}', {
        entries: [
          { path: 'src', type: 'directory', size: 0 },
          { path: 'a.ts', type: 'file', size: 5 },
        ],
      }),
    ).toEqual({
      kind: 'tree',
      entries: [
        { path: 'src', folder: true, size: 0 },
        { path: 'a.ts', folder: false, size: 5 },
      ],
    })
    expect(
      readResult('search_knowledge', '{}', {
        results: [{ document: 'tea.pdf', heading: 'Oolong', page: 4, text: 'Roasted.' }],
      }),
    ).toMatchObject({ passages: [{ document: 'tea.pdf', heading: 'Oolong', page: 4 }] })
    const read = { path: 'a.ts', content: '3\tlet a\n', start_line: 3, total_lines: 9 }
    expect(readResult('read_file', '{"line_numbers":true}', read)).toEqual({
      kind: 'file',
      path: 'a.ts',
      text: 'let a\n',
      firstLine: 3,
      totalLines: 9,
    })
    const part = { path: 'a.csv', content: 'a,b\n1,2', total_lines: 9 }
    expect(readResult('file_read', '{}', part)).toMatchObject({ kind: 'csv', totalLines: 9 })
    expect(readResult('file_read', '{}', { path: 'a.csv', content: 'a,b\n1,2' })).toMatchObject({
      kind: 'csv',
    })
  })

  test('lists of objects, also from MCP servers, become tables, and plain values are labelled', () => {
    expect(readResult('mcp__x__list', '{}', '[{"a":1},{"b":true}]')).toMatchObject({
      kind: 'table',
      table: {
        columns: ['a', 'b'],
        rows: [
          [1, null],
          [null, true],
        ],
      },
    })
    expect(readResult('mcp__x__list', '{}', { items: [{ a: 1 }], total: 1 })).toMatchObject({
      kind: 'table',
    })
    expect(readResult('get_current_time', '{}', { time: '12:00', unix: 7 })).toMatchObject({
      kind: 'facts',
      facts: [{ name: 'time' }, { name: 'unix', value: 7 }],
    })
    expect(readResult('text_process', '{}', { result: 'ABC' })).toEqual({
      kind: 'text',
      text: 'ABC',
    })
  })

  test('a result of another shape is shown as raw data, and an MCP tool is never mistaken for a built-in one', () => {
    expect(readResult('web_search', '{}', { results: [{ strange: [{ x: {} }, 1] }, 2] })).toBeNull()
    expect(readResult('file_glob', '{}', null)).toBeNull()
    expect(readResult('get_weather', '{}', { city: { nested: { more: 1 } } })).toBeNull()
    expect(
      readResult('mcp__x__web_search', '{}', { results: [{ title: 'x', url: 'https://a.org' }] }),
    ).toMatchObject({ kind: 'table' })
  })
})

describe('tables', () => {
  test('from CSV text have typed cells, quoted line breaks and the column names of the first row', async () => {
    expect(await tableFromCsv('\ufeffname,price,code\n"a\nb",1.5,007\n,-2,x\n')).toEqual({
      columns: ['name', 'price', 'code'],
      rows: [
        ['a\nb', 1.5, '007'],
        ['', -2, 'x'],
      ],
      total: 2,
    })
    expect(await tableFromCsv('just text\nmore text')).toBeNull()
  })

  test('are sorted by numbers as numbers, by text as people do, with empty cells last', () => {
    const rows = [
      ['b', 10],
      ['A10', 9],
      ['a2', null],
      ['', 100],
    ]
    const order = (column: number, descending: boolean) =>
      sortRows(rows, { column, descending }).map((row) => row[column])
    expect(order(1, false)).toEqual([9, 10, 100, null])
    expect(order(1, true)).toEqual([100, 10, 9, null])
    expect(order(0, false)).toEqual(['a2', 'A10', 'b', ''])
  })

  test('are exported as CSV that no spreadsheet executes', () => {
    const table = {
      columns: ['a', 'b'],
      rows: [
        ['=1+1', -2],
        ['x,"y"', null],
      ],
      total: 2,
    }
    expect(writeTable(table, ',')).toBe('a,b\r\n\'=1+1,-2\r\n"x,""y""",')
    expect(writeTable(table, '\t')).toContain('"x,""y"""\t')
  })

  test('are bounded in columns, rows and cells', () => {
    const wide = Object.fromEntries(
      Array.from({ length: 500 }, (_, n) => [`c${n}`, 'x'.repeat(9_000)]),
    )
    const table = tableFromList(Array.from({ length: 3_000 }, () => wide))
    expect([table?.columns.length, table?.rows.length, table?.total]).toEqual([40, 2_000, 3_000])
    expect(String(table?.rows[0]?.[0]).length).toBeLessThan(3_000)
  })
})

describe('folders', () => {
  test('are shown as trees in which a folder with a single subfolder shares its line', () => {
    const entry = (path: string) => ({ path, folder: false })
    const tree = treeOf([entry('src/app/main.ts'), entry('src/app/view.ts'), entry('./readme.md')])
    expect(tree.map(({ name, children }) => [name, children.map((child) => child.name)])).toEqual([
      ['src/app', ['main.ts', 'view.ts']],
      ['readme.md', []],
    ])
  })
})

test('arguments that await approval show invisible characters, also when indented, and keep their value', () => {
  const sent = '{"path":"\\u202egpj.exe"}'
  expect(prettyVisible(sent)).toBe('{\n  "path": "\\u202egpj.exe"\n}')
  expect(JSON.parse(prettyVisible(sent))).toEqual({ path: '\u202egpj.exe' })
})
