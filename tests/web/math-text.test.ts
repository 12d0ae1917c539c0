// Formulas are found, money is not taken for one, code is left alone.
import { expect, test } from 'vitest'
import { mayHoldMath, prepareMath } from '../../web/src/ui/markdown/math-text.ts'

test('formulas in LaTeX brackets become dollar formulas', () => {
  expect(prepareMath('so \\(a^2\\) holds')).toBe('so $a^2$ holds')
  expect(prepareMath('\\[\na+b\n\\]')).toContain('$$\na+b\n$$')
})

test('a formula between double dollars on its own line is displayed', () => {
  expect(prepareMath('$$x = 1$$')).toBe('$$\nx = 1\n$$')
})

test('amounts of money stay text', () => {
  expect(prepareMath('it cost $5 and $10')).toBe('it cost \\$5 and \\$10')
  expect(prepareMath('between $ 5 and 6 $')).toBe('between \\$ 5 and 6 \\$')
})

test('an inline formula stays one', () => {
  expect(prepareMath('the mean $\\bar{x}$ of it')).toBe('the mean $\\bar{x}$ of it')
})

test('code is left as it is', () => {
  expect(prepareMath('run `echo $HOME $PATH` now')).toBe('run `echo $HOME $PATH` now')
  expect(prepareMath('```\n$a $b\n```')).toBe('```\n$a $b\n```')
})

test('text without any sign of a formula is not looked at', () => {
  expect(mayHoldMath('plain text')).toBe(false)
  expect(mayHoldMath('\\(x\\)')).toBe(true)
})
