// The language whose voice reads a text.
import { expect, test } from 'vitest'
import { foreignLanguageOf, languageOf } from '../../web/src/lib/browser/language-of.ts'

test.each([
  ['An English text that quotes 茶.', 'en', 'en'],
  ['Ein deutscher Text.', 'de', 'de'],
  ['用 React 的 useEffect 钩子来处理。', 'en', 'zh-CN'],
  ['お茶を飲みながら、日本語の文章を読む。', 'en', 'ja'],
  ['中文里引用一个日语助词「の」，其余都是中文，所以应当用中文朗读。', 'en', 'zh-CN'],
  ['차를 마시며 한국어 글을 읽는다.', 'zh', 'ko'],
  ['Русский текст о чае.', 'en', 'ru'],
])('“%s” on a page in %s is read in %s', (text, pageLanguage, language) => {
  expect(languageOf(text, pageLanguage)).toBe(language)
})

test('a Latin text on a page in another script is read in English', () => {
  expect(languageOf('Drink tea.', 'ja')).toBe('en')
})

test('a text without letters is read in the language of the page', () => {
  expect(languageOf('1 + 1 = 2', 'fr')).toBe('fr')
})

test('a text has a language of its own only where that is not the one of the page', () => {
  expect(foreignLanguageOf('先喝茶，再写代码。', 'en')).toBe('zh-CN')
  expect(foreignLanguageOf('先喝茶，再写代码。', 'zh')).toBeUndefined()
  expect(foreignLanguageOf('先喝茶，再写代码。', 'zh-Hant')).toBeUndefined()
  expect(foreignLanguageOf('Drink tea.', 'de')).toBeUndefined()
  expect(foreignLanguageOf('Drink tea.', 'zh')).toBe('en')
})
