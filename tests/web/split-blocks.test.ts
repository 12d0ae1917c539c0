// Splitting Markdown into blocks without changing its meaning; finished blocks stay unchanged.
import { describe, expect, test } from 'vitest'
import { growBlocks, splitBlocks } from '../../server/protocol/markdown/split-blocks.ts'
import { splitParts } from '../../web/src/ui/markdown/split-parts.ts'

const texts = (markdown: string) =>
  splitBlocks(markdown).map((block) => (block.kind === 'code' ? block.code : block.text.trim()))

describe('splitting Markdown into blocks', () => {
  test('paragraphs, headings and tables are separate blocks', () => {
    expect(texts('# One\n\ntwo\nlines\n\n| a |\n| - |\n| 1 |')).toEqual([
      '# One',
      'two\nlines',
      '| a |\n| - |\n| 1 |',
    ])
  })

  test('a heading, the first item of a list and the head of a table end the paragraph before them', () => {
    expect(texts('# One\ntwo\n## Three\nfour:\n- a\n- b')).toEqual([
      '# One',
      'two',
      '## Three',
      'four:',
      '- a\n- b',
    ])
    expect(texts('two:\n1. a\n2. b')).toEqual(['two:', '1. a\n2. b'])
    expect(texts('two\n2. b\n-\n#c')).toEqual(['two\n2. b\n-\n#c'])
    expect(texts('two:\n| a | b |\n| - | - |\n| 1 | 2 |')).toEqual([
      'two:',
      '| a | b |\n| - | - |\n| 1 | 2 |',
    ])
    expect(texts('<div>\n# a\n- b\n</div>')).toEqual(['<div>\n# a\n- b\n</div>'])
  })

  test('a fenced block is recognized with its language, and keeps blank lines', () => {
    expect(splitBlocks('before\n```py\na = 1\n\nb = 2\n```\nafter')).toEqual([
      { kind: 'markdown', start: 0, text: 'before' },
      { kind: 'code', start: 7, language: 'py', code: 'a = 1\n\nb = 2', closed: true },
      { kind: 'markdown', start: 30, text: 'after' },
    ])
  })

  test('an open fence is code already', () => {
    expect(splitBlocks('```ts\nconst a')).toEqual([
      { kind: 'code', start: 0, language: 'ts', code: 'const a', closed: false },
    ])
  })

  test('a longer fence may contain a shorter one', () => {
    expect(texts('````md\n```js\n1\n```\n````')).toEqual(['```js\n1\n```'])
  })

  test('a list with blank lines and nested content is one block', () => {
    const list = '1. one\n\n   more of one\n2. two\n   - nested\n\n3. three'
    expect(texts(`${list}\n\nparagraph`)).toEqual([list, 'paragraph'])
  })

  test('a fence inside a list item belongs to the item', () => {
    const list = '- item\n\n  ```sh\n  ls\n  ```\n\n- next'
    expect(splitBlocks(list)).toHaveLength(1)
  })

  test('a displayed formula is not split at its blank lines', () => {
    expect(texts('$$\na\n\nb\n$$\n\nafter')).toEqual(['$$\na\n\nb\n$$', 'after'])
  })

  test('finished blocks do not change while more text arrives', () => {
    const answer = Array.from(
      { length: 40 },
      (_, n) => `## Part ${n}\n\nSome *text*.\n\n\`\`\`js\nrun(${n})\n\`\`\`\n\n- a\n- b`,
    ).join('\n\n')
    const whole = splitBlocks(answer)
    for (let end = 0; end < answer.length; end += 37) {
      const part = splitBlocks(answer.slice(0, end))
      // All but the last block are final.
      expect(part.slice(0, -1)).toEqual(whole.slice(0, Math.max(0, part.length - 1)))
    }
  })

  test('a text that grows gives the same blocks as the complete text', () => {
    const answer =
      '# A\n\ntext\n\n- a\n\n- b\n\n```js\nx\n\ny\n```\nmore\n\n$$\na\n\nb\n$$\n\n1. c\n\nend'
    let grown = growBlocks(null, '', true)
    for (let end = 0; end <= answer.length; end += 1) {
      grown = growBlocks(grown, answer.slice(0, end), true)
      expect(grown.blocks).toEqual(splitBlocks(answer.slice(0, end), 0, { growing: true }))
    }
    expect(growBlocks(grown, 'something else', true).blocks).toEqual(splitBlocks('something else'))
  })

  test('a very long list is split between its items', () => {
    const list = Array.from({ length: 2_000 }, (_, n) => `- item number ${n}`).join('\n')
    const blocks = splitBlocks(list)
    expect(blocks.length).toBeGreaterThan(5)
    expect(texts(list).join('\n')).toBe(list)
  })
})

