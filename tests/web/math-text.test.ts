// Formulas in text: they are found, amounts of money and code are left alone, and no text makes the scanner slow.
import { describe, expect, test } from 'vitest'
import { closeFormula, mayHoldMath, prepareMath } from '../../server/protocol/markdown/math-text.ts'

test('formulas in LaTeX brackets become dollar formulas', () => {
  expect(prepareMath('so \\(a^2\\) holds')).toBe('so $a^2$ holds')
  expect(prepareMath('\\[\na+b\n\\]')).toBe('$$\na+b\n$$')
  expect(prepareMath('so \\[a+b\\] holds')).toBe('so \n$$\na+b\n$$\n holds')
})

test('a displayed formula stays in its list item and in its quotation', () => {
  expect(prepareMath('- one\n  \\[\n  a\n  \\]\n- two')).toBe('- one\n  $$\n  a\n  $$\n- two')
  expect(prepareMath('1. \\[a\\]')).toBe('1. $$\n   a\n   $$')
  expect(prepareMath('> \\[\n> a\n> \\]')).toBe('> $$\n> a\n> $$')
})

test('a formula between double dollars on its own line is displayed', () => {
  expect(prepareMath('$$x = 1$$')).toBe('$$\nx = 1\n$$')
})

test('amounts of money stay text', () => {
  expect(prepareMath('it cost $5 and $10')).toBe('it cost \\$5 and \\$10')
  expect(prepareMath('between $ 5 and 6 $')).toBe('between \\$ 5 and 6 \\$')
  expect(prepareMath('\\$5 and \\$6')).toBe('\\$5 and \\$6')
  expect(prepareMath('for $5, run `$x`')).toBe('for \\$5, run `$x`')
})

test.each([
  'It costs 5$, not 10$.',
  'It costs 100$. Or 200$!',
  'Between 20$-30$ a month, 5$/10$ tiers, (5$) or (6$).',
  'Es kostet 5$ (vorher 10$), also 5$-Gutscheine für 10$.',
  '一共100$。或者200$，也可以300$。',
  'US$5 or C$10 or A$3',
  'pay $5 or 10$ a month',
  'cost($)=5, price($)=6',
  'It is $5/month or 60$ a year',
  'export PATH=$HOME/bin:$PATH',
  'echo $HOME$PATH and $'.concat('{HOME}/$', '{USER}'),
  'echo "$a", "$b" and $x->get($y), $arr[$i], $(pwd):$(id)',
  'set $HOME or $PATH to $1',
  "from '$a' to '$b'",
  'Dear $'.concat('{user.first}$', '{user.last}'),
  'the shares IPC$, ADMIN$ and C$',
  'kill $$ and $$ again',
])('%s holds no formula', (text) => {
  expect(prepareMath(text).replaceAll('\\$', '')).not.toContain('$')
  expect(prepareMath(text).replaceAll('\\$', '$')).toBe(text)
})

test.each([
  'the $n$th of $k$-means, $2 \\bmod 3$, $2 mod 3$ and a 2$\\times$3 matrix',
  'for $x$, $y$ and $z$: $f(x)$',
  'take 3$x$ and 2$x^2$',
  '$.5$ or $5$ or $5 \\text{ or } 10$',
  'the area $长 = 2$',
])('%s keeps its formulas', (text) => {
  expect(prepareMath(text)).toBe(text)
})

test('environments of mathematics without dollars are formulas', () => {
  const align = '\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}'
  expect(mayHoldMath(align)).toBe(true)
  expect(prepareMath(align)).toBe(`$$\n${align}\n$$`)
  expect(prepareMath(`So ${align} holds`)).toBe(`So \n$$\n${align}\n$$\n holds`)
  expect(prepareMath('- \\begin{gather*}\n  a\n  \\end{gather*}')).toBe(
    '- $$\n  \\begin{gather*}\n  a\n  \\end{gather*}\n  $$',
  )
  expect(prepareMath('with \\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix} here')).toBe(
    'with $\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}$ here',
  )
  expect(prepareMath('$\\begin{matrix}\n1\n\\end{matrix}$')).toBe(
    '$\\begin{matrix} 1 \\end{matrix}$',
  )
  expect(prepareMath('\\begin{multline}\na\n\\end{multline}')).toBe(
    '$$\n\\begin{gather}\na\n\\end{gather}\n$$',
  )
  expect(prepareMath('\\begin{array}{c}\\begin{array}{c}1\\end{array}\\end{array}')).toBe(
    '$$\n\\begin{array}{c}\\begin{array}{c}1\\end{array}\\end{array}\n$$',
  )
})

