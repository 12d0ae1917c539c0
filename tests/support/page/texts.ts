// The texts in `locales`, as the tests of the page and of the languages read them.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isLanguage, LANGUAGES, type Language } from '../../../locales/languages.ts'

/** The folder with a folder of texts for each language. */
export const LOCALES = resolve(import.meta.dirname, '../../../locales')

/** Texts by key, as i18next nests them. */
export type Texts = { readonly [key: string]: string | Texts }

/** All languages. */
export const languages = (): Language[] => Object.keys(LANGUAGES).filter(isLanguage)

/** The areas of a language: its files without their extension. */
export const areasOf = (language: Language): string[] =>
  readdirSync(join(LOCALES, language))
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.replace('.json', ''))
    .sort()

/** The texts of one area. */
export const areaTexts = (language: Language, area: string): Texts =>
  JSON.parse(readFileSync(join(LOCALES, language, `${area}.json`), 'utf8'))

/** Areas that the page does not load as texts of its views. */
const OTHER_AREAS = ['demo', 'documents', 'findings', 'messages', 'refusals', 'start']

/** All texts of the page's views, as they are after they have loaded. */
export const pageTexts = (language: Language): Texts =>
  Object.assign(
    {},
    ...areasOf(language)
      .filter((area) => !OTHER_AREAS.includes(area))
      .map((area) => areaTexts(language, area)),
  )

/** Texts as pairs of "a.b.c" and the text. */
export const flat = (texts: Texts, path = ''): [string, string][] =>
  Object.entries(texts).flatMap(([key, value]) =>
    typeof value === 'string'
      ? [[path + key, value] as [string, string]]
      : flat(value, `${path}${key}.`),
  )

/** The names of the `{{parameters}}` of a text, in alphabetical order. */
export const parametersOf = (text: string): string[] =>
  [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name).sort()