describe('constructs that span several blocks', () => {
  test('definitions of footnotes are separate blocks, including their further paragraphs', () => {
    expect(splitBlocks('text[^1]\n\n[^1]: one\n\n    more\n[^2]: two\n\nafter')).toEqual([
      { kind: 'markdown', start: 0, text: 'text[^1]\n' },
      { kind: 'footnote', start: 10, id: '1', text: 'one\n\nmore' },
      { kind: 'footnote', start: 30, id: '2', text: 'two\n' },
      { kind: 'markdown', start: 41, text: 'after' },
    ])
  })

  test('a foldable section may contain sections and code, and ends at its own end tag', () => {
    const inner = 'a\n\n<details>\nb\n</details>\n\n```html\n</details>\n```'
    expect(splitBlocks(`<details>\n<summary>S</summary>\n\n${inner}\n</details>\nafter`)).toEqual([
      { kind: 'details', start: 0, open: false, summary: 'S', text: inner },
      { kind: 'markdown', start: expect.any(Number), text: 'after' },
    ])
  })

  test('a formula in brackets is not split at its blank lines', () => {
    expect(texts('\\[\na\n\nb\n\\]\n\nafter')).toEqual(['\\[\na\n\nb\n\\]', 'after'])
    const stray = `\\[ stray\n\n${'paragraph\n\n'.repeat(400)}`
    expect(splitBlocks(stray).length).toBeGreaterThan(100)
  })

  test('give the same blocks while the text grows', () => {
    const answer =
      'a[^1]\n\n<details>x</details> y\n\n<details>\n<summary>S</summary>\n\n- x\n\n</details>\n\n\\[\na\n\nb\n\\]\n\n[^1]: one\n\n    two\n\nend'
    let grown = growBlocks(null, '', true)
    for (let end = 0; end <= answer.length; end += 1) {
      grown = growBlocks(grown, answer.slice(0, end), true)
      expect(grown.blocks).toEqual(splitBlocks(answer.slice(0, end), 0, { growing: true }))
    }
  })
})

