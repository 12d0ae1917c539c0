// Typography by language: marks and line breaks of Chinese, hyphenation of long words.
import { expect, test } from 'vitest'
import { composer, describeInBrowser, leave } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'
import { turn } from '../support/provider/upstream-turns.ts'

describeInBrowser('typography', (visitor) => {
  const site = usePageServer(visitor)
  const styleOf = (selector: string, property: string): string =>
    `getComputedStyle(document.querySelector(${JSON.stringify(selector)}))[${JSON.stringify(property)}]`

  test('a Chinese page takes quotation marks and ellipses from a Chinese font, and no line begins with a closing mark', async () => {
    const page = await visitor.open(site.server.url, { language: 'zh-CN' })
    await composer(page).waitFor()
    await expect
      .poll(() => page.evaluate<string>(styleOf('body', 'fontFamily')))
      .toMatch(/^"Simplified Marks", /)
    expect(await page.evaluate<string>(styleOf('body', 'lineBreak'))).toBe('strict')
    expect(
      await page.evaluate<string[]>(
        `[...document.fonts].filter((face) => face.family.includes('Marks')).map((face) => face.unicodeRange)`,
      ),
    ).toEqual(expect.arrayContaining([expect.stringContaining('U+201C-201D')]))
    await leave(page)
  })

  test('a Chinese message and its answer on an English page are Chinese for fonts, line breaks and screen readers', async () => {
    site.upstream.enqueue(turn.text('“先喝茶”……再写代码。'))
    const page = await visitor.open(site.server.url)
    await composer(page).fill('先做什么？')
    await composer(page).press('Enter')
    const answer = page.locator('.prose').filter({ hasText: '再写代码' })
    await answer.waitFor()
    expect(await answer.getAttribute('lang')).toBe('zh-CN')
    expect(await page.evaluate<string>(styleOf('.prose[lang]', 'fontFamily'))).toMatch(
      /^"Simplified Marks", /,
    )
    expect(await page.getByText('先做什么？').last().getAttribute('lang')).toBe('zh-CN')
    await leave(page)
  })

  test('a German page hyphenates its own long words, but not what people and models write', async () => {
    const page = await visitor.open(site.server.url, { language: 'de-DE' })
    await composer(page).waitFor()
    await expect.poll(() => page.evaluate<string>('document.documentElement.lang')).toBe('de')
    expect(await page.evaluate<string>(styleOf('body', 'hyphens'))).toBe('auto')
    expect(await page.evaluate<string>(styleOf('#composer', 'hyphens'))).toBe('manual')
    // Browsers without a German dictionary break them anywhere, rather than let them leave their place.
    expect(await page.evaluate<string>(styleOf('body', 'overflowWrap'))).toBe('break-word')
    for (const place of ['button', 'nav a', 'h1'])
      expect(await page.evaluate<string>(styleOf(place, 'hyphens'))).toBe('auto')
    await leave(page)
  })
})
