// Rendering of Markdown: call-outs, footnotes, collapsible sections, tables, formulas, text direction.
import i18next from 'i18next'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { beforeAll, describe, expect, test } from 'vitest'
import { splitBareUrls } from '../../server/protocol/markdown/page-syntax.ts'
import { TranslationProvider } from '../../web/src/lib/i18n/use-translation.tsx'
import { Markdown } from '../../web/src/ui/markdown/markdown.tsx'
import { pageTexts } from '../support/page/texts.ts'

beforeAll(async () => {
  await i18next.init({
    lng: 'en',
    resources: { en: { translation: pageTexts('en') } },
  })
})

const html = (text: string, growing = false): string =>
  renderToStaticMarkup(
    createElement(TranslationProvider, null, createElement(Markdown, { text, growing })),
  )
const words = (text: string, growing = false): string =>
  html(text, growing)
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

describe('call-outs', () => {
  test('a quotation that begins with a marker becomes a call-out with a title', () => {
    const drawn = html('> [!WARNING]\n> Mind the **gap**.')
    expect(drawn).toContain('alert-warning')
    expect(drawn).toContain('<strong>gap</strong>')
    expect(words('> [!WARNING]\n> Mind the gap.')).toBe('Warning Mind the gap.')
  })

  test('a quotation with an unknown marker stays a quotation', () => {
    expect(html('> [!WHATEVER]\n> text')).toContain('<blockquote')
  })
})

describe('footnotes', () => {
  const text =
    'One[^b] and two[^a].\n\nMore[^b].\n\n[^a]: First **note**.\n[^b]: Second\n    goes on.'

  test('are numbered in the order of their references and listed at the end', () => {
    expect(words(text)).toBe('One 1 and two 2 . More 1 . Second goes on. ↩ First note . ↩')
  })

  test('whose definition has not arrived yet are numbers, and text if it never arrives', () => {
    expect(words('One[^1] and', true)).toBe('One 1 and')
    expect(words('One[^1] and')).toBe('One[^1] and')
  })

  test('without a reference are still shown', () => {
    expect(words('Text.\n\n[^1]: Alone.')).toBe('Text. Alone. ↩')
  })

  test('inside a foldable section use the list of the whole answer', () => {
    const drawn = html('<details>\n<summary>S</summary>\n\nInner[^1].\n</details>\n\n[^1]: Note.')
    expect(drawn).toContain('data-footnote-mark="1"')
    expect(drawn.match(/data-footnote="1"/g)).toHaveLength(1)
  })
})

describe('foldable sections', () => {
  test('show their summary and hold Markdown', () => {
    const drawn = html(
      '<details open>\n<summary>More *here*</summary>\n\n- a\n- b\n\n```js\n</details>\n```\n\n</details>\n\nafter',
    )
    expect(drawn).toMatch(
      /<details open="" dir="ltr">.*<summary.*<em>here<\/em>.*<ul.*<\/details>.*after/s,
    )
  })

  test('inherit no attributes from the tag', () => {
    const drawn = html(
      '<details onclick="x()" style="y" class="z">\n<summary onclick="q">S</summary>\nT</details>',
    )
    expect(drawn).not.toMatch(/onclick|style="y"|class="z"/)
    expect(drawn).toContain('<details dir="ltr">')
  })

  test('that are nested extremely deep do not crash the page', { timeout: 60_000 }, () => {
    expect(html('<details>\n'.repeat(20_000)).match(/<details>/g)?.length).toBeLessThan(10)
  })
})

test('other HTML is shown as text, except for tags that only format text', () => {
  const drawn = html(
    'H<sub>2</sub>O, <kbd>Ctrl</kbd>, a<br>b <script>alert(1)</script> <img src=x onerror=y>',
  )
  expect(drawn).toContain('H<sub>2</sub>O')
  expect(drawn).toContain('<kbd>Ctrl</kbd>')
  expect(drawn).toContain('<br/>')
  expect(drawn).not.toMatch(/<script|<img/)
})

test('the lines of an answer stay lines, those of a file are joined', () => {
  expect(html('Roses are red\n*Violets\nare* blue  \nSugar<br>\nis sweet')).toContain(
    'Roses are red<br/>\n<em>Violets<br/>\nare</em> blue<br/>\nSugar<br/>\nis sweet</p>',
  )
  expect(html('- a\n  b\n\n> c\n> d').match(/<br\/>/g)).toHaveLength(2)
  const file = createElement(Markdown, {
    text: 'wrapped\nat a width\n\n<details>\na\nb\n</details>',
    isFile: true,
  })
  expect(renderToStaticMarkup(createElement(TranslationProvider, null, file))).not.toContain(
    '<br/>',
  )
})