describe('a block of Markdown that contains fences', () => {
  const readme =
    '# Title\n\n```bash\nnpm i\n```\n\nRun:\n```\nnpm start\n```\n\n~~~py\nx\n~~~\n\nMore'
  const answer = `Here:\n\n\`\`\`markdown\n${readme}\n\`\`\`\n\nAfter **bold**.\n\n\`\`\`py\nrun(3)\n\`\`\``

  test('is one block, and what follows it is text', () => {
    expect(texts(answer)).toEqual(['Here:', readme, 'After **bold**.', 'run(3)'])
    expect(texts('```markdown\n# A\n```sh\nmake\n```\n```\n\nThen:\n\n```py\nrun(3)\n```')).toEqual(
      ['# A\n```sh\nmake\n```', 'Then:', 'run(3)'],
    )
    expect(texts('````\n```js\n1\n```\n````\n\n```\n```js\n1\n```\n```\nend')).toEqual([
      '```js\n1\n```',
      '```js\n1\n```',
      'end',
    ])
  })

  test('stays one while it streams in, and its finished blocks do not change', () => {
    const whole = splitBlocks(answer)
    let grown = growBlocks(null, '', true)
    for (let end = 0; end <= answer.length; end += 1) {
      grown = growBlocks(grown, answer.slice(0, end), true)
      expect(grown.blocks.slice(0, -1)).toEqual(
        whole.slice(0, Math.max(0, grown.blocks.length - 1)),
      )
    }
    expect(growBlocks(grown, answer, false).blocks).toEqual(whole)
  })

  test('ends at its first fence if it would have no end otherwise', () => {
    const text = '```markdown\n# A\n```js\n1\n```\n\nThe text goes on.'
    expect(texts(text)).toEqual(['# A\n```js\n1', 'The text goes on.'])
    const growing = growBlocks(null, text, true)
    expect(growing.blocks).toHaveLength(1)
    expect(growBlocks(growing, text, false).blocks).toEqual(splitBlocks(text))
    expect(texts('```markdown\na\n\n```\nThe text goes on.')).toEqual(['a\n', 'The text goes on.'])
  })

  test('inside a section does not hide the end of the section', () => {
    expect(
      splitBlocks('<details>\n\n```md\n```html\n</details>\n```\n```\n\n</details>\nafter'),
    ).toMatchObject([{ kind: 'details' }, { kind: 'markdown', text: 'after' }])
    expect(splitBlocks('<details>\n\n```md\n```js\n```\n\n</details>\nafter')).toMatchObject([
      { kind: 'details' },
      { kind: 'markdown', text: 'after' },
    ])
  })

  test('thousands of times without an end is done at once', { timeout: 60_000 }, () => {
    for (const line of ['```markdown\n```js\n', '```md\n\n```\nx\n', '<table>\n\n'])
      for (const growing of [true, false])
        expect(splitBlocks(line.repeat(30_000), 0, { growing }).length).toBeGreaterThan(0)
  })
})

describe('a table in HTML', () => {
  const table = '<table>\n<tr><td>a</td></tr>\n\n<tr><td>b</td></tr>\n</table>'

  test('is one block with its blank lines, and what follows it is text', () => {
    expect(texts(`Here:\n${table}\n**after**`)).toEqual([
      'Here:',
      table.replace('\n\n', '\n'),
      '**after**',
    ])
  })

  test('that never ends takes no further text with it', () => {
    expect(texts('<table>\n<tr>\n\ntext\n\nmore')).toEqual(['<table>\n<tr>', 'text', 'more'])
    expect(texts('<table> is a tag.\n\ntext')).toEqual(['<table> is a tag.', 'text'])
    expect(splitBlocks('<table>\n<tr>\n\n<td>', 0, { growing: true })).toHaveLength(1)
  })
})

describe('the parts of a long answer', () => {
  const answer = Array.from(
    { length: 40 },
    (_, n) => `## Part ${n}\n\nSome text.\n\n---\n\n\`\`\`js\nrun(${n})\n\`\`\`\n\n- a\n- b`,
  ).join('\n\n')
  const whole = splitParts(splitBlocks(answer))

  test('hold all blocks in order, in pieces of bounded size', () => {
    expect(whole.flat()).toEqual(splitBlocks(answer))
    expect(whole.length).toBeGreaterThan(8)
    expect(Math.max(...whole.map((part) => part.length))).toBeLessThan(20)
  })

  test('do not change while more text arrives, except for the last one', () => {
    for (let end = 0; end < answer.length; end += 37) {
      const parts = splitParts(splitBlocks(answer.slice(0, end), 0, { growing: true }))
      expect(parts.slice(0, -1)).toEqual(whole.slice(0, Math.max(0, parts.length - 1)))
    }
  })

  test('never end with a heading or a rule, whose distance to the next block depends on that block', () => {
    const ends = whole.slice(0, -1).map((part) => part.at(-1))
    expect(
      ends.every((block) => block?.kind === 'code' || !/^(?:#|---)/.test(block?.text ?? '')),
    ).toBe(true)
  })
})
