// Comma-separated values.
import { expect, test } from 'vitest'
import { csvLine } from '../../../server/lib/csv.ts'

test('fields are quoted where they need it, and no text can become a formula', () => {
  expect(csvLine(['plain', 'a, b', 'say "hi"', 'two\nlines', -1.5])).toBe(
    'plain,"a, b","say ""hi""","two\nlines",-1.5\r\n',
  )
  expect(csvLine(['=1+1', '+1', '-1', '@sum', '\t=1', 'a=1'])).toBe(
    "'=1+1,'+1,'-1,'@sum,'\t=1,a=1\r\n",
  )
})
