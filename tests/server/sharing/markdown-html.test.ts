// Markdown as the HTML of shared pages and exported files: what a reader sees, and what hostile text cannot do.
import { expect, test } from 'vitest'
import { loadColours } from '../../../server/sharing/code-colours.ts'
import { markdownHtml } from '../../../server/sharing/markdown-html.ts'
import { proseTexts } from '../../../server/sharing/prose-texts.ts'

const html = (text: string): string => markdownHtml(text, { texts: proseTexts('en') })
/** The text that a reader sees. */
const seen = (text: string): string =>
  html(text)
    .replaceAll(/<annotation[\s\S]*?<\/annotation>|<[^>]*>/g, '')
    .replaceAll('&#x3C;', '<')
    .trim()

test('an alert has the title of its kind in the language of the reader', () => {
  const text = '> [!WARNING]\n> Mind the **gap**.'
  expect(markdownHtml(text, { texts: proseTexts('zh-CN') })).toContain(
    '<div class="alert alert-warning" role="note" dir="ltr"><p class="alert-title">警告</p>',
  )
  expect(html(text)).toContain('Mind the <strong>gap</strong>.')
  expect(html('> [!WARNING] on the same line')).toContain('<blockquote')
})

test('formulas become MathML in every notation that models use, and money and code stay unchanged', () => {
  for (const inline of ['$x^2$', '\\(x^2\\)'])
    expect(html(`So ${inline} it is`)).toContain('<msup><mi>x</mi><mn>2</mn></msup>')
  for (const displayed of ['$$\nx^2\n$$', '\\[x^2\\]'])
    expect(html(displayed)).toMatch(
      /<div class="formula" tabindex="0"><span[^>]*><math[^>]* display="block">/,
    )
  expect(html('$5 and $10, `$x$`\n\n~~~\n$y$ and $5\n~~~')).not.toContain('<math')
  expect(seen('$5 and $10, `$x$`')).toBe('$5 and $10, $x$')
  expect(seen('~~~\n$y$ and $5\n~~~')).toBe('$y$ and $5')
  expect(html('$\\unknown{x}$')).toContain('<code>\\unknown{x}</code>')
})

test('code has the colours of its language as classes, scrolls by itself, and stays as it is in other languages', async () => {
  const text = '- Item\n\n  ```py\n  # <b>\n  return 1\n  ```\n\n```unknown\nreturn 1\n```'
  const coloured = markdownHtml(text, { texts: proseTexts('en'), colour: await loadColours(text) })
  expect(coloured).toContain(
    '<pre class="code" dir="ltr" tabindex="0"><code class="language-py"><span class="code-comment"># &#x3C;b></span>\n<span class="code-keyword">return</span> <span class="code-constant">1</span>\n</code></pre>',
  )
  expect(coloured).toContain('<code class="language-unknown">return 1\n</code>')
})

test('what models write without its marks is read as on the page: lines, environments, fences of fences, tables', () => {
  expect(seen('It costs 5$, not 10$.')).toBe('It costs 5$, not 10$.')
  expect(html('Roses\nViolets')).toContain('Roses<br>\nViolets')
  for (const formula of ['\\begin{align}\na &= b\n\\end{align}', '```math\ny^2\n```'])
    expect(html(formula)).toContain('<div class="formula"')
  const readme = html('```markdown\n# T\n\n```sh\nmake\n```\n\nMore\n```\n\nAfter **it**.')
  expect(readme.match(/<pre/g)).toHaveLength(1)
  expect(readme).toContain('```sh\nmake\n```\n\nMore\n</code></pre>')
  expect(readme).toContain('After <strong>it</strong>.')
  const table = html('A\n<table>\n<tr><td colspan=2>a</td></tr>\n\n<tr><td>b\n</table>\n**c**')
  expect(table).toMatch(/<td [^>]*colspan="2"[^>]*>a<\/td>/)
  expect(table).toContain('<strong>c</strong>')
})

test('chemical formulas become MathML too', () => {
  const drawn = html('$\\ce{2 H2 + O2 ->[heat] 2 H2O}$ and $\\pu{123 kJ/mol}$')
  expect(drawn.match(/<math/g)).toHaveLength(2)
  expect(drawn).not.toContain('<code')
})

test('a link or picture whose address can carry data shows it behind its text', () => {
  expect(seen('[Help](https://attacker.test/?d=secret)')).toBe('Help (attacker.test/?d=secret)')
  expect(seen('![Chart](https://attacker.test/?d=secret)')).toBe('Chart (attacker.test/?d=secret)')
  expect(seen('[**Help**][1]\n\n[1]: https://secret@attacker.test/')).toBe(
    'Help (secret@attacker.test/)',
  )
  // What it shows is text.
  expect(html('[x](<https://a.test/?<b>\u202e>)')).not.toMatch(/<b>/)
  for (const plain of [
    '[Guide](https://example.org/guide)',
    '<https://example.org/?q=1>',
    '[https://example.org/?q=1](https://example.org/?q=1)',
    '[Write](mailto:a@example.org?subject=x)',
  ])
    expect(html(plain)).not.toContain('link-address')
})

