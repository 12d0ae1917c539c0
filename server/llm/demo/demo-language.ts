// In which of the page's languages the demo model answers a message.
import { toolNames as chineseTools } from '../../protocol/tool-names/chinese.ts'
import { toolNames as englishTools } from '../../protocol/tool-names/english.ts'
import { toolNames as frenchTools } from '../../protocol/tool-names/french.ts'
import { toolNames as germanTools } from '../../protocol/tool-names/german.ts'
import { toolNames as japaneseTools } from '../../protocol/tool-names/japanese.ts'
import { toolNames as koreanTools } from '../../protocol/tool-names/korean.ts'
import { toolNames as portugueseTools } from '../../protocol/tool-names/portuguese.ts'
import { toolNames as russianTools } from '../../protocol/tool-names/russian.ts'
import { toolNames as spanishTools } from '../../protocol/tool-names/spanish.ts'
import { toolNames as traditionalTools } from '../../protocol/tool-names/traditional.ts'
import { chinese } from './texts/chinese.ts'
import type { DemoTexts } from './texts/demo-texts.ts'
import { english } from './texts/english.ts'
import { french } from './texts/french.ts'
import { german } from './texts/german.ts'
import { japanese } from './texts/japanese.ts'
import { korean } from './texts/korean.ts'
import { portuguese } from './texts/portuguese.ts'
import { russian } from './texts/russian.ts'
import { spanish } from './texts/spanish.ts'
import { traditional } from './texts/traditional.ts'

/** What the demo says in a language, and how it calls the tools. */
interface DemoLanguage {
  texts: DemoTexts
  toolName(name: string): string
}

const language = (texts: DemoTexts, names: Readonly<Record<string, string>>): DemoLanguage => {
  const known = new Map(Object.entries(names))
  return { texts, toolName: (name) => known.get(name) ?? name }
}

/** Matches one of these characters, or one of these whole words. */
const anyOf = (characters: string, words: string): RegExp =>
  new RegExp(`${characters}|(?<!\\p{L})(?:${words})(?!\\p{L})`, 'iu')

const ENGLISH = language(english, englishTools)

/**
 * By script, then by words of the page's suggestions and of other simple requests; the first that fits. This is no general
 * detection of languages: the demo understands nothing else anyway.
 */
const LANGUAGES: readonly (readonly [RegExp, DemoLanguage])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, language(japanese, japaneseTools)],
  [/\p{Script=Hangul}/u, language(korean, koreanTools)],
  [/\p{Script=Cyrillic}/u, language(russian, russianTools)],
  [/[導覽幾點時間檔專這個麼請帶邊為說嗎]/u, language(traditional, traditionalTools)],
  [/\p{Script=Han}/u, language(chinese, chineseTools)],
  [
    anyOf('[äöüß]', 'wie|ist|der|das|und|ich|mir|rundgang|dateien|hallo'),
    language(german, germanTools),
  ],
  [
    anyOf('[ãõ]', 'que horas|quanto é|um tour|arquivos|olá|você'),
    language(portuguese, portugueseTools),
  ],
  [anyOf('[¿¡ñ]', 'qué|hazme|recorrido|los archivos|hola'), language(spanish, spanishTools)],
  [anyOf('œ', 'quelle|combien|visite|fichiers|les|une|bonjour'), language(french, frenchTools)],
]

/** The language of a message; English if nothing tells another one. */
export const demoLanguageOf = (message: string): DemoLanguage =>
  LANGUAGES.find(([sign]) => sign.test(message))?.[1] ?? ENGLISH
