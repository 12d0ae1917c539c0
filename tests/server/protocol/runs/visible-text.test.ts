// What a person decides on is shown as it is: no invisible characters, and no characters that reorder the text.
import { expect, test } from 'vitest'
import { visibleText, visibleValue } from '../../../../server/protocol/runs/visible-text.ts'

test('bidirectional, invisible and filler characters are escaped', () => {
  expect(visibleText('rm \u202eexe.txt\u2066')).toBe('rm \\u202eexe.txt\\u2066')
  for (const hidden of [
    '\u200b',
    '\ufeff',
    '\u00ad',
    '\u3164',
    '\u2800',
    '\u0007',
    '\u2028',
    '\ufe01',
    '\u{e0041}',
  ])
    expect(visibleText(`a${hidden}b`)).toMatch(/^a(\\u[0-9a-f]{4})+b$/)
  expect(visibleText('shown\rhidden')).toBe('shown\\u000dhidden')
})

test('ordinary text of every script is not changed', () => {
  for (const text of ['one\ttwo\r\nthree\n', '你好，世界　！', 'שלום', 'नमस्ते', 'é', '👩‍💻 ❤️ 🏳️‍🌈'])
    expect(visibleText(text)).toBe(text)
})

test('escaped JSON text keeps its value, and previews keep their shape', () => {
  const value = { path: 'a\u202eb', lines: ['\u200b', 1, null] }
  expect(JSON.parse(visibleText(JSON.stringify(value)))).toEqual(value)
  expect(visibleValue(value)).toEqual({ path: 'a\\u202eb', lines: ['\\u200b', 1, null] })
})
