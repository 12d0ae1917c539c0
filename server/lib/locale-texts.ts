// The texts that the server itself writes in the reader's language, from the folder `locales`.
import { existsSync, readFileSync } from 'node:fs'
import type {
  DemoTexts,
  DocumentsTexts,
  MessagesTexts,
  OccurrencesTexts,
  ProseTexts,
  ReceiptsTexts,
  ToolsTexts,
} from '../../locales/english.d.ts'
import type { Language } from '../../locales/languages.ts'
import type { ParamNames } from '../../locales/parameters.ts'

/**
 * The areas that the server reads. In every language they have the type of the English texts, which tells the parameters of
 * each; the test of the languages compares the keys and parameters.
 */
interface Areas {
  demo: DemoTexts
  documents: DocumentsTexts
  messages: MessagesTexts
  occurrences: OccurrencesTexts
  prose: ProseTexts
  receipts: ReceiptsTexts
  /** By reason; and by the name of a parameter, what is added to a text without it. */
  refusals: {
    readonly reasons: Readonly<Record<string, string>>
    readonly additions: Readonly<Record<string, string>>
  }
  tools: ToolsTexts
}

/** The build copies the folder beside its files; from the sources it is at the top of the repository. */
const FOLDER = ['./locales/', '../../locales/']
  .map((path) => new URL(path, import.meta.url))
  .find((folder) => existsSync(new URL('en/', folder)))

const known: { readonly [Area in keyof Areas]: Map<Language, Areas[Area]> } = {
  demo: new Map(),
  documents: new Map(),
  messages: new Map(),
  occurrences: new Map(),
  prose: new Map(),
  receipts: new Map(),
  refusals: new Map(),
  tools: new Map(),
}

/** The texts of an area in a language. The file is read once, when it is first needed; it has at most some tens of kilobytes. */
export function localeTexts<Area extends keyof Areas>(language: Language, area: Area): Areas[Area] {
  const read = known[area].get(language)
  if (read !== undefined) return read
  if (FOLDER === undefined)
    throw new Error('The folder locales is missing. Build the server again.')
  const file = new URL(`${language}/${area}.json`, FOLDER)
  const texts: Areas[Area] = JSON.parse(readFileSync(file, 'utf8'))
  known[area].set(language, texts)
  return texts
}

/** A text with its parameters filled in. */
export const filled = <Text extends string>(
  text: Text,
  params: Readonly<Record<ParamNames<Text>, string | number>>,
): string => {
  const values = new Map<string, string | number>(Object.entries(params))
  return text.replaceAll(/\{\{(\w+)\}\}/g, (field, name: string) =>
    String(values.get(name) ?? field),
  )
}

/** The reason of a failure and the values in its text. */
interface Failure {
  reason: string
  params?: Readonly<Record<string, string | number | string[]>> | null | undefined
}

/**
 * The text of a failure in the language, with what the provider said; `english` where nothing else is known.
 * @param fillIn puts the values in.
 */
export function refusalIn(
  language: Language,
  english: string,
  failure: Failure | null,
  fillIn: (text: string, params: Record<string, string | number | string[]>) => string,
): string {
  const { reasons, additions } = localeTexts(language, 'refusals')
  const text = failure === null ? undefined : reasons[failure.reason]
  if (language === 'en' || failure === null || text === undefined) return english
  const params = failure.params ?? {}
  const needed = [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name)
  if (needed.some((name) => !(name in params))) return english
  const added = Object.entries(additions).flatMap(([name, addition]) =>
    name in params && !needed.includes(name) ? [addition] : [],
  )
  return fillIn([text, ...added].join(''), params)
}