test('environments of text, in code, within dollars or without an end stay as they are', () => {
  for (const text of [
    '\\begin{document}\na\n\\end{document}',
    '`\\begin{align}` and `\\end{align}`',
    '$$\n\\begin{align}\na\n\\end{align}\n$$',
    '\\begin{align}\na',
    '\\\\begin{align}a\\end{align}',
  ])
    expect(prepareMath(text)).toBe(text)
  expect(prepareMath('\\begin{align}\na &= \\frac{1', true)).toBe(
    '$$\n\\begin{align}\na &= \\frac{1}\\end{align}\n$$',
  )
})

test('an inline formula stays inline', () => {
  expect(prepareMath('the mean $\\bar{x}$ of it')).toBe('the mean $\\bar{x}$ of it')
})

test('dollars in code are not changed', () => {
  expect(prepareMath('run `echo $HOME $PATH` now')).toBe('run `echo $HOME $PATH` now')
  expect(prepareMath('```\n$a $b\n```')).toBe('```\n$a $b\n```')
  expect(prepareMath('`` a ` $b `` $5')).toBe('`` a ` $b `` \\$5')
  expect(prepareMath('- x\n  ```sh\n  echo $HOME')).toBe('- x\n  ```sh\n  echo $HOME')
})

test('text without any sign of a formula is returned unchanged', () => {
  expect(mayHoldMath('plain text')).toBe(false)
  expect(mayHoldMath('\\(x\\)')).toBe(true)
})

test('an escaped bracket without a formula stays an escaped bracket', () => {
  expect(prepareMath('write \\[ to escape it')).toBe('write \\[ to escape it')
  expect(prepareMath('a \\\\[2pt] b')).toBe('a \\\\[2pt] b')
})

describe('a formula that is still being written', () => {
  test('is rendered as far as it has arrived, at the beginning of a line and within one', () => {
    expect(prepareMath('so\n\\[ \\frac{a', true)).toBe('so\n$$\n\\frac{a}\n$$')
    expect(prepareMath('so \\(a_{1', true)).toBe('so $a_{1}$')
    expect(prepareMath('$$\n\\sqrt{2', true)).toBe('$$\n\\sqrt{2}\n$$')
  })

  test('is text once the answer has ended', () => {
    expect(prepareMath('so\n\\[ \\frac{a')).toBe('so\n\\[ \\frac{a')
  })

  test('is completed by closing braces, environments and delimiters and dropping a cut command', () => {
    expect(closeFormula('\\frac{a}{b + \\sqr')).toBe('\\frac{a}{b +}')
    expect(closeFormula('\\begin{cases} a & b \\\\ \\left( c_{')).toBe(
      '\\begin{cases} a & b \\\\ \\left( c_{}\\right.\\end{cases}',
    )
    expect(closeFormula('\\{ x^')).toBe('\\{ x')
    expect(closeFormula('\\begin{ali')).toBe('')
  })
})

describe('the work grows linearly with the text', () => {
  // Linear scanning takes milliseconds; rescanning the rest of the text at each mark would take minutes.
  const hostile: Readonly<Record<string, string>> = {
    'displays without an end': '\\['.repeat(100_000),
    'displays without an end inside a line': `x ${'\\['.repeat(100_000)}`,
    'inline formulas without an end': '\\('.repeat(100_000),
    'short displays in one line': '\\[a\\] '.repeat(20_000),
    'dollars without an end': '$a '.repeat(50_000),
    'double dollars in one line': '$$a$$ '.repeat(20_000),
    'one run of backticks': '`'.repeat(200_000),
    'runs of backticks of many lengths': Array.from({ length: 600 }, (_, n) => '`'.repeat(n)).join(
      ' ',
    ),
    'environments without an end': '\\begin{array}'.repeat(10_000),
    'environments in each other': '\\begin{array}'.repeat(3_000) + '\\end{array}'.repeat(3_000),
    'blanks before formulas': `${' '.repeat(100_000)}${'\\[a\\] '.repeat(5_000)}`,
  }
  for (const [name, text] of Object.entries(hostile))
    test(`${name} are done at once`, { timeout: 60_000 }, () => {
      for (const growing of [true, false])
        expect(prepareMath(text, growing).length).toBeGreaterThan(0)
    })
})
