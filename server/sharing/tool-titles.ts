// The names of tools in shared pages and exported files, in every language of documents.
import { localeTexts } from '../lib/locale-texts.ts'
import { titleOfTool } from '../protocol/tool-names/tool-title.ts'
import { type DocumentLanguage, folderOf } from './document-texts.ts'

/** The name of a tool in the language of a document. */
export function documentToolTitle(name: string, language: DocumentLanguage): string {
  const names: Readonly<Record<string, string>> = localeTexts(folderOf(language), 'tools').toolNames
  // A tool of a program may be called `constructor`.
  return titleOfTool(name, (one) => (Object.hasOwn(names, one) ? names[one] : undefined))
}
