// Long answers in parts: nothing is lost, no part is too long, and code blocks are whole in each part.
import { describe, expect, test } from 'vitest'
import { splitText } from '../../../server/receiving/split-text.ts'

const MAX = 400
const fences = (text: string): number =>
  text.split('\n').filter((line) => /^ {0,3}```/.test(line)).length
const bare = (text: string): string =>
  text.replaceAll(/^ {0,3}```\w*$/gm, '').replaceAll(/\s+/g, '')

describe('a long answer', () => {
  test('stays as it is when it fits', () => {
    expect(splitText('One.\n\nTwo.', MAX)).toEqual(['One.\n\nTwo.'])
  })

  test('is cut between paragraphs', () => {
    const paragraphs = Array.from({ length: 12 }, (_, index) =>
      `${index} ${'word '.repeat(20)}`.trim(),
    )
    const parts = splitText(paragraphs.join('\n\n'), MAX)
    expect(parts.length).toBeGreaterThan(1)
    for (const part of parts)
      for (const one of part.split('\n\n')) expect(paragraphs).toContain(one)
  })

  test('with a code block has whole code blocks in each part, and loses nothing', () => {
    const code = Array.from({ length: 60 }, (_, index) => `const value${index} = ${index}`).join(
      '\n',
    )
    const text = `Before.\n\n\`\`\`ts\n${code}\n\`\`\`\n\nAfter.`
    const parts = splitText(text, MAX)
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(MAX)
      expect(fences(part) % 2, part).toBe(0)
    }
    expect(bare(parts.join('\n'))).toBe(bare(text))
  })

  test('is never cut inside a character, and one endless line is cut, too', () => {
    const parts = splitText('😀'.repeat(700), MAX)
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(MAX)
      expect(Buffer.from(part).toString('utf8')).toBe(part)
    }
    expect(parts.join('')).toBe('😀'.repeat(700))
  })
})