test('a block of Markdown with fences in a list stays one block, also while it streams in', () => {
  const list =
    '1. A README:\n   ```markdown\n   # T\n   ```sh\n   make\n   ```\n   More\n   ```\n2. Done'
  expect(html(list).match(/<figure/g)).toHaveLength(1)
  expect(html(list)).not.toContain('<h2')
  expect(html(list.slice(0, list.indexOf('\n   ```\n2')), true).match(/<figure/g)).toHaveLength(1)
})

describe('a table in HTML', () => {
  test('is a table with the spans, alignment and text of its cells', () => {
    const drawn = html(
      'Here:\n<table border=1>\n<caption>The &amp; sum</caption>\n<tr><th colspan="2" style="text-align:center">A</th></tr>\n\n<tr>\n<td rowspan=2>x <b>y</b><br>z</td>\n<td><ul><li>one<li>two</ul><a href="https://a.example/">a</a></td>\n</tr></table>\nafter **it**',
    )
    expect(drawn).toContain('<caption>The &amp; sum</caption>')
    expect(drawn).toMatch(/<th[^>]* colSpan="2"[^>]*>A<\/th>/i)
    expect(drawn).toMatch(/<td[^>]* rowSpan="2"[^>]*>x <b>y<\/b><br\/>\s*z<\/td>/i)
    expect(drawn).toMatch(/<ul[^>]*><li[^>]*>one<\/li><li[^>]*>two<\/li><\/ul>/)
    expect(drawn).toContain('href="https://a.example/"')
    expect(drawn).toContain('after <strong>it</strong>')
  })

  test('is drawn while it streams in', () => {
    expect(words('<table>\n<tr><td>a</td><td>b', true)).toContain('a b')
    expect(html('<table>\n<tr><td>a</td>\n\n<td cla', true)).toContain('<table')
  })

  test('brings nothing of its HTML but text, links and spans', () => {
    const drawn = html(
      '<table onclick=x id=y class=z><tr><td style="position:fixed" onmouseover=x>a<script>alert(1)</script><img src=x onerror=y><iframe src=z></iframe><svg><a href=x>q</a></svg><a href="javascript:x">l</a><form><input value=v></form></td></tr></table>',
    )
    expect(drawn).not.toMatch(
      /onclick|onmouseover|onerror|<script|alert|<img|<iframe|position|<form|<input|javascript:|class="z"/,
    )
    expect(drawn).toContain('<td')
  })
})

test.each([
  ['**注意：**请先备份。', '<strong>注意：</strong>请先备份。'],
  ['这是**“引号”**里的', '这是<strong>“引号”</strong>里的'],
  ['**（重要）**内容', '<strong>（重要）</strong>内容'],
  ['**「テスト」**です', '<strong>「テスト」</strong>です'],
  ['**강조(괄호)**를', '<strong>강조(괄호)</strong>를'],
  ['使用**`npm ci`**即可', '使用<strong><code>npm ci</code></strong>即可'],
  ['2 * 3 * 4', '2 * 3 * 4'],
])('emphasis works beside punctuation that no space follows: %s', (text, expected) => {
  expect(html(text)).toContain(`<p>${expected}</p>`)
})

test.each([
  [
    '请访问https://example.com/路径，然后点击“确定”。',
    '请访问|https://example.com/路径|，然后点击“确定”。',
  ],
  ['（见https://example.com/a）后', '（见|https://example.com/a|）后'],
  ['官网：www.example.com。谢谢', '官网：|www.example.com|。谢谢'],
  ['https://a.example/1、https://a.example/2。', '|https://a.example/1|、|https://a.example/2|。'],
  [
    '[维基（百科）](https://a.example/x（y）) 和 <https://a.example/x（y）>',
    '|维基（百科）| 和 |https://a.example/x（y）|',
  ],
  ['See https://example.com/a, then.', 'See |https://example.com/a|, then.'],
])('a bare URL ends at Chinese punctuation, other links stay as they are: %s', (text, expected) => {
  const shown = html(text)
    .replaceAll(/<\/?a(?: [^>]*)?>/g, '|')
    .replaceAll(/<[^>]*>/g, '')
  expect(shown).toBe(expected)
})

test.each([
  ['**https://a.example**。然后', '*|https://a.example|*。然后'],
  ['**官网：https://a.example**，请看', '*官网：|https://a.example|*，请看'],
  ['请访问**https://a.example/x?y=1**了解', '请访问*|https://a.example/x?y=1|*了解'],
  [
    '**https://a.example**、**https://b.example**。',
    '*|https://a.example|*、*|https://b.example|*。',
  ],
  ['**用 `npm` 看 https://a.example**（好）', '*用 npm 看 |https://a.example|*（好）'],
  ['2 ** 3 和 https://a.example/**/x', '2 ** 3 和 |https://a.example/**/x|'],
  ['\\*\\*https://a.example/**x', '**|https://a.example/**x|'],
])('emphasis may end after a bare URL that no space follows: %s', (text, expected) => {
  const shown = html(text)
    .replaceAll(/<\/?a(?: [^>]*)?>/g, '|')
    .replaceAll(/<\/?strong>/g, '*')
    .replaceAll(/<[^>]*>/g, '')
  expect(shown).toBe(expected)
})

