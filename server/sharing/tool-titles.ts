// The names of tools in shared pages and exported files, in every language of documents.
import { toolNames as chinese } from '../protocol/tool-names/chinese.ts'
import { toolNames as english } from '../protocol/tool-names/english.ts'
import { toolNames as french } from '../protocol/tool-names/french.ts'
import { toolNames as german } from '../protocol/tool-names/german.ts'
import { toolNames as japanese } from '../protocol/tool-names/japanese.ts'
import { toolNames as korean } from '../protocol/tool-names/korean.ts'
import { toolNames as portuguese } from '../protocol/tool-names/portuguese.ts'
import { toolNames as russian } from '../protocol/tool-names/russian.ts'
import { toolNames as spanish } from '../protocol/tool-names/spanish.ts'
import { type NamedTool, titleOfTool } from '../protocol/tool-names/tool-title.ts'
import { toolNames as traditional } from '../protocol/tool-names/traditional.ts'
import type { DocumentLanguage } from './document-texts.ts'

const names: Record<DocumentLanguage, Record<NamedTool, string>> = {
  en: english,
  'zh-CN': chinese,
  'zh-TW': traditional,
  de: german,
  es: spanish,
  fr: french,
  'pt-BR': portuguese,
  ru: russian,
  ja: japanese,
  ko: korean,
}

/** The name of a tool in the language of a document. */
export const documentToolTitle = (name: string, language: DocumentLanguage): string =>
  titleOfTool(name, (named) => names[language][named])
