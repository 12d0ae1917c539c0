// Code in the messages of people.
import { expect, test } from 'vitest'
import { codeParts } from '../../web/src/features/chat/sending/code-parts.ts'

test('in a message, code between backticks and fenced code are found, and all else stays as it is written', () => {
  expect(codeParts('Why does `npm test` fail? **Really**')).toEqual([
    { kind: 'text', text: 'Why does ' },
    { kind: 'inLine', text: 'npm test' },
    { kind: 'text', text: ' fail? **Really**' },
  ])
  expect(codeParts('Look:\n```ts\nconst a = `b`\n\n```\nand ``a`b``')).toEqual([
    { kind: 'text', text: 'Look:\n' },
    { kind: 'block', text: 'const a = `b`\n' },
    { kind: 'text', text: 'and ' },
    { kind: 'inLine', text: 'a`b' },
  ])
  expect(codeParts('```\n```')).toEqual([{ kind: 'block', text: '' }])
})

test.each(['a ` b', '```ts\nnever closed', '` two\nlines `', '``', '', 'plain'])(
  'what is not closed stays as it is written: %j',
  (text) => {
    expect(
      codeParts(text)
        .map(({ kind, text: part }) => (kind === 'text' ? part : `<${part}>`))
        .join(''),
    ).toBe(text)
  },
)
