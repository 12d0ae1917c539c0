// The texts in `locales`: every language has the areas, keys, plural forms and parameters of the English ones.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isLanguage, LANGUAGES, type Language } from '../locales/languages.ts'
import { englishRefusals, englishTypes } from '../scripts/english-texts.ts'
import { FindingCode } from '../server/protocol/admin/finding-code.ts'
import { startScript } from '../web/start-scripts.ts'
import { sourceFiles } from './support/code/source-files.ts'
import {
  areasOf,
  areaTexts,
  flat,
  LOCALES,
  languages,
  pageTexts,
  parametersOf,
} from './support/page/texts.ts'

const root = resolve(import.meta.dirname, '..')

const mapOf = (language: Language, area: string): Map<string, string> =>
  new Map(flat(areaTexts(language, area)))

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

/** What an area of a language lacks, has too much, or says with other parameters than the English one. */
function problemsOf(language: Language, area: string): string[] {
  const { tag } = LANGUAGES[language]
  const { pluralCategories } = new Intl.PluralRules(tag).resolvedOptions()
  // Where `one` stands for 21 or 0 too, its text must contain the number; else it may leave it out.
  const mayOmit = isForOneAlone(tag)
  const [originals, texts] = [mapOf('en', area), mapOf(language, area)]
  const known = new Set<string>()
  const problems: string[] = []
  for (const [key, original] of originals)
    for (const wanted of keysFor(key, pluralCategories)) {
      known.add(wanted)
      const text = texts.get(wanted)
      if (text === undefined) problems.push(`Add ${wanted}, in English: ${original}`)
      else if (key.endsWith('_one') || (wanted.endsWith('_one') && mayOmit)) continue
      else if (parametersOf(text).join() !== parametersOf(original).join())
        problems.push(`${wanted} needs the parameters (${parametersOf(original)}): ${text}`)
    }
  for (const key of texts.keys())
    if (!known.has(key)) problems.push(`Remove ${key}: English has no such text`)
  return problems.map((problem) => `locales/${language}/${area}.json: ${problem}`)
}

describe('the languages', () => {
  test('are those that have a folder', () => {
    const folders = readdirSync(LOCALES, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
    expect(folders.sort()).toEqual(languages().sort())
  })

  test('are listed nowhere but in the one list, so that a new one needs its folder and a line', () => {
    // Only texts in these are recognised as being in a language; the demo answers in English to others.
    const exempt = ['server/lib/text-language.ts']
    const codes = languages().filter((code) => code !== 'en')
    const lists = ['server', 'web', 'scripts']
      .flatMap((folder) => sourceFiles(join(root, folder)))
      .filter((file) => {
        const source = readFileSync(file, 'utf8')
        return codes.every((code) =>
          new RegExp(`'${code}'${code.includes('-') ? '' : `|\\b${code}: `}`).test(source),
        )
      })
      .map((file) => relative(root, file))
    expect(lists).toEqual(exempt)
  })
})

describe.each(languages())('the texts in the language %s', (language) => {
  test('have the areas of the English ones', () => {
    // The server writes the findings of the doctor in English.
    expect(areasOf(language).filter((area) => area !== 'findings')).toEqual(areasOf('en'))
  })

  test('are complete: each English text with its plural forms and parameters, and no other', () => {
    const areas = areasOf('en').filter((area) => area !== 'refusals')
    expect(areas.flatMap((area) => problemsOf(language, area))).toEqual([])
  })

  test('have no key in two areas of the page', () => {
    const first = Object.keys(pageTexts(language))
    const perArea = areasOf(language)
      .filter((area) => Object.keys(areaTexts(language, area)).every((key) => first.includes(key)))
      .flatMap((area) => Object.keys(areaTexts(language, area)))
    expect(perArea.sort()).toEqual([...new Set(perArea)].sort())
  })

  test('are in the scripts that run before the application has loaded', () => {
    const { composer } = areaTexts(language, 'first-screen')
    const { willBeSent, failed } = areaTexts(language, 'start')
    const [field, notice] = [startScript('early-field.js'), startScript('load-failure.js')]
    if (typeof composer !== 'object') throw new Error('The first screen has no composer.')
    for (const text of [composer.message, composer.placeholder, willBeSent])
      expect(field).toContain(text)
    expect(notice).toContain(failed)
  })
})

describe('the texts of refusals', () => {
  const parametersOfReason = new Map(
    [...mapOf('en', 'refusals')].map(([key, text]) => [key, parametersOf(text)]),
  )

  test.each(languages())(
    'have no parameter in the language %s that the English ones have not',
    (language) => {
      const texts = mapOf(language, 'refusals')
      expect([...texts.keys()].sort()).toEqual([...parametersOfReason.keys()].sort())
      const unknown = [...texts].filter(([key, text]) =>
        parametersOf(text).some(
          (name) => name !== 'message' && !parametersOfReason.get(key)?.includes(name),
        ),
      )
      expect(unknown).toEqual([])
    },
  )
})

test('every finding of the doctor is described equally in every language', () => {
  const saidIn = (language: Language): string[] =>
    Object.entries(areaTexts(language, 'findings').findings ?? {}).map(
      ([finding, texts]) => `${finding}: ${[...new Set(parametersOf(JSON.stringify(texts)))]}`,
    )
  const chinese = saidIn('zh')
  expect(chinese.map((line) => line.split(':')[0]).sort()).toEqual([...FindingCode.options].sort())
  expect(chinese).toContain('model_key_refused: host,model,status')
  for (const language of languages().filter((code) => code !== 'en'))
    expect([language, ...saidIn(language)]).toEqual([language, ...chinese])
})

describe('what `npm run texts` writes', () => {
  /** Without a comparison line by line, which would be as long as the texts. */
  const isCurrent = (name: string, text: string): void =>
    expect(readFileSync(join(LOCALES, name), 'utf8') === text, 'Run `npm run texts`.').toBe(true)

  test('fits the English texts: their types', async () => {
    isCurrent('english.d.ts', await englishTypes())
  })

  test('fits the texts of the server: the English refusals for translators', () => {
    isCurrent('en/refusals.json', englishRefusals())
  })
})

test('the list of languages is asked for codes from outside', () => {
  expect(isLanguage('zh-Hant')).toBe(true)
  for (const code of ['zh-TW', 'toString', '', null]) expect(isLanguage(code)).toBe(false)
})
