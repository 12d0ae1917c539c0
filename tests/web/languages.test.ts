// The page's languages: when their texts are loaded, and that all languages have the same ones.
import { readFile } from 'node:fs/promises'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { english } from '../../web/src/lib/i18n/english/first-screen.ts'
import { englishPages } from '../../web/src/lib/i18n/english/pages.ts'
import { isLanguage, LANGUAGES, type Language } from '../../web/src/lib/i18n/languages.ts'

const root = { lang: '', dir: '' }

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

  test('has exact texts for one thing in Chinese, whose plural has a single form', async () => {
    const { texts } = await openPage('zh-CN')
    expect(texts.t('message.deleteCount', { count: 1 })).toBe(
      '将删除 1 条消息。删除后的几秒内可以撤销。',
    )
    expect(texts.t('message.deleteCount', { count: 2 })).toContain(
      '2 条消息：这一条及其后的所有内容',
    )
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
    vi.doMock('../../web/src/lib/i18n/chinese/first-screen.ts', () => {
      throw new Error('The file is not there.')
    })
    try {
      const { loadPageTexts, texts } = await openPage('zh-CN')
      expect(root.lang).toBe('en')
      expect(texts.t('composer.send')).toBe('Send')
      await loadPageTexts()
      expect(texts.t('auth.loginTitle')).toBe('Welcome back')
    } finally {
      vi.doUnmock('../../web/src/lib/i18n/chinese/first-screen.ts')
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

type Tree = { readonly [key: string]: string | Tree }

/** `tree` as pairs of "a.b.c" and its text. */
const flat = (tree: Tree, path = ''): [string, string][] =>
  Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'string'
      ? [[path + key, value] as [string, string]]
      : flat(value, `${path}${key}.`),
  )

const textsOf = async (language: Language): Promise<Map<string, string>> => {
  const source = LANGUAGES[language]
  const [first, later] = await Promise.all([source.firstScreen(), source.pages()])
  // Texts are nested objects of strings; their loaders say less because they are of different languages.
  return new Map(flat({ ...first, ...later } as Tree))
}

const parametersOf = (text: string): string =>
  [...text.matchAll(/\{\{(\w+)\}\}/g)]
    .map(([, name = '']) => name)
    .sort()
    .join(', ')

/** The keys that a language needs for an English one: of the plural, one for each form that the language has. */
function keysFor(key: string, forms: readonly string[]): string[] {
  const [, base] = key.match(/^(.*)_(?:one|other)$/) ?? []
  return base === undefined ? [key] : forms.map((form) => `${base}_${form}`)
}

/** Whether the plural form `one` is used for the number 1 only: in Russian it is for 21 too, in French for 0. */
const isForOneAlone = (tag: string): boolean => {
  const rules = new Intl.PluralRules(tag)
  return [0, 21, 31, 101].every((number) => rules.select(number) !== 'one')
}

describe('the texts of the page', () => {
  const originals = new Map(flat({ ...english, ...englishPages }))
  let earlyField: string
  beforeAll(async () => {
    earlyField = (await readFile('web/public/early-field.js', 'utf8')).replaceAll(
      /(?<=['[,])\s+(?=')/g,
      '',
    )
  })

  test.for(Object.keys(LANGUAGES).filter(isLanguage))(
    'are complete in the language %s: each English text with its plural forms and parameters, and no other',
    async (language) => {
      const texts = language === 'en' ? originals : await textsOf(language)
      const { pluralCategories } = new Intl.PluralRules(LANGUAGES[language].tag).resolvedOptions()
      // Where `one` stands for 21 or 0 too, its text must contain the number; else it may leave it out.
      const mayOmit = isForOneAlone(LANGUAGES[language].tag)
      const problems: string[] = []
      // The field that people write in before any of these texts has loaded.
      const early = [texts.get('composer.message'), texts.get('composer.placeholder')]
      const quoted = language.includes('-') ? `'${language}'` : language
      if (!earlyField.includes(`${quoted}: ['${early.join("','")}','`))
        problems.push(`web/public/early-field.js: ${early.join(', ')}`)
      const known = new Set<string>()
      for (const [key, original] of originals) {
        // Chinese keeps the two forms of English, of which i18next uses one.
        if (language.startsWith('zh')) known.add(key)
        for (const wanted of keysFor(key, pluralCategories)) {
          known.add(wanted)
          const text = texts.get(wanted)
          if (text === undefined) problems.push(`Add ${wanted}, in English: ${original}`)
          else if (key.endsWith('_one') || (wanted.endsWith('_one') && mayOmit)) continue
          else if (parametersOf(text) !== parametersOf(original))
            problems.push(`${wanted} needs the parameters (${parametersOf(original)}): ${text}`)
        }
      }
      for (const key of texts.keys())
        if (!known.has(key)) problems.push(`Remove ${key}: English has no such text`)
      expect(problems).toEqual([])
    },
  )

  test('describe every finding of the doctor equally in every language', async () => {
    const saidIn = async (code: Language): Promise<string[]> =>
      Object.entries((await LANGUAGES[code].findings?.())?.findings ?? {}).map(
        ([finding, texts]) => `${finding}: ${parametersOf(JSON.stringify(texts))}`,
      )
    const chinese = await saidIn('zh')
    expect(chinese).toContain('model_key_refused: host, model, status')
    for (const code of Object.keys(LANGUAGES).filter(isLanguage))
      if (code !== 'en') expect([code, ...(await saidIn(code))]).toEqual([code, ...chinese])
  })

  test('include the notice for an application that cannot be loaded', async () => {
    const notice = await readFile(
      new URL('../../web/public/load-failure.js', import.meta.url),
      'utf8',
    )
    const known = [...notice.matchAll(/^ {4}'?([\w-]{2,7})'?: \[/gm)].map(([, code]) => code)
    expect(known.sort()).toEqual(Object.keys(LANGUAGES).sort())
  })

  test('use full-width punctuation in Chinese, and a space between Chinese and Latin letters', async () => {
    const wrong = [...(await textsOf('zh'))].filter(
      ([key, text]) =>
        // What one types into the search has the colon of the search: in:项目名.
        key !== 'search.hint' &&
        (/\p{Script=Han}[,.:;!?()]|[,:;!?(]\p{Script=Han}/u.test(text) ||
          /\p{Script=Han}[A-Za-z0-9]|[A-Za-z0-9]\p{Script=Han}/u.test(text)),
    )
    expect(wrong).toEqual([])
  })
})