test('the address of a bare URL ends where its text does', () => {
  expect(html('请访问https://example.com/a，谢谢')).toContain('href="https://example.com/a"')
  expect(html('**https://example.com/a**（推荐）')).toContain('href="https://example.com/a"')
  expect(html('官网：www.example.com。谢谢')).toContain('href="http://www.example.com"')
})

test('tens of thousands of URLs without a space between them are shown, each as a link', () => {
  const many = 'https://a.example，'.repeat(20_000)
  expect(html(many).match(/<a /g)).toHaveLength(20_000)
  const emphasized = '**https://a.example**，'.repeat(5_000)
  expect(html(emphasized).match(/<strong>/g)).toHaveLength(5_000)
})

test('hundreds of thousands of URLs may follow emphasis that ends after a URL', () => {
  const shown = `https://a.example**、${'https://a.example、'.repeat(150_000)}`
  const [emphasized, ...others] = splitBareUrls([
    { type: 'text', value: '**' },
    { type: 'link', url: shown, children: [{ type: 'text', value: shown }] },
  ])
  expect(emphasized).toMatchObject({ type: 'strong', children: [{ url: 'https://a.example' }] })
  expect(others.filter(({ type }) => type === 'link')).toHaveLength(150_000)
})

test('a line that only looks like the definition of a link is shown once', () => {
  expect(words('[INFO]: server started on port 3000\n\nThe [INFO] line.')).toBe(
    '[INFO]: server started on port 3000 The [INFO] line.',
  )
  expect(words('A [name][b].\n\n[b]: <https://a.example/x y> "Title"')).toBe('A name .')
})

test('tildes between the ends of ranges strike nothing through, two tildes do', () => {
  expect(html('每天3~5次，每次10~15分钟')).toContain('每天3~5次，每次10~15分钟')
  expect(html('~~old~~')).toContain('<del>old</del>')
})

test('each block of text has its own direction; code always runs from left to right', () => {
  const drawn = html('שלום **עולם**\n\n- one\n\n> quote\n\n| a |\n| - |\n| ب |\n\n```js\nx\n```')
  expect(drawn).toContain('<p dir="auto">שלום')
  // What has no letter from right to left runs as the page does, unless something else encloses it.
  expect(html('One')).toContain('<p>One</p>')
  expect(html('<details><summary>تفاصيل</summary>\n\nOne\n\n</details>')).toContain(
    '<p dir="auto">One</p>',
  )
  expect(drawn).toContain('<ul dir="ltr"')
  expect(drawn).toContain('<blockquote dir="ltr"')
  expect(drawn).toContain('<td dir="rtl"')
  expect(drawn).toContain('<figure dir="ltr"')
})

test('a table, list or quotation runs from right to left if its first letter outside code does', () => {
  const drawn = html('| اسم | `n` |\n| - | - |\n| 1 | 2 |\n\n- `x` שלום\n\n> نص')
  expect(drawn).toContain('class="table-frame" dir="rtl"')
  expect(drawn).toContain('<td class="cell-short">1</td>')
  expect(drawn).toContain('<ul dir="rtl"')
  expect(drawn).toContain('<blockquote dir="rtl"')
})

test('foldable sections, callouts and footnotes run in the direction of their text, whatever the language of their titles', () => {
  const drawn = html(
    '<details><summary>`x` تفاصيل</summary>\n\nx\n\n</details>\n\n> [!NOTE]\n> نص\n\nنص[^a]\n\n[^a]: حاشية',
  )
  expect(drawn).toContain('<details dir="rtl">')
  expect(drawn).toContain('<div role="note" dir="rtl"')
  expect(drawn).toContain('<ol dir="rtl">')
})

test('a cell with a sentence is wide, a cell with a number is not', () => {
  const drawn = html('| n | text |\n| - | - |\n| 1 | this is a sentence that needs some room |')
  expect(drawn).toContain('<td class="cell-short">1</td>')
  expect(drawn).toContain('<td dir="ltr" class="cell-wide">')
})

test('a name stays on one line where there is room, and a Chinese character counts as two letters', () => {
  const drawn = html(
    '| 姓名 | text |\n| - | - |\n| Ada King of Lovelace | 这是一句需要一些空间的中文句子 |',
  )
  expect(drawn).toMatch(/class="cell-line">Ada King of Lovelace</)
  expect(drawn).toMatch(/class="cell-wide">这是/)
})
