// The page's languages: when their texts are loaded, and which text is chosen. `tests/locales.test.ts` compares the languages.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { flat, pageTexts } from '../support/page/texts.ts'

const root = { lang: '', dir: '', dataset: {} }

/** Loads the page's modules anew in a browser with this preferred `language`. */
async function openPage(language: string) {
  vi.stubGlobal('navigator', { language })
  vi.resetModules()
  const { default: texts } = await import('i18next')
  const page = await import('../../web/src/lib/i18n/i18n.ts')
  await page.startI18n()
  return { ...page, texts }
}

beforeEach(() => {
  const stored = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  })
  vi.stubGlobal('document', { documentElement: root })
})
afterEach(() => vi.unstubAllGlobals())

describe('the page in a language', () => {
  test('has the texts of the first screen at the start, and those of later views once they are loaded', async () => {
    for (const [browser, lang, first, later] of [
      ['en-GB', 'en', 'Send', 'Welcome back'],
      ['zh-CN', 'zh-CN', '发送', '欢迎回来'],
      ['zh-TW', 'zh-TW', '傳送', '歡迎回來'],
      ['zh-Hant-HK', 'zh-TW', '傳送', '歡迎回來'],
      ['zh-HK', 'zh-TW', '傳送', '歡迎回來'],
      ['zh-Hans-HK', 'zh-CN', '发送', '欢迎回来'],
      ['de-AT', 'de', 'Senden', 'Willkommen zurück'],
      ['pt-PT', 'pt-BR', 'Enviar', 'Que bom ver você de novo'],
      ['is', 'en', 'Send', 'Welcome back'],
    ] as const) {
      const { loadPageTexts, texts } = await openPage(browser)
      expect(root.lang).toBe(lang)
      expect(texts.t('composer.send')).toBe(first)
      expect(texts.exists('auth.loginTitle')).toBe(false)
      await loadPageTexts()
      expect(texts.t('auth.loginTitle')).toBe(later)
      expect(texts.t('composer.send')).toBe(first)
    }
  })

  test('has all texts in another language as soon as it is chosen, and remembers the choice', async () => {
    const { chooseLanguage, loadPageTexts, texts } = await openPage('en')
    await loadPageTexts()
    expect(texts.t('auth.loginTitle')).toBe('Welcome back')
    await chooseLanguage('zh')
    expect(root.lang).toBe('zh-CN')
    expect(texts.t('composer.send')).toBe('发送')
    expect(texts.t('auth.loginTitle')).toBe('欢迎回来')
    await chooseLanguage('en')
    expect(root.lang).toBe('en')
    expect(texts.t('auth.loginTitle')).toBe('Welcome back')
    await chooseLanguage('zh')
    expect((await openPage('en')).texts.t('composer.send')).toBe('发送')
  })

  test('is in English when the Chinese texts cannot be loaded', async () => {
    vi.doMock('../../locales/zh/first-screen.json', () => {
      throw new Error('The file is not there.')
    })
    try {
      const { loadPageTexts, texts } = await openPage('zh-CN')
      expect(root.lang).toBe('en')
      expect(texts.t('composer.send')).toBe('Send')
      await loadPageTexts()
      expect(texts.t('auth.loginTitle')).toBe('Welcome back')
    } finally {
      vi.doUnmock('../../locales/zh/first-screen.json')
    }
  })

  test('shows the latest choice when two are made at once', async () => {
    const { chooseLanguage, texts } = await openPage('en')
    await Promise.all([chooseLanguage('zh'), chooseLanguage('en')])
    expect(texts.language).toBe('en')
    await Promise.all([chooseLanguage('en'), chooseLanguage('zh')])
    expect(texts.language).toBe('zh')
  })
})

test('the Chinese texts use full-width punctuation, and a space between Chinese and Latin letters', () => {
  const wrong = flat(pageTexts('zh')).filter(
    ([key, text]) =>
      // What one types into the search has the colon of the search: in:项目名.
      key !== 'search.hint' &&
      (/\p{Script=Han}[,.:;!?()]|[,:;!?(]\p{Script=Han}/u.test(text) ||
        /\p{Script=Han}[A-Za-z0-9]|[A-Za-z0-9]\p{Script=Han}/u.test(text)),
  )
  expect(wrong).toEqual([])
})
