// Finding the facts in the text of a memory, and removing one without changing the rest.
import { expect, test } from 'vitest'
import { factsIn, withoutFact } from '../../web/src/features/memory/memory-facts.ts'

const text = `# About me
- a point of my own

## Agent Memories

- 2026-01-02: Likes tea
- 2026-02-03: Has a cat (from outside text)
* no date here

## Later
- not a fact either
`

test('facts are the dated lines under their heading only, newest first', () => {
  expect(factsIn(text).map(({ date, text: fact, untrusted }) => [date, fact, untrusted])).toEqual([
    ['', 'no date here', false],
    ['2026-02-03', 'Has a cat', true],
    ['2026-01-02', 'Likes tea', false],
  ])
  expect(factsIn('')).toEqual([])
})

test('removing a fact leaves everything else unchanged', () => {
  const line = '- 2026-01-02: Likes tea'
  expect(withoutFact(text, line)).toBe(text.replace(`${line}\n`, ''))
  expect(withoutFact(text, '- a point of my own')).toBe(text)
  expect(withoutFact(text, '- gone already')).toBe(text)
})

test('removing one of two equal facts leaves the other', () => {
  const twice = '## Agent Memories\n\n- same\n- same\n'
  expect(withoutFact(twice, '- same')).toBe('## Agent Memories\n\n- same\n')
})
