// The page's languages: when their texts are loaded, and that both languages have the same ones.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { chinese } from '../../web/src/lib/i18n/chinese.ts'
import { chinesePages } from '../../web/src/lib/i18n/chinese-pages.ts'
import { english } from '../../web/src/lib/i18n/english.ts'
import { englishPages } from '../../web/src/lib/i18n/english-pages.ts'

const root = { lang: '' }

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

  test('has all texts in the other language as soon as that is chosen, and keeps the choice', async () => {
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
    vi.doMock('../../web/src/lib/i18n/chinese.ts', () => {
      throw new Error('The file is not there.')
    })
    try {
      const { loadPageTexts, texts } = await openPage('zh-CN')
      expect(root.lang).toBe('en')
      expect(texts.t('composer.send')).toBe('Send')
      await loadPageTexts()
      expect(texts.t('auth.loginTitle')).toBe('Welcome back')
    } finally {
      vi.doUnmock('../../web/src/lib/i18n/chinese.ts')
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

describe('the texts of the page', () => {
  type Tree = { readonly [key: string]: string | Tree }
  const flat = (tree: Tree, path = ''): [string, string][] =>
    Object.entries(tree).flatMap(([key, value]) =>
      typeof value === 'string'
        ? [[path + key, value] as [string, string]]
        : flat(value, `${path}${key}.`),
    )
  const translated = new Map(flat({ ...chinese, ...chinesePages }))
  const originals = flat({ ...english, ...englishPages })
  const parametersOf = (text: string): string[] =>
    [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name).sort()

  test('have the same keys and the same parameters in both languages', () => {
    expect([...translated.keys()].sort()).toEqual(originals.map(([key]) => key).sort())
    // English may omit the number in the singular.
    const required = (key: string, text: string) =>
      parametersOf(text).filter((name) => !(key.endsWith('_one') && /count/.test(name)))
    const differing = originals.filter(
      ([key, text]) =>
        JSON.stringify(required(key, text)) !==
        JSON.stringify(required(key, translated.get(key) ?? '')),
    )
    expect(differing).toEqual([])
  })

  test('use full-width punctuation in Chinese, and a space between Chinese and Latin letters', () => {
    const wrong = [...translated].filter(
      ([, text]) =>
        /\p{Script=Han}[,.:;!?()]|[,:;!?(]\p{Script=Han}/u.test(text) ||
        /\p{Script=Han}[A-Za-z0-9]|[A-Za-z0-9]\p{Script=Han}/u.test(text),
    )
    expect(wrong).toEqual([])
  })
})
