// What a person wrote in a mail: quotes, signatures and HTML, however long its lines are.
import { describe, expect, test } from 'vitest'
import { ownText, textOfHtml } from '../../../server/messaging/kinds/email/text.ts'

describe('the text of a mail', () => {
  test('leaves out the quoted message with its introduction, and the signature', () => {
    const mail = 'Yes, at five.\r\n\r\nOn Monday, 3 May, Ann wrote:\r\n> Shall we meet?\r\n'
    expect(ownText(mail)).toBe('Yes, at five.')
    expect(ownText('Thanks\n-- \nBo, 555-0100')).toBe('Thanks')
    expect(ownText('Fine.\n-----Original Message-----\nFrom: Ann\nHello')).toBe('Fine.')
  })

  test('keeps a long line before a quote, which introduces nothing', () => {
    const long = '1'.repeat(1_000_000)
    expect(ownText(`${long}\n> q`)).toBe(long)
    const dashes = `-- original${'-'.repeat(1_000_000)}x`
    expect(ownText(dashes)).toBe(dashes)
  })

  test('of a page has a line for each block, quotes with their sign, and nothing that is hidden', () => {
    const page =
      '<style>p{}</style><p>One  <b>two</b></p><p> three</p><blockquote>Ann:<br>four</blockquote>'
    expect(textOfHtml(page)).toBe('One two\n\nthree\n\n> Ann:\n> four')
    expect(textOfHtml('<p>a'.repeat(100_000)).startsWith('a\n')).toBe(true)
  })
})
