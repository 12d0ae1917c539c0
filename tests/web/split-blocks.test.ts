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
    let grown = growBlocks(null, '')
    for (let end = 0; end <= answer.length; end += 1) {
      grown = growBlocks(grown, answer.slice(0, end))
      expect(grown.blocks).toEqual(splitBlocks(answer.slice(0, end)))
    }
    expect(growBlocks(grown, 'something else').blocks).toEqual(splitBlocks('something else'))
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
    let grown = growBlocks(null, '')
    for (let end = 0; end <= answer.length; end += 1) {
      grown = growBlocks(grown, answer.slice(0, end))
      expect(grown.blocks).toEqual(splitBlocks(answer.slice(0, end)))
    }
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
      const parts = splitParts(splitBlocks(answer.slice(0, end)))
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