test('a table scrolls by itself, also with the keyboard', () => {
  expect(html('| a |\n| - |\n| 1 |')).toMatch(/^<div class="wide" tabindex="0"><table[\s>]/)
})

test('emphasis beside Chinese punctuation and tildes between the ends of ranges are read as on the page', () => {
  expect(html('**注意：**请每天3~5次，每次10~15分钟')).toContain(
    '<strong>注意：</strong>请每天3~5次，每次10~15分钟',
  )
})

test('foldable sections contain their Markdown, wherever their tags are', () => {
  for (const text of [
    '<details><summary>More</summary>\n\n**inner**\n\n</details>',
    '<details>\n<summary>More</summary>\n**inner**\n</details>',
  ])
    expect(html(text)).toMatch(
      /^<details dir="ltr"><summary><p dir="auto">More<\/p><\/summary><p dir="auto"><strong>inner<\/strong><\/p>\s*<\/details>\s*$/,
    )
  expect(html('<details open>text</details>')).toContain(
    '<details dir="ltr" open><summary>Details</summary>',
  )
  expect(seen('<details>a</details>the rest')).toMatch(/^Detailsa\s*the rest$/)
})

test('foldable sections, callouts and footnotes in Arabic run from right to left', () => {
  expect(html('<details><summary>تفاصيل</summary>\n\nx\n\n</details>')).toContain(
    '<details dir="rtl">',
  )
  expect(html('> [!NOTE]\n> نص')).toContain('class="alert alert-note" role="note" dir="rtl"')
  expect(html('نص[^a]\n\n[^a]: حاشية')).toContain('<ol dir="rtl">')
  expect(html('<details><summary>1</summary>\n\n2\n\n</details>')).toContain('<details><summary>')
})

test('footnotes are numbered and linked both ways, separately for each text', () => {
  const mark = /<sup><a id="(note-\w+-mark-1)" href="#(note-\w+-1)">1<\/a><\/sup>/
  const text = 'One[^a], again[^a], unknown[^b].\n\n[^a]: The *note*.'
  const [, marked, listed] = mark.exec(html(text)) ?? []
  expect(html(text)).toContain(`<li id="${listed}" value="1">`)
  expect(html(text)).toContain(`href="#${marked}" aria-label="Back to the text"`)
  expect(html(text).split('id="').length - 1).toBe(2)
  expect(seen(text)).toContain('unknown[^b]')
  expect(mark.exec(html(`Another ${text}`))?.[2]).not.toBe(listed)
})

test('task lists, tables and harmless tags are rendered, and links find their definitions', () => {
  expect(html('- [x] done\n- [ ] open')).toMatch(/checked disabled aria-label="✓"> done/)
  expect(html('H<sub>2</sub>O, <kbd>Ctrl</kbd><br>')).toContain(
    'H<sub>2</sub>O, <kbd>Ctrl</kbd><br>',
  )
  expect(html('[site][1]\n\ntext\n\n[1]: https://example.com')).toContain(
    '<a rel="nofollow noopener noreferrer" href="https://example.com">site</a>',
  )
})

test.each([
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<b onclick=alert(1)>x</b>',
  '<details ontoggle=alert(1) open><summary><script>x</script></summary><img src=x></details>',
  '> [!NOTE]\n> <iframe src="//evil.example">',
  '<table onclick=x><tr><td style="x" onload=x><script>x</script><img src=x onerror=x><a href="javascript:x">x</a><iframe src=x>',
  '[x](javascript:alert(1)) [y](vbscript&colon;x) [z](data:text/html,x) <javascript:x>',
  '![x](javascript:alert(1)) ![y](data:image/svg+xml,x) ![z](https://tracker.example/z.png)',
  'a[^1]\n\n[^1]: <script>x</script> [l](javascript:x)',
  '$\\href{javascript:alert(1)}{x}$ $\\htmlStyle{color:red}{y}$ $\\includegraphics{//evil}$',
  '$\\text{</annotation><script>alert(1)</script>}$ $$\n</math><script>\n$$',
  '```"><script>x</script>\n</code></pre><script>x</script>\n```',
  `[^${'"><script>'}]: x`,
])('the text %j becomes no HTML of its own', (text) => {
  const drawn = html(text)
  expect(drawn).not.toMatch(/<(?:script|img|iframe|svg|object|style|form)/i)
  expect(drawn).not.toMatch(/<[^>]*\s(?:on\w+|style|src)=/i)
  expect(drawn).not.toMatch(/href="(?!https:\/\/tracker\.example\/z\.png"|#note-)/i)
})

test('a diagram is drawn by a frame of this server where the document can have one, and stays code elsewhere', () => {
  const text = '```mermaid\ngraph TD; a["é & <b>"] --> b\n```'
  const shown = markdownHtml(text, { texts: proseTexts('en'), hasFrames: true })
  expect(shown).toContain(
    '<iframe src="../diagram.html#graph%20TD%3B%20a%5B%22%C3%A9%20%26%20%3Cb%3E%22%5D%20--%3E%20b%0A" sandbox="allow-scripts"',
  )
  // The source stays readable below it.
  expect(shown).toContain('class="language-mermaid"')
  expect(html(text)).not.toContain('<iframe')
})
