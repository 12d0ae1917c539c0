// The server's own words in shared pages and exported files, in the reader's language.
import type { DocumentsTexts } from '../../locales/english.d.ts'
import { LANGUAGES, type Language, languageOf } from '../../locales/languages.ts'
import { localeTexts } from '../lib/locale-texts.ts'

/** The texts of exported and shared documents in one language. */
export type DocumentTexts = DocumentsTexts

/** A language of documents as a tag for `lang` and `Content-Language`. */
export type DocumentLanguage = (typeof LANGUAGES)[Language]['tag']

/** The language of a tag, whose name is that of its folder of texts. */
export const folderOf = (language: DocumentLanguage): Language => languageOf(language) ?? 'en'

/** The texts in a language of documents. */
export const documentTexts = (language: DocumentLanguage): DocumentTexts =>
  localeTexts(folderOf(language), 'documents')

/** The language that is written for "pt" or "pt-PT": "pt-BR"; for "zh-HK" or "zh-Hant": "zh-TW". */
function tagOf(wanted: string): DocumentLanguage | undefined {
  const language = languageOf(wanted)
  return language === null ? undefined : LANGUAGES[language].tag
}

/** Number of languages of a header that are considered. */
const MAX_LANGUAGES = 20

/** The language that a reader prefers. @param accepted the header `Accept-Language`. */
export function documentLanguage(accepted: string | undefined): DocumentLanguage {
  const wanted = (accepted ?? '').split(',', MAX_LANGUAGES).map((one) => {
    const [tag = '', ...parameters] = one.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return { tag: tagOf(tag), weight: weight === undefined ? 1 : Number(weight.slice(2)) }
  })
  const best = wanted
    .filter(({ tag, weight }) => tag !== undefined && weight > 0)
    .reduce<(typeof wanted)[number] | undefined>(
      (found, one) => (found === undefined || one.weight > found.weight ? one : found),
      undefined,
    )
  return best?.tag ?? 'en'
}
