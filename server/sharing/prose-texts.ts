// The words that shared copies add to Markdown, in every language of documents.
import { proseNames as chinese } from '../protocol/prose-names/chinese.ts'
import { proseNames as english } from '../protocol/prose-names/english.ts'
import { proseNames as french } from '../protocol/prose-names/french.ts'
import { proseNames as german } from '../protocol/prose-names/german.ts'
import { proseNames as japanese } from '../protocol/prose-names/japanese.ts'
import { proseNames as korean } from '../protocol/prose-names/korean.ts'
import { proseNames as portuguese } from '../protocol/prose-names/portuguese.ts'
import type { ProseNames } from '../protocol/prose-names/prose-names.ts'
import { proseNames as russian } from '../protocol/prose-names/russian.ts'
import { proseNames as spanish } from '../protocol/prose-names/spanish.ts'
import { proseNames as traditional } from '../protocol/prose-names/traditional.ts'
import type { DocumentLanguage } from './document-texts.ts'

/** The words that Markdown leaves to the renderer, in one language. */
export interface ProseTexts extends ProseNames {
  /** The name of the link from a footnote to its mark. */
  back: string
}

export const proseTexts: Record<DocumentLanguage, ProseTexts> = {
  en: { ...english, back: 'Back to the text' },
  'zh-CN': { ...chinese, back: '回到正文' },
  'zh-TW': { ...traditional, back: '回到本文' },
  de: { ...german, back: 'Zurück zum Text' },
  es: { ...spanish, back: 'Volver al texto' },
  fr: { ...french, back: 'Revenir au texte' },
  'pt-BR': { ...portuguese, back: 'Voltar ao texto' },
  ru: { ...russian, back: 'Назад к тексту' },
  ja: { ...japanese, back: '本文に戻る' },
  ko: { ...korean, back: '본문으로 돌아가기' },
}
